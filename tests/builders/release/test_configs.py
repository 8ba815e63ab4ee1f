"""Named configs: what manifest and card say of them, what `load_dataset` gives, what `verify` and `diff` find."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import datasets
import pytest
import yaml

from builders.publish.run import publish
from builders.release.diff import diff
from builders.release.verify import verify
from builders.threemdbench import recipe
from loaders.corpus import load
from loaders.errors import ReleaseError
from loaders.manifest import Config, Manifest
from loaders.threemdbench import SPOKEN
from tests.builders.threemdbench.test_recipe import build, drawn, secret
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches
from tests.parts.small_release import write_small


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three releases of the same photos: whole, public (test) and private (train and validation)."""
    folder = tmp_path_factory.mktemp("photos")
    table = drawn(folder / "photos", "acne", "warts", "stye", each=6)
    key = secret(folder)
    build(folder, f"table={table}", out="whole", key=key)
    build(folder, f"table={table}", out="public", splits="test", key=key)
    build(folder, f"table={table}", out="private", splits="train,validation", key=key)
    return folder


def test_each_config_holds_its_split(photos: Path, tmp_path: Path) -> None:
    whole = photos / "whole"
    manifest = Manifest.read(whole)
    assert datasets.get_dataset_config_names(str(whole)) == ["default", "train", "validation"]
    cases = datasets.load_dataset(str(whole), cache_dir=str(tmp_path))
    assert list(cases) == ["train", "validation", "test"]
    assert set(SPOKEN) <= set(cases["test"].column_names)
    assert cases["test"][0]["general_complaint"]
    for name in ("train", "validation"):
        found = datasets.load_dataset(str(whole), name, cache_dir=str(tmp_path))
        assert list(found) == [name]
        assert found[name].num_rows == manifest.splits[name].rows
        # Photos and diagnoses, without the columns that say nothing there.
        assert not set(SPOKEN) & set(found[name].column_names)
        assert found[name][0]["image"].size == (256, 256)
        assert found[name][0]["diagnosis"] in ("acne", "warts", "stye")
        stream = datasets.load_dataset(str(whole), name, streaming=True)
        assert next(iter(stream[name]))["image_id"] == found[name][0]["image_id"]
    # Our own loader goes by splits and gives the one schema.
    assert load("3mdbench", "train", source=whole).column_names == [f["name"] for f in manifest.features]


def test_the_card_lists_the_configs(photos: Path) -> None:
    card = (photos / "whole" / "README.md").read_text(encoding="utf-8")
    columns = len(Manifest.read(photos / "whole").features)
    assert "| `default` | train, validation, test | all |" in card
    assert f"| `train` | train | {columns - len(SPOKEN)} |" in card
    assert "| `train`" not in (photos / "public" / "README.md").read_text(encoding="utf-8")


def test_the_card_tells_how_much_each_config_is(photos: Path) -> None:
    manifest = Manifest.read(photos / "whole")
    card = (photos / "whole" / "README.md").read_text(encoding="utf-8")
    for info in yaml.safe_load(card.split("---\n")[1])["dataset_info"]:
        splits = ["train", "validation", "test"] if info["config_name"] == "default" else [info["config_name"]]
        assert [one["name"] for one in info["splits"]] == splits
        assert info["download_size"] == sum(manifest.files[name].size for name in manifest.shards(*splits))
        assert info["dataset_size"] == sum(manifest.splits[name].num_bytes for name in splits)


def test_train_and_validation_can_stay_private(photos: Path, tmp_path: Path) -> None:
    assert datasets.get_dataset_config_names(str(photos / "public")) == ["default"]
    assert list(datasets.load_dataset(str(photos / "public"), cache_dir=str(tmp_path / "1"))) == ["test"]
    assert datasets.get_dataset_config_names(str(photos / "private")) == ["default", "train", "validation"]
    assert list(datasets.load_dataset(str(photos / "private"), cache_dir=str(tmp_path / "2"))) == [
        "train",
        "validation",
    ]
    private = Manifest.read(photos / "private")
    assert list(private.splits) == ["train", "validation"]
    # The public release does not tell which split the photos are in that it leaves out.
    excluded = (photos / "public" / "exclusions.parquet").read_bytes()
    assert b"validation" not in excluded and b"train" not in excluded
    for name in ("whole", "public", "private"):
        assert verify(photos / name, row_check=recipe.check_row, measure=recipe.measure) == []


USAGE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_lines_of_the_card_load_what_was_published(
    photos: Path, hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a fresh cache, as a reader of the card would."""
    usage = USAGE.search((photos / "whole" / "README.md").read_text(encoding="utf-8"))
    assert usage is not None
    program = usage[1].replace("<this repository>", "org/photos").replace("<one of its tags, such as v1.0.0>", "v1.0.0")
    program += "for rows in (test, train, validation):\n    print(rows.num_rows, len(rows.column_names))\n"
    own_caches(tmp_path, monkeypatch)
    at_hub(hub, monkeypatch)
    publish(photos / "whole", "org/photos", tag="v1.0.0", report=lambda line: None)
    capsys.readouterr()
    exec(program, {})
    said = capsys.readouterr().out
    manifest = Manifest.read(photos / "whole")
    columns = len(manifest.features)
    expected = [(manifest.splits[name].rows, columns) for name in ("test", "train", "validation")]
    assert said.split() == [str(number) for pair in expected for number in pair]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("path: data/train-*", "path: data/test-*", "config default: configs.data_files"),
        ("config_name: validation", "config_name: valid", "YAML: "),
        ("dataset_info:\n", "dataset_info:\n- config_name: more\n", "YAML: configs ['default', 'more', 'train'"),
        ("  - attribution\n", "", "config train: configs.columns: "),
        ("  default: true\n", "", "config default: configs.default: "),
    ],
)
def test_a_card_that_says_otherwise_is_found_out(
    photos: Path, tmp_path: Path, before: str, after: str, found: str
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(photos / "whole", folder)
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8")
    assert before in text
    card.write_text(text.replace(before, after, 1), encoding="utf-8")
    assert any(found in str(problem) for problem in verify(folder))


def test_a_release_without_named_configs_says_nothing_of_them(tmp_path: Path) -> None:
    manifest = write_small(tmp_path / "plain")
    assert "configs" not in manifest.text()
    assert manifest.named_configs() == [Config(name="default", splits=["train", "validation", "test"])]


def test_configs_are_checked_and_compared(tmp_path: Path) -> None:
    whole = Config(name="default", splits=["train", "validation", "test"])
    write_small(tmp_path / "plain")
    some = [Config(name="default", splits=["test", "dev"]), Config(name="rest", splits=["train", "validation"])]
    manifest = write_small(tmp_path / "named", configs=some)
    assert [config.splits for config in manifest.configs] == [["test"], ["train", "validation"]]
    assert verify(tmp_path / "named") == []
    assert [change.where for change in diff(tmp_path / "plain", tmp_path / "named").facts] == [
        "configs.default",
        "configs.rest",
    ]
    for number, (wrong, said) in enumerate(
        {
            "splits": [Config(name="default", splits=["test"])],
            "names": [
                whole.model_copy(update={"splits": ["test"]}),
                Config(name="default", splits=["train", "validation"]),
            ],
            "columns": [whole.model_copy(update={"columns": ["image", "colour"]})],
        }.items()
    ):
        with pytest.raises(ReleaseError, match=f"configs.*{wrong}"):
            write_small(tmp_path / str(number), configs=said)
