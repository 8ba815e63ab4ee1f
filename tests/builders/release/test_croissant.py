"""croissant.json, canary, data statement: made of manifest and card, held by verify, named when published."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import dataset_cards
from builders.publish.run import publish
from builders.recipe import canary
from builders.release.cards import REPOSITORY, SAME_TAG, TAG, render_card, render_croissant
from builders.release.croissant import CROISSANT as NAME
from builders.release.croissant import STATEMENT, croissant
from builders.release.rebuilt import OtherFile, compare
from builders.release.verify import verify
from builders.release.write import Facts, write_release
from loaders.errors import InputError, ReleaseError
from loaders.manifest import Manifest, Source, StageCount, file_digest
from loaders.registry import BUNDLED
from tests.parts.croissant import read_by_mlcroissant
from tests.parts.faulty_hub import FaultyHub
from tests.parts.small_release import FEATURES, Held, rows

CANARY = canary("small")
TEMPLATE = f"""---
pretty_name: Small
license: cc-by-4.0
language: [en]
task_categories: [image-to-text]
statement:
  uses: >-
    For tests of {{{{ corpus }}}}.
  limits: Nothing.
bibtex: |
  @misc{{small, title = {{Small}}}}
---
# Small

load_dataset("{REPOSITORY}", revision="{TAG}")  # or "{SAME_TAG}"

```bibtex
@misc{{another, note = "cited by hand"}}
```

{{{{ statement }}}}

