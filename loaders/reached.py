"""The code that an object can reach: what a stored result depends on besides its input.

    code_digest(function)    # changes when anything that the function can reach changes

In the module that defines the function or class, only the definitions that it uses count. Modules that this one
imports, at the top or inside a function, count as a whole, with everything they import in turn and the data files
beside them (tables, prompts, not pages). Code means this project's, a plug-in's, or a script's, not that of an
installed library. Comments, docstrings and layout do not count. Nothing is imported to find out, so a module that is
imported under a name made at run time is not found.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from loaders.plugins import BASELINES, CORPORA

_OURS = ("loaders", "builders", "baselines", "scripts", "dataset_cards")
_PAGES = (".html", ".css", ".js")  # files that only people look at affect no result


def code_digest(*objects: object) -> str:
    """SHA-256 over the code that functions, classes or instances (with everything they hold) can reach."""
    digest = hashlib.sha256()
    for name, text in sorted(reach(*objects).parts.items()):
        digest.update(f"{name}\0{hashlib.sha256(text.encode()).hexdigest()}\0".encode())
    return digest.hexdigest()


def reach(*objects: object) -> Reach:
    """The code that the objects can reach, piece by piece."""
    held = _Held()
    held.dump(objects)
    reach = Reach()
    for module, name in held.places:
        reach.add_definition(module, name.partition(".")[0])
    return reach


# --- What an object holds ---------------------------------------------------------------------------------------------


class _Held(pickle.Pickler):
    """Notes where each function and class that an object holds is defined, in what a worker is sent and in closures."""

    def __init__(self) -> None:
        super().__init__(_Nowhere(), protocol=5)
        self.places: set[tuple[str, str]] = set()
        self._seen: dict[int, object] = {}

    def reducer_override(self, held: Any) -> Any:
        leaf = (tuple, ())
        if held is tuple:
            return NotImplemented
        if id(held) in self._seen:
            return leaf
        self._seen[id(held)] = held
        for each in (held, type(held)):
            module, name = getattr(each, "__module__", None), getattr(each, "__qualname__", None)
            if isinstance(module, str) and isinstance(name, str):
                self.places.add((module, name))
        if isinstance(held, FunctionType):
            return tuple, (tuple(cell.cell_contents for cell in held.__closure__ or ()),)
        try:
            state = leaf if isinstance(held, type) else held.__reduce_ex__(5)
        except Exception:  # a lock, a progress bar: it holds nothing that affects a result
            return leaf
        return leaf if isinstance(state, str) else state


class _Nowhere:
    def write(self, data: Any) -> None:
        pass


# --- What code refers to ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """Some code: its meaning, the names that it uses, and the modules that it imports or may import, since
    `from a import b` may mean a.b."""

    text: str
    names: frozenset[str]
    imports: frozenset[str]


class _Reader:
    """Reads the code of a module of `package`, and keeps only strings, since trees take a hundred times the memory.

    What a worker does not run is left out: docstrings, imports for types, what a script does when run by itself.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._names: set[str] = set()
        self._imports: set[str] = set()

    def part(self, code: ast.AST) -> _Part:
        self._names, self._imports = set(), set()
        return _Part(self._read(code), frozenset(self._names), frozenset(self._imports))

    def _read(self, code: object) -> str:
        if isinstance(code, list):
            return f"[{','.join(filter(None, map(self._read, code)))}]"
        if not isinstance(code, ast.AST):
            return repr(code)
        match code:
            case ast.Expr(value=ast.Constant(value=str())):
                return ""
            case ast.If(test=test) if _named(test.left if isinstance(test, ast.Compare) else test) in _NOT_RUN:
                return self._read(code.orelse)
            case ast.Name(id=name):
                self._names.add(name)
            case ast.Import(names=names):
                self._imports.update(alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = self._package.split(".")[: -level + 1 or None] if level else []
                origin = ".".join([*above, *filter(None, [module])])
                self._imports.update([origin, *(f"{origin}.{alias.name}" for alias in names)])
            case ast.Call(func=func, args=[ast.Constant(value=str(module)), *_]) if _named(func) == "import_module":
                self._imports.add(module)
        # Whether a name is read or set (`ctx`) follows from where it stands.
        fields = [getattr(code, name, None) for name in code._fields if name != "ctx"]
        pieces = [self._read(value) if isinstance(value, ast.AST | list) else repr(value) for value in fields]
        return f"{type(code).__name__}({','.join(pieces)})"


_NOT_RUN = ("TYPE_CHECKING", "__name__")


def _named(code: ast.expr) -> str:
    return code.attr if isinstance(code, ast.Attribute) else code.id if isinstance(code, ast.Name) else ""


@dataclass(frozen=True, slots=True)
class _Source:
    """A module: all of it, and its top-level definitions by name; "" is what runs whichever of them is used."""

    path: Path
    package: str
    whole: _Part
    named: dict[str, list[_Part]]


@dataclass(frozen=True)
class Reach:
    """What was reached so far: by name (`module`, `module:definition`, `package/table.csv`), files, and packages."""

    parts: dict[str, str] = field(default_factory=dict)
    files: set[Path] = field(default_factory=set)
    folders: set[Path] = field(default_factory=set)
    _found: dict[str, ModuleSpec | None] = field(default_factory=dict)
    _tried: set[str] = field(default_factory=set)  # names that were looked for as modules; most of them are none

    def add_definition(self, module: str, name: str) -> None:
        """Add a function, class or value at the top level of a module, with everything that it can reach."""
        if f"{module}:{name}" in self.parts or (source := self._source(module)) is None:
            return
        if name and name not in source.named:
            self.add_module(module)
            return
        found = source.named.get(name, [])
        self.parts[f"{module}:{name}"] = "".join(part.text for part in found)
        self._add_place(source)
        self.add_definition(module, "")
        for part in found:
            for other in part.names & source.named.keys():
                self.add_definition(module, other)
            for other in part.imports:
                self.add_module(other)

    def add_module(self, module: str) -> None:
        """Add a whole module, with everything that it can reach."""
        waiting = [module]
        while waiting:
            name = waiting.pop()
            if name in self._tried:
                continue
            self._tried.add(name)
            if source := self._source(name):
                self.parts[name] = source.whole.text
                self._add_place(source)
                waiting += source.whole.imports

    def _source(self, module: str) -> _Source | None:
        spec = self._spec(module)
        path = Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
        return _parsed(module, path, *_stamp(path)) if path else None

    def _spec(self, module: str) -> ModuleSpec | None:
        """Where a module of the project is, found without importing it; None for anything else."""
        if module not in self._found:
            package = module.rpartition(".")[0]
            above = self._spec(package) if package else None
            folders = above.submodule_search_locations if above else None
            spec = PathFinder.find_spec(module, folders) if folders else None
            self._found[module] = spec if package else _top(module)
        return self._found[module]

    def _add_place(self, source: _Source) -> None:
        if source.path in self.files:
            return
        self.files.add(source.path)
        folder = source.path.parent
        if source.package and folder not in self.folders:
            self.folders.add(folder)
            for name, path in _data_of(folder):
                self.parts[f"{source.package}/{name}"] = _bytes_digest(path, *_stamp(path))
                self.files.add(path)
            self.add_module(source.package)


def _stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


@cache
def _parsed(module: str, path: Path, *stamp: int) -> _Source:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    reader = _Reader(package)
    parts: list[_Part] = []
    named: dict[str, list[_Part]] = {"": []}
    for statement in ast.parse(path.read_bytes()).body:
        for name, code in _bound(statement):
            parts.append(reader.part(code))
            named.setdefault(name, []).append(parts[-1])
    text = "\n".join(part.text for part in parts)
    names = frozenset[str]().union(*(part.names for part in parts))
    imports = frozenset[str]().union(*(part.imports for part in parts))
    return _Source(path, package, _Part(text, names, imports), named)


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """The names that a top-level statement of a module defines, each with its code; "" if it does anything else."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name if statement.name != "__getattr__" else "", statement
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], ast.Import([alias])
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name, ast.ImportFrom(statement.module, [alias], statement.level)
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        plain = isinstance(statement, ast.Assign | ast.AnnAssign) and all(isinstance(t, ast.Name) for t in targets)
        for target in targets if plain else [None]:
            yield target.id if isinstance(target, ast.Name) else "", statement


# --- Where it lies ----------------------------------------------------------------------------------------------------


def _top(module: str) -> ModuleSpec | None:
    if module in sys.stdlib_module_names:
        return None
    spec = _spec_of_script(module) or find_spec(module)
    if spec is None:
        return None
    place = next(iter(spec.submodule_search_locations or ()), spec.origin or "")
    library = {"site-packages", "dist-packages"} & set(Path(place).parts)
    return None if library and module not in _OURS and module not in _plugins() else spec


def _spec_of_script(module: str) -> ModuleSpec | None:
    """A script that Python runs has no place of its own that `find_spec` could tell."""
    loaded = sys.modules.get(module)
    if loaded is None or getattr(loaded, "__spec__", None) is not None:
        return None
    return ModuleSpec(module, None, origin=getattr(loaded, "__file__", None))


@cache
def _plugins() -> frozenset[str]:
    return frozenset(
        entry.module.partition(".")[0] for group in (BASELINES, CORPORA) for entry in entry_points(group=group)
    )


def _data_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """The data of a package, by name: files in its folder, and in subfolders that are not packages themselves."""
    for entry in os.scandir(folder):  # which knows what is a folder: to ask of each path takes half of all the time
        path = folder / entry.name
        if entry.is_dir():
            if entry.name != "__pycache__" and not (path / "__init__.py").is_file():
                yield from ((f"{entry.name}/{name}", inside) for name, inside in _data_of(path))
        elif not entry.name.endswith((".py", ".pyc", *_PAGES)):
            yield entry.name, path


@cache
def _bytes_digest(path: Path, *stamp: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
