"""What a gate found between two captions."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """Facts lost, changed, new or exchanged, in words that name both values; `doubts` are for a reader to decide."""

    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.changed or self.new or self.swapped)

    @property
    def reason(self) -> str:
        """ "lost: 2 cm; new: 3 cm"; the doubts alone where nothing is wrong for certain."""
        if not self.failed:
            return "; ".join(dict.fromkeys(self.doubts))
        lists = (("lost", self.lost), ("changed", self.changed), ("new", self.new), ("swapped", self.swapped))
        return "; ".join(f"{what}: {', '.join(dict.fromkeys(items))}" for what, items in lists if items)
