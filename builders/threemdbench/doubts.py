"""The outcome for each photo after curation, and which are borderline: for a person to look at (`bedside review`).

A photo is borderline for

    label    left out because a copy of it has another diagnosis; or kept, though another photo of the same scene has
             another diagnosis
    quality  left out for nothing but overlaid text (what looks like letters may be skin), blur with at least half
             the sharpness demanded of its source, or a size or exposure within a tenth of the limit
    copy     kept, though it may be a copy of another photo that is kept: much is shared, too little to be sure; or in
             the place of a copy that was rejected for what need not be true of it

A class of a source that holds other conditions too (`--mixed-labels`) is asked about once, by `mixed`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from builders.curation.curate import Curation
from builders.curation.examine import by_content
from builders.curation.quality import BRIGHT, DARK, SMALL, Quality
from builders.curation.review import ACCEPT, PERSON, REJECT, WRONG, Doubt
from builders.curation.verification import UNSURE
from builders.licences import exclude_each_other, read_licence
from builders.threemdbench.findings import FAULTS, Candidate, Finding
from loaders.errors import InputError

DISPUTED = "copies under different diagnoses"
FORBIDDEN = "licence: a copy may not be altered"
EXCLUSIVE = "licence: copies under terms that exclude each other"
BOUND = "licence: a copy asks for more"
WITHDRAWN = "duplicate: of a withdrawn photo"

# How each fault is told, and whether it is near enough to its limit to be borderline.
_BORDERLINE: dict[str, tuple[str, Callable[[Quality, float], bool]]] = {
    "text_overlay": ("It may have text laid over it.", lambda quality, least: True),
    "blurred": (
        "It is less sharp than most photos of its source.",
        lambda quality, least: quality.sharpness >= least / 2,
    ),
    "small": ("It is a little small.", lambda quality, least: min(quality.width, quality.height) >= 0.9 * SMALL),
    "dark": ("It is dark.", lambda quality, least: quality.brightest >= 0.9 * DARK),
    "overexposed": ("It is bright.", lambda quality, least: quality.darkest <= 1.1 * BRIGHT),
}


class Judged:
    """The photos of a build while they are judged: `out` has the reason and detail for each one that is left out."""

    def __init__(self, candidates: Sequence[Candidate], first: Curation) -> None:
        self.photos = [one for one in candidates if not one.forbidden]
        self.out: dict[str, tuple[str, str]] = {}
        self._doubts: dict[str, list[Doubt]] = defaultdict(list)
        self._cluster: dict[str, str] = {}
        self._shows: dict[str, tuple[str, ...]] = {}
        self._rejected: dict[str, list[tuple[Candidate, str]]] = {}  # copies of a photo nobody decided about, and why
        sets: dict[str, list[Candidate]] = defaultdict(list)
        collages: dict[str, list[Candidate]] = defaultdict(list)  # that show a photo of a set
        for photo, one, decision in zip(candidates, first.files, first.decisions, strict=True):
            place = first.groups.places[one.content.digest] if one.content else None
            sets[place.best if place else photo.key].append(photo)
            if place and place.shows:
                for shown in place.shows:
                    collages[shown].append(photo)
                self._shows[photo.key] = tuple(sorted({first.groups.places[shown].cluster for shown in place.shows}))
                # It stays out where all but one of the photos that it shows are unfit.
                self.out[photo.key] = f"duplicate: {decision.reason.replace('_', ' ')}", decision.detail
        # The forbidden ones come last, and are not judged.
        for photo, one, decision, judgement in zip(
            self.photos, first.files, first.decisions, first.judgements, strict=False
        ):
            self._cluster[photo.key] = decision.cluster or photo.key
            if one.content and judgement:
                self._judge_quality(photo, one.content.quality, judgement.flags, judgement.least_sharpness)
        for best, members in sets.items():
            every = [*members, *collages[best]]
            forbidden = next((one for one in every if one.forbidden), None)
            if photos := [one for one in members if not one.forbidden]:
                rejected = [(one, one.decision.reason) for one in photos if one.decision and not _accepted(one)]
                # Of what else is wrong with a collage, nothing need be true of a photo in it.
                rejected += [(one, PERSON) for one in collages[best] if one.decision and one.decision.reason == PERSON]
                self._rejected.update((one.key, [] if one.decision else rejected) for one in photos)
                self._settle_diagnosis(photos)
                self._settle_terms([one for one in every if not one.forbidden], forbidden)
        for photo in self.photos:
            if why := self._refusal(photo):
                self.out[photo.key] = f"review: {why[0]}", why[1] or self.out.get(photo.key, ("", ""))[0]

    def compare(self, second: Curation | None) -> None:
        """Leave out copies among the photos that are fit, and note what remains in doubt."""
        if second is not None:
            for one, decision in zip(second.files, second.decisions, strict=True):
                if not decision.kept:
                    self.out[one.file.name] = f"duplicate: {decision.reason.replace('_', ' ')}", decision.detail
            self._doubt_pairs(second)
        scenes: dict[str, list[Candidate]] = defaultdict(list)
        for photo in self.photos:
            if photo.key not in self.out:
                scenes[self._cluster[photo.key]].append(photo)
                for copy, reason in self._rejected[photo.key]:
                    if copy.diagnosis == photo.diagnosis:  # else the dispute is asked about
                        self._doubt(photo.key, "copy", f"A copy of it was rejected: {reason}.", [copy.key])
        for members in scenes.values():
            for photo in members:
                if others := [other for other in members if other.diagnosis != photo.diagnosis]:
                    self._doubt(photo.key, "label", f"Another photo of the scene: {_named(others)}.", _keys(others))

    def findings(self) -> list[Finding]:
        """A finding for each photo, in order."""
        return [
            Finding(
                self._cluster[key], *self.out.get(key, ("", "")), tuple(self._doubts[key]), self._shows.get(key, ())
            )
            for key in (photo.key for photo in self.photos)
        ]

    def _doubt(self, key: str, kind: str, text: str, beside: Sequence[str] = ()) -> None:
        self._doubts[key].append(Doubt(kind, text, tuple(beside)))

    def _judge_quality(self, photo: Candidate, quality: Quality, flags: Sequence[str], least_sharpness: float) -> None:
        faults = [fault for fault in FAULTS if fault in flags]
        if not faults:
            return
        if all(fault in _BORDERLINE and _BORDERLINE[fault][1](quality, least_sharpness) for fault in faults):
            self._doubt(photo.key, "quality", " ".join(_BORDERLINE[fault][0] for fault in faults))
        if not _accepted(photo):
            self.out[photo.key] = f"quality: {faults[0].replace('_', ' ')}", ", ".join(flags)

    def _refusal(self, photo: Candidate) -> tuple[str, str] | None:
        """The reason and detail why a person keeps it out: by a decision about itself, about a copy for what both show
        (the next best copy would come in unseen), or about its class."""
        if photo.decision is not None:
            return None if _accepted(photo) else (photo.decision.reason, "")
        for copy, reason in self._rejected[photo.key]:
            if reason == PERSON or (reason == WRONG and copy.diagnosis == photo.diagnosis):
                return reason, f"decided about {copy.key}, a copy of it"
        if photo.of_class is not None and photo.of_class.decision == REJECT:
            return photo.of_class.reason, f"its class in the source is mixed: {photo.mixed}"
        return None

    def _settle_diagnosis(self, members: Sequence[Candidate]) -> None:
        """Copies under several diagnoses: all are left out, unless a person accepted one or rejected the others.

        Raises: InputError when copies under two diagnoses were accepted.
        """
        if len({photo.diagnosis for photo in members}) < 2:
            return
        standing = [photo for photo in members if not self._refusal(photo)]
        diagnoses = {photo.diagnosis for photo in standing}
        accepted = {photo.diagnosis: photo.key for photo in standing if _accepted(photo)}
        if len(accepted) > 1:
            named = ", ".join(f"{key} as {diagnosis}" for diagnosis, key in sorted(accepted.items()))
            raise InputError(
                "--decisions",
                found=f"copies of one photo are accepted under different diagnoses: {named}",
                expected="one diagnosis for one photo",
                do="Reject all but one",
            )
        for photo in members:
            others = [other for other in members if other.diagnosis != photo.diagnosis]
            self._doubt(
                photo.key, "label", f"A copy of it is under another diagnosis: {_named(others)}.", _keys(others)
            )
        for photo in standing:
            if len(diagnoses) > 1 and photo.diagnosis not in accepted:
                self.out[photo.key] = DISPUTED, ", ".join(sorted(diagnoses))

    def _settle_terms(self, members: Sequence[Candidate], forbidden: Candidate | None) -> None:
        """Leave out what a copy, be it fit or not, does not let come in: one whose licence demands more binds all."""
        said = {photo.licence for photo in members}
        most = max(members, key=lambda photo: photo.bound)
        for photo in members:
            if forbidden:
                self.out.setdefault(photo.key, (FORBIDDEN, f"{read_licence(forbidden.licence).id}: {forbidden.key}"))
            elif exclude_each_other(said):
                self.out.setdefault(photo.key, (EXCLUSIVE, ", ".join(sorted(read_licence(one).id for one in said))))
            elif photo.bound < most.bound and most.withdrawn:
                self.out.setdefault(photo.key, (WITHDRAWN, most.key))
            elif photo.bound < most.bound:
                self.out.setdefault(photo.key, (BOUND, f"{read_licence(most.licence).id}: {most.key}"))

    def _doubt_pairs(self, second: Curation) -> None:
        """Of two photos that are kept and may be copies, the later one by key is in doubt."""
        name = {digest: one.file.name for digest, one in by_content(second.files).items()}
        alike: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for link in second.groups.links:
            earlier, later = sorted((name[link.first], name[link.second]))
            apart = second.groups.places[link.first].cluster != second.groups.places[link.second].cluster
            if link.verdict.kind == UNSURE and apart and earlier not in self.out and later not in self.out:
                alike[later].append((-link.verdict.explained - link.verdict.agreement, earlier))
        for key, others in alike.items():
            self._doubt(key, "copy", "It shares much with another photo.", [other for _, other in sorted(others)])


def _accepted(photo: Candidate) -> bool:
    """Whether a person accepted it; accepting a class accepts none of its photos, whatever their measures."""
    return photo.decision is not None and photo.decision.decision == ACCEPT


def _named(photos: Iterable[Candidate]) -> str:
    return ", ".join(sorted({photo.diagnosis for photo in photos}))


def _keys(photos: Iterable[Candidate]) -> list[str]:
    return [photo.key for photo in photos]