{{{{ citation }}}}
"""


def build(folder: Path, mark: str | None = CANARY) -> Path:
    """A release of twelve rows with all of it."""
    stages = [StageCount(name="read", version=1, rows_in=12, rows_out=12, excluded={})]
    facts = Facts(
        corpus="small", key="image_id", features=FEATURES, settings={}, prompts={}, versions={}, stages=stages,
        sources=[Source(name="here", digest="0", rows=12, licence="CC0-1.0")], canary=mark,
    )  # fmt: skip
    card, metadata = partial(render_card, TEMPLATE), partial(render_croissant, TEMPLATE)
    write_release(folder, facts, Held(rows(), "image_id"), [], measure=lambda _: None, card=card, croissant=metadata)
    return folder


def test_it_says_what_the_manifest_says(tmp_path: Path) -> None:
    folder = build(tmp_path / "small")
    manifest, said = Manifest.read(folder), json.loads((folder / NAME).read_text(encoding="utf-8"))
    assert "http://mlcommons.org/croissant/1.1" in said["conformsTo"]
    assert said["rai:dataUseCases"] == "For tests of small." and said["rai:dataLimitations"] == "Nothing."
    assert "@misc{small" in said["citeAs"] and "@software{bedside" in said["citeAs"] and CANARY in said["description"]
    digests = {one["contentUrl"]: one["sha256"] for one in said["distribution"] if one["@type"] == "cr:FileObject"}
    assert digests == {name: facts.sha256 for name, facts in manifest.files.items() if name.startswith("data/")}
    fields = {field["name"]: field for field in said["recordSet"][0]["field"]}
    assert list(fields) == list(FEATURES) and fields["image"]["dataType"] == "sc:ImageObject"
    assert (fields["cuis"]["isArray"], fields["cuis"]["dataType"]) == (True, "sc:Text")
    assert [part["dataType"] for part in fields["spans"]["subField"]] == ["sc:Text", "sc:Integer"]
    assert fields["score"]["dataType"] == "sc:Float" and fields["kind"]["dataType"] == "sc:Integer"
    assert verify(folder) == []
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert CANARY in card and f"**{STATEMENT['uses'][0]}.** For tests of small." in card and "@misc{small" in card
    shard = pq.read_metadata(folder / manifest.shards("test")[0])
    assert shard.metadata[b"canary"].decode() == CANARY
    # It is none of the rows: with and without it the content is the same.
    assert Manifest.read(build(tmp_path / "plain", None)).content_digest == manifest.content_digest
    assert verify(tmp_path / "plain") == []


def test_it_has_the_fields_that_neurips_asks_for(tmp_path: Path) -> None:
    manifest = Manifest.read(build(tmp_path / "small"))
    asked = "dataLimitations dataBiases personalSensitiveInformation dataUseCases dataSocialImpact".split()
    assert {f"rai:{name}" for name in asked} < {place for _, place in STATEMENT.values()}
    source = Source(name="web", digest="1", rows=1, licence="CC-BY-4.0", url="https://photos.example")
    manifest = manifest.model_copy(update={"sources": [*manifest.sources, source]})
    collection = {"collection": "By hand."}
    said = json.loads(croissant(manifest, {"pretty_name": "Small", "license": "mit"}, collection, ""))
    assert said["prov:wasDerivedFrom"] == [
        {"@type": "sc:Dataset", "name": "here", "license": "CC0-1.0"},
        {"@type": "sc:Dataset", "name": "web", "license": "CC-BY-4.0", "url": "https://photos.example"},
    ]
    assert [one["description"] for one in said["prov:wasGeneratedBy"]] == ["By hand."]
    assert "rai:hasSyntheticData" not in said  # nobody knows
    for mark, by in (("made up", None), (None, ["machine-generated"])):
        head = {"pretty_name": "Small", "license": "mit", "annotations_creators": by}
        made = croissant(manifest.model_copy(update={"stand_in": mark}), head, {}, "")
        assert json.loads(made)["rai:hasSyntheticData"] is True


def _other_digest(text: str) -> str:
    said = json.loads(text)
    said["distribution"][0]["sha256"] = "0" * 64
    return json.dumps(said)


def _no_column(text: str) -> str:
    said = json.loads(text)
    del said["recordSet"][0]["field"][0]
    return json.dumps(said)


def _swapped(text: str) -> str:
    said = json.loads(text)
    said["recordSet"][0]["field"][1]["source"]["extract"]["column"] = "text"
    return json.dumps(said)


def _more(**facts: object) -> Callable[[str], str]:
    return lambda text: json.dumps(json.loads(text) | facts)


@pytest.mark.parametrize(
    ("name", "change", "found"),
    [
        (NAME, _swapped, "source.extract.column: text"),
        (NAME, _more(name="The official one"), "name: The official one"),
        (NAME, _more(citeAs="@misc{other}"), "citeAs: "),
        (NAME, _more(creator={"name": "An institute"}), "creator.name: An institute"),
        (NAME, _more(**{"rai:dataLimitations": None}), "rai:dataLimitations: nothing"),
        (NAME, _more(url="http://hub/datasets/org/name", version="1.0.0"), "creator.name: "),
        (NAME, _other_digest, f"sha256: {'0' * 64}"),
        (NAME, _no_column, "recordSet"),
        (NAME, lambda text: text.replace(CANARY, ""), f"{CANARY}, by manifest and card"),
        (NAME, lambda text: text.replace("croissant/1.1", "croissant/0.9"), "conformsTo"),
        (NAME, lambda text: text.replace('"Nothing."', '"Much."'), "rai:dataLimitations: Much. (expected Nothing."),
        (
            "README.md",
            lambda text: text.replace("** Nothing.", "** Little."),
            "rai:dataLimitations: Nothing. (expected Little.",
        ),
        (NAME, lambda text: "[]", "holds a list"),
        (NAME, lambda text: "{", NAME),
        ("README.md", lambda text: text.replace(CANARY, ""), "no canary"),
        ("manifest.json", lambda text: text.replace(CANARY, "another canary"), "another canary"),
        ("manifest.json", lambda text: text.replace(f'"{CANARY}"', "null"), "description: …"),
        ("manifest.json", lambda text: text.replace('"corpus": "small"', '"corpus": "large"'), "corpus large"),
        ("manifest.json", lambda text: text.replace('"stand_in": null', '"stand_in": "drawn"'), "Stand-in: drawn."),
        (NAME, lambda text: text.replace(" rows, corpus", "9 rows, corpus"), "129 rows"),
    ],
)
def test_verify_finds_what_is_wrong(tmp_path: Path, name: str, change: Callable[[str], str], found: str) -> None:
    folder = build(tmp_path / "small")
    path = folder / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    manifest = Manifest.read(folder)
    if name != "manifest.json":  # as whoever changed it would have listed it
        facts = manifest.files[name].model_copy(update={"sha256": file_digest(path), "size": path.stat().st_size})
        manifest.model_copy(update={"files": {**manifest.files, name: facts}}).write(folder)
    problems = [str(problem) for problem in verify(folder)]
    assert problems and any(found in problem for problem in problems), problems


@pytest.mark.parametrize("mark", [None, "another canary"])
def test_verify_finds_a_shard_without_the_canary(tmp_path: Path, mark: str | None) -> None:
    """With the same rows, and listed as whoever took the canary out would have listed it."""
    folder, other = build(tmp_path / "small"), build(tmp_path / "other", mark)
    manifest = Manifest.read(folder)
    changed = manifest.shards("test")[0]
    (folder / changed).write_bytes((other / changed).read_bytes())
    facts = {changed: Manifest.read(other).files[changed]}
    manifest.model_copy(update={"files": {**manifest.files, **facts}}).write(folder)
    said = [str(problem) for problem in verify(folder)]
    assert f"{changed}: no canary, or another one (expected {CANARY})" in said
    assert not any(problem.startswith(("split", "manifest.json")) for problem in said), said


@pytest.mark.parametrize("content", [b"{", b"[]", b'"url"', b"\xff{}"])
def test_a_file_that_is_no_croissant_is_reported_and_never_published(tmp_path: Path, content: bytes) -> None:
    """With a digest that fits, as whoever changed it would have listed it."""
    folder, again = build(tmp_path / "small"), build(tmp_path / "again")
    (folder / NAME).write_bytes(content)
    manifest = Manifest.read(folder)
    facts = manifest.files[NAME].model_copy(update={"sha256": file_digest(folder / NAME), "size": len(content)})
    manifest.model_copy(update={"files": {**manifest.files, NAME: facts}}).write(folder)
    found = compare(folder, again)
    assert found.files == [OtherFile(NAME, "")]
    assert {problem.where.partition(":")[0] for problem in found.problems} == {NAME}
    with pytest.raises(ReleaseError, match=r"croissant\.json: cannot be read: .*a JSON object"):
        publish(folder, "org/small", tag="v1.0.0", endpoint="http://127.0.0.1:9", token="hf_x")


def test_what_is_published_names_its_repository_version_and_date(hub: FaultyHub, tmp_path: Path) -> None:
    """Whole, the same again changes nothing, and what is built again is found to be the same."""
    folder = build(tmp_path / "small")
    with pytest.raises(InputError, match="YYYY-MM-DD"):
        publish(folder, "org/small", tag="v1.2.0", date="22.11.2026")
    wanted = {
        "date": "2026-11-22",
        "tag": "v1.2.0",
        "endpoint": hub.url,
        "token": hub.token,
        "report": lambda line: None,
    }
    done = publish(folder, "org/small", **wanted)
    assert publish(folder, "org/small", **wanted).unchanged
    from huggingface_hub import snapshot_download

    there = Path(
        snapshot_download(
            "org/small", repo_type="dataset", revision=done.commit, endpoint=hub.url, token=hub.token,
            local_dir=tmp_path / "there",
        )
    )  # fmt: skip
    card = (there / "README.md").read_text(encoding="utf-8")
    assert 'load_dataset("org/small", revision="v1.2.0")  # or "v1.2.0"' in card and REPOSITORY not in card
    said = json.loads((there / NAME).read_text(encoding="utf-8"))
    assert (said["url"], said["version"]) == (f"{hub.url}/datasets/org/small", "1.2.0")
    assert said["datePublished"] == "2026-11-22"
    assert (said["creator"]["name"], said["creator"]["url"]) == ("org", f"{hub.url}/org")
    assert verify(there) == [] and REPOSITORY in (folder / "README.md").read_text(encoding="utf-8")
    found = compare(there, folder)
    assert found.proved and {file.name: file.why for file in found.files}.keys() == {"README.md", NAME}
    for name, told in (("README.md", "# Small"), (NAME, '"Small"')):
        text = (there / name).read_text(encoding="utf-8")
        assert told in text
        (there / name).write_text(text.replace(told, told.replace("Small", "Large")), encoding="utf-8")
    assert {file.why for file in compare(there, folder).files} == {""}


@pytest.mark.parametrize("corpus", list(BUNDLED))
def test_every_card_has_a_statement_a_citation_and_places_for_its_names(corpus: str) -> None:
    text = Path(str(dataset_cards.__file__)).with_name(f"{corpus}.md").read_text(encoding="utf-8")
    for part in ("{{ statement }}", "{{ citation }}", "## Contact", "eprint = {", "arxiv.org/abs/", REPOSITORY, TAG):
        assert part in text, part
    assert all(f"  {name}: " in text for name in STATEMENT)


def test_a_part_that_no_statement_has_is_refused(tmp_path: Path) -> None:
    manifest = Manifest.read(build(tmp_path / "small"))
    with pytest.raises(ReleaseError, match="a statement with colour"):
        render_card(TEMPLATE.replace("  limits:", "  colour:"), manifest)


def test_mlcroissant_reads_it(tmp_path: Path) -> None:
    assert read_by_mlcroissant(build(tmp_path / "small")).name == "Small"
