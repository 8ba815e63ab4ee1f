"""Cards: measured YAML that the libraries read back, tables, and placeholders that never stay empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

import dataset_cards
from builders.release.cards import markdown_table, render_card, size_category
from loaders.corpus import corpus
from loaders.errors import ReleaseError
from loaders.manifest import Manifest
from loaders.registry import BUNDLED
from tests.parts.small_release import FEATURES, write_small

HEAD = "---\npretty_name: Small\nlicense: cc-by-4.0\nlanguage: [en]\ntask_categories: [image-to-text]\n{}---\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "out"
    write_small(out)
    return out


@pytest.fixture(scope="module")
def manifest(folder: Path) -> Manifest:
    return Manifest.read(folder)


def render(text: str, manifest: Manifest, head: str = "", **more: Any) -> str:
    """The body of a card that is made of `text`."""
    return render_card(HEAD.format(head) + text, manifest, **more).partition("\n---\n")[2].strip()


def test_the_yaml_is_read_back_by_the_libraries(folder: Path, manifest: Manifest) -> None:
    data = DatasetCard.load(folder / "README.md").data
    info = DatasetInfosDict.from_dataset_card_data(data)["default"]
    assert info.features == FEATURES
    assert {name: split.num_examples for name, split in info.splits.items()} == {"train": 6, "validation": 3, "test": 3}
    assert list(info.splits) == ["train", "validation", "test"]
    shards = list(folder.glob("data/*.parquet"))
    assert info.download_size == sum(path.stat().st_size for path in shards)
    assert info.dataset_size == sum(split.num_bytes for split in info.splits.values())
    config = MetadataConfigs.from_dataset_card_data(data)["default"]
    assert config["default"] is True
    assert config["data_files"] == [
        {"split": split, "path": f"data/{split}-*"} for split in ("train", "validation", "test")
    ]
    said = data.to_dict()
    assert said["size_categories"] == ["n<1K"]
    assert said["license"] == "cc-by-4.0" and said["language"] == ["en"] and said["pretty_name"] == "Small"
    assert said["tags"] == ["medical", "small"]  # a placeholder in the head


def test_the_card_rules_what_load_dataset_takes(folder: Path, tmp_path: Path) -> None:
    """Another Parquet file in the folder, such as the exclusions, is not mistaken for data."""
    builder = datasets.load_dataset_builder(str(folder), cache_dir=str(tmp_path))
    assert builder.info.features == FEATURES
    assert builder.info.splits["train"].num_examples == 6
    assert set(builder.config.data_files) == {"train", "validation", "test"}
    assert [Path(path).name for path in builder.config.data_files["test"]] == ["test-00000-of-00001.parquet"]


def test_the_body_is_filled_from_the_manifest(folder: Path) -> None:
    body = (folder / "README.md").read_text().partition("\n---\n")[2]
    assert body == (
        "# Small\n\n12 rows of a test.\n\n"
        "| split | rows |\n|---|---:|\n| train | 6 |\n| validation | 3 |\n| test | 3 |\n\n"
        "| kinds | rows |\n|---|---:|\n| picture | 6 |\n| scan | 6 |\n\n"
        "| stage | reason | rows |\n|---|---|---:|\n| admit | no caption | 1 |\n| admit | no licence | 2 |\n"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8179, "8,179"),
        (0.5, "0.5"),
        (1234.567, "1,234.57"),
        (True, "yes"),
        (None, ""),
        (["a", "b"], "a, b"),
        (
            {"few": 2, "many": 1000, "also few": 2},
            "| x | rows |\n|---|---:|\n| many | 1,000 |\n| also few | 2 |\n| few | 2 |",
        ),
        ({"b": 0.25, "a": 1.5}, "| x | value |\n|---|---:|\n| b | 0.25 |\n| a | 1.50 |"),
        (
            {"CT": {"test": 4}, "MRI": {"train": 2, "test": 1}},  # not in the order of the alphabet
            "| x | train | test |\n|---|---:|---:|\n| CT |  | 4 |\n| MRI | 2 | 1 |",
        ),
        (
            [{"words": "0-9", "rows": 5}, {"words": "10-19", "rows": 7}],
            "| words | rows |\n|---|---:|\n| 0-9 | 5 |\n| 10-19 | 7 |",
        ),
        ([{"a": "x | y\nz <b>"}], "| a |\n|---|\n| x \\| y z &lt;b> |"),
        ("{{ corpus }}", "{{ corpus }}"),  # what a value holds is not filled again
    ],
)
def test_how_a_value_is_shown(value: Any, text: str, manifest: Manifest) -> None:
    assert render("{{ x }}", manifest, facts={"x": value}) == text


def test_ready_tables(manifest: Manifest) -> None:
    assert render("{{ tables.stages }}", manifest).splitlines()[2] == "| admit | 15 | 12 | 3 |"
    assert render("{{ tables.sources }}", manifest).splitlines()[2] == "| drawn | 15 | CC0-1.0 |"
    assert "| data/test-00000-of-00001.parquet |" in render("{{ tables.files }}", manifest)
    none = manifest.model_copy(update={"stages": []})
    assert render("{{ tables.exclusions }}", none) == "No row was excluded."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ nothing }}", r"\{\{ nothing \}\} has no value at 'nothing' \(expected one of format, corpus"),
        ("{{ splits.dev.rows }}", "has no value at 'dev' .expected one of"),
        ("{{ corpus.name }}", "no further step"),
        ("{{ }}", "has no value at ''"),
        ("{{ corpus", "a placeholder that does not end"),
        ("{{ corpus\n}}", "a placeholder that does not end"),
    ],
)
def test_a_placeholder_without_a_value_is_an_error(text: str, message: str, manifest: Manifest) -> None:
    with pytest.raises(ReleaseError, match=message):
        render(text, manifest)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("# No head", "no YAML head"),
        ("---\n- a list\n---\n", "no 'pretty_name'"),
        (HEAD.format("configs: []\n"), "the template states 'configs'"),
        (HEAD.format("size_categories: [n<1K]\n"), "the template states 'size_categories'"),
        (HEAD.format("tags: {{ corpus }}\n"), "its YAML head cannot be read.* with quotes around"),
        (HEAD.format("").replace("language: [en]\n", ""), "no 'language'"),
        (HEAD.format("").replace("cc-by-4.0", "other"), "no 'license_name'"),
    ],
)
def test_a_template_that_the_hub_could_not_use_is_an_error(template: str, message: str, manifest: Manifest) -> None:
    with pytest.raises(ReleaseError, match=message):
        render_card(template, manifest)


def test_a_fact_cannot_hide_one_of_the_manifest(manifest: Manifest) -> None:
    with pytest.raises(ReleaseError, match="a fact named 'splits'"):
        render("", manifest, facts={"splits": 3})


def test_other_licence_and_gating(manifest: Manifest) -> None:
    head = HEAD.format("license_name: mixed\nlicense_link: LICENCES.md\nextra_gated_heading: Terms\n")
    prompt = "I shall: use it for research.\nI shall not re-identify anyone."
    card = render_card(head.replace("cc-by-4.0", "other"), manifest, gating=prompt)
    said = yaml.safe_load(card.split("---\n")[1])
    assert said["license"] == "other" and said["license_name"] == "mixed" and said["license_link"] == "LICENCES.md"
    assert said["extra_gated_prompt"] == prompt and said["extra_gated_heading"] == "Terms"


@pytest.mark.parametrize(
    ("rows", "category"),
    [
        (1, "n<1K"),
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (79_793, "10K<n<100K"),
        (10**9, "1B<n<10B"),
        (10**12, "n>1T"),
    ],
)
def test_size_category(rows: int, category: str) -> None:
    assert size_category(rows) == category


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_card_says_which_packages_its_rows_take(name: str) -> None:
    """`datasets` alone refuses to read a row that has an image."""
    text = (Path(dataset_cards.__path__[0]) / f"{name}.md").read_text(encoding="utf-8")
    images = any(isinstance(feature, datasets.Image) for feature in corpus(name).features.values())
    assert ("pip install datasets pillow" in text, "No other package is needed" in text) == (images, not images)


def test_an_empty_table_has_its_head() -> None:
    assert markdown_table(["a", "b"], []) == "| a | b |\n|---|---|"
