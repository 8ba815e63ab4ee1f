"""What other installed packages bring, by entry points: a name, and the module where it is (or "module:name").

    [options.entry_points]
    bedside.baselines =
        parrot = parrot.baseline

What Bedside bundles is a table of the same form, and is loaded the same way. A name that is taken is refused, so that
nothing stands in for something else unseen; a package that is broken is named when it is used, and disturbs no other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from loaders.errors import BedsideError, InputError

BASELINES, CORPORA = "bedside.baselines", "bedside.corpora"

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Plugin:
    """Something by its name: `place` is "module" or "module:name"; `package` who brings it, "" for Bedside itself."""

    name: str
    place: str
    package: str = ""

    def module(self) -> ModuleType:
        """The module of the place, imported. Raises InputError where a package's own code cannot be."""
        try:
            return import_module(self.place.partition(":")[0])
        except BedsideError:
            raise
        except (Exception, SystemExit) as error:  # anybody's code
            if not self.package:
                raise
            raise self.broken(error) from error

    def load(self, attribute: str) -> Any:
        """What the place names, else that attribute of its module. Raises InputError where a package has none such."""
        module, name = self.module(), self.place.partition(":")[2] or attribute
        if self.package and not hasattr(module, name):
            raise self.broken(AttributeError(f"it has no {name}"))
        return getattr(module, name)

    def load_kind(self, attribute: str, kind: type[Kind]) -> Kind:
        """As `load`, for what must be a `kind`."""
        loaded = self.load(attribute)
        if not isinstance(loaded, kind):
            raise self.broken(TypeError(f"a {type(loaded).__name__} instead of a {kind.__name__}"))
        return loaded

    def broken(self, error: BaseException) -> InputError:
        """What a user is told of an error of the package's own code."""
        return InputError(
            f"{self.name} of {self.package}",
            found=f"{self.place} cannot be used ({type(error).__name__}: {error})",
            do=f"Repair that package, or remove it: pip uninstall {self.package.split()[0]}",
        )


def brought(group: str, bundled: Collection[str]) -> tuple[list[Plugin], list[str]]:
    """What installed packages bring, by name, and a sentence for each that is refused: its name is taken."""
    from importlib.metadata import entry_points  # here, as it costs more than all else that `bedside --version` does

    found = {
        Plugin(entry.name, entry.value, f"{entry.dist.name} {entry.dist.version}")
        for entry in entry_points(group=group)
        if entry.dist is not None
    }
    owners = dict.fromkeys(bundled, "Bedside")
    plugins, refused = [], []
    for plugin in sorted(found, key=lambda plugin: (plugin.name, plugin.package, plugin.place)):
        if plugin.name in owners:
            refused.append(
                f"{plugin.name!r} of {plugin.package} is left out: {owners[plugin.name]} has that name. Give it "
                f"another, or remove the package: pip uninstall {plugin.package.split()[0]}"
            )
        else:
            owners[plugin.name] = plugin.package
            plugins.append(plugin)
    return plugins, refused
