"""spaCy pipelines, made here and saved, opened and used through the adapter.

scispaCy and MedCAT exclude each other in one environment (numpy below and above 2), so `scripts/test_scispacy` runs
this file in an environment of its own; elsewhere what needs spaCy is skipped.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from builders.medlaybench_v.recognizers import TRUST_OPTION, SpacyRecognizer
from builders.release.shards import read_rows
from loaders.errors import MissingExtra, ModelError
from loaders.manifest import Manifest
from scripts.cli import execute


@pytest.fixture(scope="module")
def spacy() -> Any:
    return pytest.importorskip("spacy", reason="spaCy is not installed here (scripts/test_scispacy runs these tests)")


def blank(spacy: Any) -> Any:
    """English with rules for three entities: one with a CUI, one with another identifier, one with none."""
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "ENTITY", "pattern": [{"LOWER": "pleural"}, {"LOWER": "effusion"}], "id": "C0032227"},
            {"label": "ENTITY", "pattern": [{"LOWER": "lung"}], "id": "39607008"},
            {"label": "ENTITY", "pattern": [{"LOWER": "showing"}]},
        ]
    )
    return nlp


@pytest.fixture(scope="module")
def folder(spacy: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spacy") / "pipeline"
    blank(spacy).to_disk(path)
    return path


CAPTIONS = [
    "Radiograph showing a Pleural  effusion and pleural effusion of the lung.",
    "",
    "Läsion — lung ✱ 肺",
    "x " * 10_000,
]


def test_entities_of_a_saved_pipeline(folder: Path) -> None:
    recognizer = SpacyRecognizer(folder)
    found = recognizer(CAPTIONS)
    # The doubled space is a token of its own, so the rule of two tokens does not match there.
    assert [[(m.surface, m.cui) for m in mentions] for mentions in found] == [
        [("showing", None), ("pleural effusion", "C0032227"), ("lung", None)],
        [],
        [("lung", None)],
        [],
    ]
    for caption, mentions in zip(CAPTIONS, found, strict=True):
        assert all(caption[m.start : m.end] == m.surface and m.source == "spacy" for m in mentions)
    assert found[::-1] == recognizer(CAPTIONS[::-1])


def test_only_noun_like_entities_where_parts_of_speech_are_tagged(spacy: Any, tmp_path: Path) -> None:
    nlp = blank(spacy)
    tags = {
        "NOUN": ["lung", "radiograph"],
        "VERB": ["showing", "effusion"],
    }  # wrong on purpose for the entity with a CUI
    for pos, words in tags.items():
        ruler = nlp.add_pipe("attribute_ruler", name=pos)
        ruler.add(patterns=[[{"LOWER": {"IN": words}}]], attrs={"POS": pos})
    nlp.to_disk(tmp_path / "tagged")
    (mentions,) = SpacyRecognizer(tmp_path / "tagged")(CAPTIONS[:1])
    assert [m.surface for m in mentions] == ["pleural effusion", "lung"]


def test_identity_changes_with_the_pipeline(spacy: Any, folder: Path, tmp_path: Path) -> None:
    identity = SpacyRecognizer(folder).identity
    assert identity == SpacyRecognizer(str(folder)).identity
    assert identity.endswith(f"spacy {spacy.__version__}")
    nlp = blank(spacy)
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "ENTITY", "pattern": "rib"}])
    nlp.to_disk(tmp_path / "other")
    assert SpacyRecognizer(tmp_path / "other").identity != identity


def test_a_worker_gets_the_same_recogniser(folder: Path) -> None:
    recognizer = SpacyRecognizer(folder)
    copy = pickle.loads(pickle.dumps(recognizer))
    assert (copy.identity, copy(CAPTIONS)) == (recognizer.identity, recognizer(CAPTIONS))


def test_an_installed_package_is_opened_by_name(
    spacy: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "en_tiny_sci"
    package.mkdir()
    source = f"import spacy\ndef load(**overrides):\n    return spacy.load({str(folder)!r}, **overrides)\n"
    (package / "__init__.py").write_text(source, encoding="utf-8")
    metadata = tmp_path / "en_tiny_sci-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: en_tiny_sci\nVersion: 1.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    recognizer = SpacyRecognizer("en_tiny_sci")
    assert recognizer.identity == f"en_tiny_sci 1.0 spacy {spacy.__version__}"
    assert [m.cui for m in recognizer(CAPTIONS)[0]] == [None, "C0032227", None]


def test_functions_from_outside_spacy_need_trust(spacy: Any, tmp_path: Path) -> None:
    calls = []

    @spacy.language.Language.component("outsider")
    def outsider(doc: Any) -> Any:
        calls.append(doc.text)
        return doc

    nlp = blank(spacy)
    nlp.add_pipe("outsider")
    nlp.to_disk(tmp_path / "foreign")
    with pytest.raises(ModelError, match=f"outsider.*{TRUST_OPTION}"):
        SpacyRecognizer(tmp_path / "foreign")
    assert SpacyRecognizer(tmp_path / "foreign", trust=True)(["lung"])[0][0].surface == "lung"
    assert calls == ["lung"]


def test_spacys_own_wrapped_functions_need_no_trust(spacy: Any, tmp_path: Path) -> None:
    nlp = blank(spacy)
    nlp.add_pipe("merge_entities")
    nlp.to_disk(tmp_path / "merged")
    assert SpacyRecognizer(tmp_path / "merged")(["pleural effusion"])[0][0].cui == "C0032227"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('@tokenizers = "spacy.Tokenizer.v1"', '@tokenizers = "elsewhere.Tokenizer.v1"'),
        ('factory = "entity_ruler"', 'factory = "scispacy_linker"'),
        ('factory = "entity_ruler"', 'source = "en_core_web_sm"'),
    ],
)
def test_a_config_that_points_elsewhere_needs_trust(
    spacy: Any, folder: Path, tmp_path: Path, line: str, name: str
) -> None:
    blank(spacy).to_disk(tmp_path / "changed")
    config = tmp_path / "changed" / "config.cfg"
    text = config.read_text(encoding="utf-8")
    assert line in text
    config.write_text(text.replace(line, name), encoding="utf-8")
    with pytest.raises(ModelError, match=TRUST_OPTION):
        SpacyRecognizer(tmp_path / "changed")
    with pytest.raises(ModelError, match="cannot be opened"):
        SpacyRecognizer(tmp_path / "changed", trust=True)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("en_core_sci_nosuch", "releases/v0.5.4/en_core_sci_nosuch-0.5.4.tar.gz"),
        ("xx_nosuch_sm", "spacy download xx_nosuch_sm"),
        ("no/such/folder", "Check the path"),
    ],
)
def test_an_absent_pipeline_tells_how_to_get_it(spacy: Any, name: str, advice: str) -> None:
    with pytest.raises(ModelError, match=advice):
        SpacyRecognizer(name)


def test_what_is_no_pipeline(spacy: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"no config\.cfg"):
        SpacyRecognizer(tmp_path / "empty")
    blank(spacy).to_disk(tmp_path / "broken")
    config = tmp_path / "broken" / "config.cfg"
    config.write_text("[nlp", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        SpacyRecognizer(tmp_path / "broken")
    blank(spacy).to_disk(tmp_path / "cut")
    (tmp_path / "cut" / "vocab" / "strings.json").write_bytes(b'["lu')
    with pytest.raises(ModelError, match="cannot be opened"):
        SpacyRecognizer(tmp_path / "cut")
    with pytest.raises(ModelError, match="cannot be opened"):
        SpacyRecognizer("pytest")  # an installed package, but no pipeline


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"\[scispacy\]"):
        SpacyRecognizer("en_core_sci_md")


def test_a_release_is_built_with_a_pipeline(folder: Path, tmp_path: Path) -> None:
    """In the environment of scispaCy, too, whose numpy is older than that of all other extras."""
    out = tmp_path / "release"
    given = ("--captions", "sample", "--limit", "30", "--spacy", str(folder), "--trust-model-pack")
    assert execute(["build", "medlaybench-v", *given, "--out", str(out)]) == 0
    assert execute(["verify", str(out)]) == 0
    rows = read_rows(out, Manifest.read(out))
    assert any(concept["source"] == "spacy" for row in rows for concept in row["concepts"])
