"""The code that an object can reach: what a stored result depends on beside its input.

    code_digest(function)    # another one when what the function can reach is another

In the module where a function or a class stands, only what it uses counts, definition by definition. Of each module
that this imports, at the top or inside a function, all counts, with all that the module imports in turn and the data
beside it (tables, prompts, not pages). Code is this project's, a plug-in's, or a script's, not that of an installed
library. Comments, docstrings and layout do not count. Nothing is imported to find out, and a module that is imported
under a name made at run time is not found.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from loaders.plugins import BASELINES, CORPORA

_OURS = ("loaders", "builders", "baselines", "scripts", "dataset_cards")
_PAGES = (".html", ".css", ".js")  # what a person looks at decides no result


def code_digest(*objects: object) -> str:
    """SHA-256 over the code that functions, classes or instances (with all that they hold) can reach."""
    digest = hashlib.sha256()
    for name, text in sorted(reach(*objects).parts.items()):
        digest.update(f"{name}\0{hashlib.sha256(text.encode()).hexdigest()}\0".encode())
    return digest.hexdigest()


def reach(*objects: object) -> Reach:
    """The code that the objects can reach, piece by piece."""
    held = _Held()
    held.dump(objects)
    reach = Reach()
    with _no_collection():
        for module, name in held.places:
            reach.add_definition(module, name.partition(".")[0])
    return reach


@contextmanager
def _no_collection() -> Iterator[None]:
    """A parser makes many objects and drops none: to look for garbage among them takes as long as all the rest."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


# --- What an object holds ---------------------------------------------------------------------------------------------


class _Held(pickle.Pickler):
    """Notes where each function and class stands that an object holds: as a worker is told them, and closures too."""

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
        except Exception:  # a lock, a bar of progress: it holds nothing that decides a result
            return leaf
        return leaf if isinstance(state, str) else state


class _Nowhere:
    def write(self, data: Any) -> None:
        pass


# --- What code refers to ----------------------------------------------------------------------------------------------


class _Part:
    """Some code of a module of `package`, read when it is reached.

    `text` is its meaning. Once that was read, `names` are those it uses, and `imports` the modules it imports, and what
    might be one, since `from a import b` may mean a.b. What a worker does not run is left out: docstrings, imports for
    types, what a script does by itself.
    """

    def __init__(self, code: ast.AST, package: str) -> None:
        self._code = code
        self._package = package
        self.names: set[str] = set()
        self.imports: set[str] = set()

    @cached_property
    def text(self) -> str:
        return self._read(self._code)

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
                self.names.add(name)
            case ast.Import(names=names):
                self.imports.update(alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = self._package.split(".")[: -level + 1 or None] if level else []
                origin = ".".join([*above, *filter(None, [module])])
                self.imports.update([origin, *(f"{origin}.{alias.name}" for alias in names)])
            case ast.Call(func=func, args=[ast.Constant(value=str(module)), *_]) if _named(func) == "import_module":
                self.imports.add(module)
        return f"{type(code).__name__}({','.join([self._read(getattr(code, name, None)) for name in code._fields])})"


_NOT_RUN = ("TYPE_CHECKING", "__name__")


def _named(code: ast.expr) -> str:
    return code.attr if isinstance(code, ast.Attribute) else code.id if isinstance(code, ast.Name) else ""


@dataclass(frozen=True)
class _Source:
    """A module: all of it, and by name what stands at its top; "" is what is run whatever is used of it."""

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

    def add_definition(self, module: str, name: str) -> None:
        """A function, class or value at the top of a module, with all that it can reach."""
        source = _source(module)
        if source is None or f"{module}:{name}" in self.parts:
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
        """A whole module, with all that it can reach."""
        waiting = [module]
        while waiting:
            name = waiting.pop()
            source = _source(name)
            if source is not None and name not in self.parts:
                self.parts[name] = source.whole.text
                self._add_place(source)
                waiting += source.whole.imports

    def _add_place(self, source: _Source) -> None:
        if source.path in self.files:
            return
        self.files.add(source.path)
        folder = source.path.parent
        if source.package and folder not in self.folders:
            self.folders.add(folder)
            for path in _data_of(folder):
                self.parts[f"{source.package}/{path.relative_to(folder).as_posix()}"] = _bytes_digest(
                    path, *_stamp(path)
                )
                self.files.add(path)
            self.add_module(source.package)


def _source(module: str) -> _Source | None:
    path = _place(module)
    return _parsed(module, path, *_stamp(path)) if path is not None and path.is_file() else None


def _stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


@cache
def _parsed(module: str, path: Path, *stamp: int) -> _Source:
    tree = ast.parse(path.read_bytes())
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    named: dict[str, list[_Part]] = {"": []}
    for statement in tree.body:
        for name, node in _bound(statement):
            named.setdefault(name, []).append(_Part(node, package))
    return _Source(path, package, _Part(tree, package), named)


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """The names that a statement at the top of a module defines, each with its code; "" where it does anything else."""
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


def _place(module: str) -> Path | None:
    """The file of a module of the project, or the folder of a package without one; None for all else."""
    package, _, last = module.rpartition(".")
    if not package:
        return _top(module)
    above = _place(package)
    if above is None or (above.is_file() and above.name != "__init__.py"):
        return None
    folder = above.parent if above.is_file() else above
    places = (folder / last / "__init__.py", folder / f"{last}.py", folder / last)
    return next((path for path in places if path.exists()), None)


def _top(module: str) -> Path | None:
    if module in sys.stdlib_module_names:
        return None
    loaded = sys.modules.get(module)
    spec = find_spec(module) if loaded is None else None
    paths = getattr(loaded, "__path__", None) or (spec and spec.submodule_search_locations) or ()
    place = getattr(loaded, "__file__", None) or (spec and spec.origin) or next(iter(paths), None)
    if not place or not (place.endswith(".py") or Path(place).is_dir()):
        return None
    library = {"site-packages", "dist-packages"} & set(Path(place).parts)
    return None if library and module not in _OURS and module not in _plugins() else Path(place)


@cache
def _plugins() -> frozenset[str]:
    return frozenset(
        entry.module.partition(".")[0] for group in (BASELINES, CORPORA) for entry in entry_points(group=group)
    )


def _data_of(folder: Path) -> Iterator[Path]:
    """The data of a package: files in its folder, and in those below that are no packages themselves."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name != "__pycache__" and not (path / "__init__.py").is_file():
                yield from _data_of(path)
        elif path.suffix not in (".py", ".pyc", *_PAGES):
            yield path


@cache
def _bytes_digest(path: Path, *stamp: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
