"""Plug-ins of other installed packages, from entry points: a name, and its module (or "module:name").

    [options.entry_points]
    bedside.baselines =
        parrot = parrot.baseline

Bundled corpora and baselines use a table of the same form and are loaded the same way. A name that is already taken is
refused, so that no plug-in silently replaces another; a broken package is reported when it is used and affects no
other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from loaders.errors import BedsideError, InputError

_OURS = ("baselines", "bedside", "builders", "loaders", "scripts")
_SAID = 200  # characters of what an error says
BASELINES, CORPORA = "bedside.baselines", "bedside.corpora"

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A named plug-in: `place` is "module" or "module:name"; `package` is the package that provides it, "" for Bedside
    itself."""

    name: str
    place: str
    package: str = ""

    def module(self) -> ModuleType:
        """The imported module of the place. Raises InputError if a package's own code cannot be imported."""
        try:
            return import_module(self.place.partition(":")[0])
        except BedsideError:
            raise
        except (Exception, SystemExit) as error:  # anybody's code
            if not self.package:
                raise
            raise self.broken(error) from error

    def load(self, attribute: str) -> Any:
        """The object named by the place, otherwise that attribute of its module. Raises InputError if a package has no
        such object."""
        module, name = self.module(), self.place.partition(":")[2] or attribute
        if self.package and not hasattr(module, name):
            raise self.broken(AttributeError(f"it has no {name}"))
        return getattr(module, name)

    def load_kind(self, attribute: str, kind: type[Kind]) -> Kind:
        """Like `load`, for an object that must be a `kind`."""
        loaded = self.load(attribute)
        if not isinstance(loaded, kind):
            raise self.broken(TypeError(f"a {type(loaded).__name__} instead of a {kind.__name__}"))
        return loaded

    def broken(self, error: BaseException, found: str = "") -> InputError:
        """The error shown to a user when the package's own code fails."""
        found = found or f"{self.place} cannot be used ({type(error).__name__}: {error})"
        do = f"Repair that package, or remove it: pip uninstall {self.package.split()[0]}"
        return InputError(f"{self.name} of {self.package}", found=found, do=do)


def at_fault(error: BaseException) -> InputError | None:
    """The error shown when the code of an installed plug-in raised: whose it is, and where. None for code of ours, even
    if a plug-in called it."""
    from loaders.raised import raised_in

    found = [plugin for group in (BASELINES, CORPORA) for plugin in brought(group, ())[0]]
    plugins = {plugin.place.partition(":")[0].partition(".")[0]: plugin for plugin in found}
    raised = raised_in(error, lambda module: module.partition(".")[0] in {*plugins, *_OURS})
    if raised is None or (plugin := plugins.get(raised[0].partition(".")[0])) is None:
        return None
    said = " ".join(str(error).split())[:_SAID]
    return plugin.broken(error, f"{type(error).__name__}{': ' * bool(said)}{said} ({raised[1]})")


def brought(group: str, bundled: Collection[str]) -> tuple[list[Plugin], list[str]]:
    """The plug-ins of installed packages by name, and a message for each that is refused because its name is taken."""
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
