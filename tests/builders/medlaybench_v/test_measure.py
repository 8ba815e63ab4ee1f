"""Statistics and checks of rows, by hand."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest
from PIL import Image

from builders.medlaybench_v.gates import GATES
from builders.medlaybench_v.measure import check_row, measure


def picture(form: str, **said: Any) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").save(buffer, form, **said)
    return buffer.getvalue()


PNG = picture("PNG")
PLACE = Image.Exif()
PLACE[0x9286] = "where it was taken"
JPEG_WITH_PLACE = picture("JPEG", exif=PLACE)


def row(**changes: Any) -> dict[str, Any]:
    gates = [{"gate": gate, "passed": True, "reason": ""} for gate in (*GATES, "abbreviations")]
    concept = {"surface": "edema", "start": 0, "end": 5, "cui": None, "lay": "swelling", "source": "vocabulary"}
    return {
        "split": "test",
        "modality": "DRCO",
        "modality_source": "none",
        "reads_well": {"score": 1.0, "repeats": 0, "hyphens": 0, "stacks": 0, "unexplained": []},
        "status": "accepted",
        "refiner": "rules",
        "licence": "CC BY",
        "caption_licence": "CC BY",
        "phrase_licences": ["CC0-1.0"],
        "cuis": [],
        "expert_caption": "Edema (arrow).",
        "layman_caption": "Swelling (arrow).",
        "concepts": [{**concept, "surface": "Edema"}],
        "protected": [{"kind": "marker", "text": "arrow", "start": 7, "end": 12}],
        "gates": gates,
        "image": None,
        "article_id": None,
        **changes,
    }


def test_a_sound_row_has_no_problem() -> None:
    assert check_row(row()) == []


def test_a_row_is_checked_against_itself() -> None:
    lost = check_row(row(layman_caption="Swelling."))
    assert any("gate markers: recorded" in problem for problem in lost)
    assert any("status accepted, but gate markers fails: lost: arrow" in problem for problem in lost)
    misread = [{**row()["concepts"][0], "surface": "Ovary"}]
    assert "concepts: 'Ovary' is not at 0-5 of the expert caption" in check_row(row(concepts=misread))
    assert "not at 8-13" in check_row(row(protected=[{"kind": "marker", "text": "arrow", "start": 8, "end": 13}]))[0]
    assert "status 'perfect'" in check_row(row(status="perfect"))[0]


def test_a_verdict_stands_once_and_only_what_was_checked_has_one() -> None:
    gates = row()["gates"]
    assert "expected each once" in check_row(row(gates=[{**gates[0], "passed": False}, *gates]))[0]
    assert "expected each once" in check_row(row(gates=[*gates, {**gates[0], "gate": "a clinician"}]))[0]


def test_a_judge_overrules_no_gate_of_style() -> None:
    def gates(failed: str, reason: str) -> list[dict[str, Any]]:
        told = [
            {**gate, "passed": False, "reason": reason} if gate["gate"] == failed else gate for gate in row()["gates"]
        ]
        return [*told, {"gate": "judge", "passed": True, "reason": ""}]

    lost = {"layman_caption": "Swelling.", "gates": gates("markers", "lost: arrow")}
    assert check_row(row(status="judged", **lost)) == []
    copied = {"layman_caption": "Edema (arrow).", "gates": gates("unchanged", "copied from the expert caption")}
    copied |= {"reads_well": None}
    assert check_row(row(status="judged", **copied)) == [
        "status judged, but gate unchanged fails: copied from the expert caption"
    ]


def test_a_span_of_nothing_ends_no_check() -> None:
    nothing = {**row()["concepts"][0], "surface": "", "start": 3, "end": 3}
    problems = check_row(row(concepts=[*row()["concepts"], nothing], phrase_licences=["CC0-1.0"] * 2))
    assert problems == ["concepts: '' is not at 3-3 of the expert caption"]


@pytest.mark.parametrize("data", [None, b"", b"no image", PNG[:-20], PNG + b"more", JPEG_WITH_PLACE])
def test_an_image_is_whole_and_holds_nothing_else(data: bytes | None) -> None:
    assert check_row(row(image={"bytes": PNG, "path": "a.png"})) == []
    assert "no whole JPEG or PNG" in check_row(row(image={"bytes": data, "path": "a.png"}))[0]


def test_the_imaging_method_is_read_again() -> None:
    assert "found DRCO by none" in check_row(row(modality="DRCT"))[0]
    assert (
        "found DRUS by text"
        in check_row(row(expert_caption="Edema (arrow). US.", layman_caption="Swelling (arrow). US."))[0]
    )
    assert check_row(row(modality="DRCT", modality_source=None)) == []  # a release from before the column


def test_how_it_reads_is_measured_again() -> None:
    forged = {"score": 0.2, "repeats": 3, "hyphens": 0, "stacks": 0, "unexplained": []}
    assert "reads_well" in check_row(row(reads_well=forged))[0]
    assert "reads_well" in check_row(row(reads_well=row()["reads_well"] | {"score": 0.95}))[0]
    assert check_row(row(reads_well=None)) == []


def test_a_forged_licence_is_found() -> None:
    assert check_row(row(phrase_licences=["CC BY-NC-ND 4.0"])) == [
        "licence 'CC BY', but its caption and lay phrases make it 'CC-BY-NC-ND-4.0'"
    ]
    assert "expected one for each lay phrase" in check_row(row(phrase_licences=[None]))[0]
    assert "make it 'CC BY-NC'" in check_row(row(caption_licence="CC BY-NC"))[0]
    assert check_row(row(licence="all mine", caption_licence=None, phrase_licences=None)) == []  # before the column


def test_what_is_in_two_splits_is_counted() -> None:
    picture, other = ({"bytes": data, "path": "a.png"} for data in (b"one", b"other"))
    rows = [
        row(split="train", image=picture, article_id="PMC1", expert_caption="Renal cyst."),
        row(split="train", image=other, article_id="PMC1", expert_caption="Renal cyst."),
        row(split="test", image=picture, article_id="PMC2", expert_caption="Cyst."),
        row(split="validation", image=picture, article_id="PMC2", expert_caption="Renal cyst."),
        row(split="validation", image=other, article_id="PMC3", expert_caption="A cyst."),
    ]
    found: Any = measure(rows)
    assert found["across_splits"] == {"pictures": 2, "articles": 1, "captions": 1}
    halves = [measure.tally(), measure.tally()]  # as shards are counted apart
    for number, one in enumerate(rows):
        halves[number % 2].add(one)
    halves[0].merge(halves[1])
    assert halves[0].statistics() == found


def test_a_tally_holds_a_few_bytes_of_a_row() -> None:
    """It comes back from each shard, and a release may have millions of rows."""

    def size(rows: int) -> int:
        tally = measure.tally()
        for number in range(rows):
            tally.add(row(article_id=f"PMC{number}", expert_caption=f"A renal cyst in the {number}th case (arrow)."))
        return len(pickle.dumps(tally))

    assert (size(3000) - size(1000)) / 2000 < 20


def test_a_licence_is_counted_once_however_it_is_spelled() -> None:
    found: Any = measure([row(), row(licence="CC-BY"), row(phrase_licences=["CC0", "CC0-1.0"])])
    assert (found["licence"], found["licence_of_phrases"]) == ({"CC-BY": 3}, {"CC0-1.0": 3})


def test_statistics_count_by_split() -> None:
    rows = [row(), row(split="train", status="fallback", refiner="glosses", modality="DRMR", licence=None)]
    found: Any = measure(rows)
    assert found["modality_by_split"]["DRCO"] == {"test": 1, "train": 0}
    assert found["modality_source"] == {"cui": 0, "text": 0, "none": 2}
    assert found["status_by_split"] == {"accepted": {"test": 1, "train": 0}, "fallback": {"test": 0, "train": 1}}
    assert found["refiner"] == {"glosses": 1, "rules": 1}
    assert found["licence"] == {"CC-BY": 1, "unknown": 1} and found["licence_of_phrases"] == {"CC0-1.0": 2}
    assert found["gates"]["markers"] == {"passed": 2, "doubtful": 0, "failed": 0}
    doubt = [{"gate": "markers", "passed": True, "reason": "doubtful: lost: arrow"}]
    reads = row()["reads_well"]
    found = measure([row(gates=doubt, reads_well=reads | {"score": 0.5}), row(reads_well=reads | {"score": 0.498})])
    assert found["gates"]["markers"] == {"passed": 1, "doubtful": 1, "failed": 0}
    assert (found["reads_well"]["captions"], found["reads_well"]["score"]) == (1, 0.499)
    assert (found["with_lay_phrase"], found["with_image"], found["expert_words"]) == (2, 0, 2.0)


def test_a_lay_phrase_in_the_words_of_the_expert_is_no_plain_word() -> None:
    (concept,) = row()["concepts"]
    same, unsaid = {**concept, "lay": "edema"}, {**concept, "start": -1, "end": -1}
    found: Any = measure([row(concepts=[same]), row(concepts=[unsaid]), row(concepts=[same, concept])])
    assert found["with_lay_phrase"] == 1
    copied = {"layman_caption": "Edema (arrow).", "reads_well": None}
    assert check_row(row(concepts=[same], **copied)) == []
    assert any("gate unchanged: recorded" in problem for problem in check_row(row(concepts=[concept], **copied)))
