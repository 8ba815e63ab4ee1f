"""The code that a function can reach: every change of it gives another digest, and no other change does."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from loaders.reached import code_digest, reach

PACKAGE = {
    "__init__.py": "",
    "steps.py": '''
"""Two steps."""
from __future__ import annotations
from typing import TYPE_CHECKING
import json
import toy_reached.plain
from toy_reached import table
from toy_reached.words import lay as in_lay_words
from toy_reached.unused import nothing
if TYPE_CHECKING:
    from toy_reached.types import Kind

LIMIT = 3
ENDINGS = {"a": "b"}
ENDINGS["c"] = "d"

class Held:
    def __call__(self, row):
        return one(row)

def one(row: Kind):
    """Says it in lay words."""
    def inner():
        return in_lay_words(row)
    return inner() or LIMIT

def two(row):
    from . import lazy
    importlib.import_module("toy_reached.named")
    return toy_reached.plain.f(), table.f(), lazy.f()

if __name__ == "__main__":
    print(two)
''',
    "words.py": "from .below import deep\ndef lay(row):\n    return deep.f(row)\n",
    "below/__init__.py": "BELOW = 1\n",
    "below/deep.py": "def f(row): return 1\n",
    "below/data.csv": "a\n",
    "unused.py": "nothing = 1\n",
    "plain.py": "def f(): return 1\n",
    "table.py": "def f(): return 1\n",
    "lazy.py": "def f(): return 1\n",
    "named.py": "def f(): return 1\n",
    "types.py": "Kind = 1\n",
    "words.csv": "a\n",
    "prompts/system.md": "Speak.\n",
    "page.html": "<p>\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "toy_reached"
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("toy_reached")]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def digests() -> dict[str, str]:
    steps: Any = importlib.import_module("toy_reached.steps")
    return {"one": code_digest(steps.one), "two": code_digest(steps.two), "held": code_digest({"x": [steps.Held()]})}


ONE = {"one", "held"}
ALL = {"one", "two", "held"}


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("steps.py", "LIMIT = 3", "LIMIT = 4", ONE),
        ("steps.py", "return inner() or", "return 2 * inner() or", ONE),
        ("steps.py", '"c"] =', '"e"] =', ALL),  # run whatever is used
        ("steps.py", "return one(row)", "return -one(row)", {"held"}),
        ("steps.py", "lay as in_lay", "lay2 as in_lay", ONE),
        ("words.py", "deep.f(row)", "deep.f(-row)", ONE),
        ("below/deep.py", "return 1", "return 2", ONE),
        ("below/__init__.py", "BELOW = 1", "BELOW = 2", ONE),
        ("below/data.csv", "a", "b", ONE),
        ("plain.py", "return 1", "return 2", {"two"}),
        ("table.py", "return 1", "return 2", {"two"}),
        ("lazy.py", "return 1", "return 2", {"two"}),
        ("named.py", "return 1", "return 2", {"two"}),
        ("words.csv", "a", "b", ALL),
        ("prompts/system.md", "Speak", "Speak up", ALL),
        ("__init__.py", "", "HERE = 1", ALL),
        ("page.html", "<p>", "<b>", set()),
        ("unused.py", "nothing = 1", "nothing = 2", set()),
        ("types.py", "Kind = 1", "Kind = 2", set()),
        ("steps.py", "print(two)", "print(one)", set()),
        ("steps.py", "Says it in", "Puts it into", set()),
        ("words.py", "    return", "    # in plain words\n    return", set()),
        ("words.py", "deep.f(row)", "deep.f(\n        row\n    )", set()),
    ],
)
def test_a_change_is_met_by_what_can_reach_it(package: Path, file: str, old: str, new: str, changed: set[str]) -> None:
    before = digests()
    text = PACKAGE[file]
    assert old in text
    (package / file).write_text(text.replace(old, new, 1))
    after = digests()
    assert {name for name in before if before[name] != after[name]} == changed


def test_a_digest_covers_the_code_wherever_it_is(package: Path, tmp_path: Path, monkeypatch: Any) -> None:
    before = digests()
    package.rename(tmp_path / "away")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "away").rename(tmp_path / "elsewhere" / "toy_reached")
    for name in [name for name in sys.modules if name.startswith("toy_reached")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    assert digests() == before
    assert len(set(before.values())) == 3


def outer(text: str) -> Any:
    return lambda: text + str(code_digest)


def test_closures_partials_and_what_cannot_be_pickled_are_looked_through() -> None:
    held = functools.partial(outer(reach.__name__), threading.Lock())
    assert f"{__name__}:outer" in reach(held).parts
    assert {Path(__file__), Path(sys.modules["loaders.reached"].__file__ or "")} <= reach(held).files
    assert not reach(threading.Lock(), [1, "a"], {"b": {None}}).parts


def test_libraries_do_not_count() -> None:
    files = reach(outer).files
    assert files and not [path for path in files if "site-packages" in path.parts or path.name == "pytest.py"]


@pytest.mark.parametrize("registered", [True, False])
def test_an_installed_plugin_counts_and_a_library_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registered: bool
) -> None:
    place = tmp_path / "lib" / "site-packages"
    name = f"toy_plugin_{registered}".lower()
    (place / name).mkdir(parents=True)
    (place / name / "__init__.py").write_text("def step(row): return row\n")
    if registered:
        (place / f"{name}-1.dist-info").mkdir()
        (place / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (place / f"{name}-1.dist-info" / "entry_points.txt").write_text(f"[bedside.corpora]\ntoy = {name}:step\n")
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr("loaders.reached._plugins", sys.modules["loaders.reached"]._plugins.__wrapped__)
    module: Any = importlib.import_module(name)
    assert bool(reach(module.step).parts) is registered


def test_code_is_parsed_once_and_each_folder_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build asks for a digest a stage: of hundreds of names that might be modules, and a hundred files."""
    first = reach(outer)
    listed: list[Path] = []
    iterdir = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda folder: listed.append(folder) or iterdir(folder))
    monkeypatch.setattr(Path, "exists", lambda path: pytest.fail(f"looks for {path}"))
    monkeypatch.setattr("ast.parse", lambda *_: pytest.fail("parses again"))
    assert reach(outer).parts == first.parts
    assert len(listed) <= 2 * len(set(listed))  # for modules, and for data
