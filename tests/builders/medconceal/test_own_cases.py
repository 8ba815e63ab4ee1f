"""`--source cases=FILE`: profiles of somebody else's, in any file type, by a mapping of fields."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from builders.medconceal import recipe
from builders.medconceal.measure import identifiers
from builders.medconceal.own import add, as_yaml, asked, problems, read_filled, template
from builders.medconceal.sources import Written, open_source
from builders.publish.run import publish
from builders.release.verify import verify
from builders.samples.medconceal import profiles
from loaders.corpus import load
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.manifest import Manifest
from loaders.medconceal import CATEGORIES, SCENARIOS, PatientProfile, profile_of, row_of
from loaders.medconceal_corpus import FOREIGN, read_foreign
from scripts.cli import execute
from tests.parts.rows import strictly

CANARY = "zirconium quokka"
FIELDS = """
admission_reason: Reason
hidden_concerns: worries
content: says
narrative: null
original_preference: goals.wish
recommended_plan: goals.plan
primary_concern: goals.main
awareness: null
"""


def foreign(profile: PatientProfile, number: int) -> dict[str, Any]:
    """A profile as another group may keep it: other names, other nesting, the main worry as text."""
    row = row_of(profile, author="a", licence="CC BY 4.0", attribution="The clinic")
    shown, hidden = row["chart"], row["hidden"]
    worries = [
        {
            "says": concern["content"],
            "category": concern["category"],
            "confidence": 0.5,
            "evidence": [" ".join(snippet.split()[:5]) for snippet in concern["evidence"]],
        }
        for concern in hidden["hidden_concerns"]
    ]
    domains = {name: text for name, text in hidden["self_management_domains"].items() if name != "awareness"}
    plain = ("name", "marital_status", "education", "adherence_behavior")
    return {
        "case id": f"clinic-{number}",
        "Age": f"{shown['age']} years",
        "Reason": shown["admission_reason"],
        **{name: shown[name] for name in ("sex", "background", "medical_surgical_history")},
        **{name: hidden[name] for name in plain},
        "psychosocial": hidden["psychosocial"],
        "worries": worries,
        "goals": {
            "wish": row["intervention"]["original_preference"],
            "plan": row["intervention"]["recommended_plan"],
            "main": worries[hidden["primary_concern"]]["says"].upper(),
        },
        **hidden["roleplay"],
        **domains,
        **{name: row[name] for name in ("specialty", "licence", "attribution")},
    }


def written(folder: Path, kind: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / f"profiles.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row in rows:
                # A list as pandas leaves it to Python to write.
                writer.writerow({name: json.dumps(v) if isinstance(v, dict) else v for name, v in row.items()})
    elif kind == "yaml":
        path.write_text(yaml.safe_dump(rows, allow_unicode=True), encoding="utf-8")
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows) if kind == "jsonl" else json.dumps(rows)
        path.write_text(text, encoding="utf-8")
    return path


def build(folder: Path, path: Path, fields: str | None = FIELDS) -> int:
    arguments = ["build", "medconceal", "--source", f"cases={path}", "--out", str(folder / "out"), "--workers", "1"]
    if fields is not None:
        (folder / "fields.yaml").write_text(fields, encoding="utf-8")
        arguments += ["--fields", str(folder / "fields.yaml")]
    return execute(arguments)


@pytest.mark.parametrize("kind", ["jsonl", "yaml", "csv", "parquet"])
def test_profiles_of_somebody_elses_become_a_release(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("phonenumbers")
    chosen = profiles()[:3]
    assert build(tmp_path, written(tmp_path, kind, [foreign(one, n) for n, one in enumerate(chosen)])) == 0
    assert verify(tmp_path / "out", row_check=recipe.check_row, measure=recipe.measure) == []
    manifest = Manifest.read(tmp_path / "out")
    assert manifest.stand_in is None and manifest.sources[0].name == f"profiles.{kind}"
    rows = list(load("medconceal", "test", source=tmp_path / "out"))
    assert [row["case_id"] for row in rows] == ["clinic-0", "clinic-1", "clinic-2"]
    for row, profile in zip(rows, chosen, strict=True):
        read = profile_of(row)
        assert read.demographics == profile.demographics and read.psychosocial == profile.psychosocial
        assert read.clinical == profile.clinical and read.intervention == profile.intervention
        assert [c.content for c in read.hidden_concerns] == [c.content for c in profile.hidden_concerns]
        assert (row["licence"], row["attribution"], row["author"]) == ("CC BY 4.0", "The clinic", "unknown")
        assert (
            not read.synthetic
            and read.narrative is None
            and row["hidden"]["self_management_domains"]["awareness"] == ""
        )
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"those of `profiles.{kind}`" in card and "forum" not in card
    assert "whether they agreed, is not stated by the maintainer" in card
    assert "| licence | rows |\n|---|---:|\n| CC-BY-4.0 | " in card


def test_a_release_that_pandas_wrote_to_a_csv_is_read(tmp_path: Path) -> None:
    rows = [row_of(one, author="a", licence="CC0-1.0", attribution="b") for one in profiles()[:5]]
    table = pa.Table.from_pylist(rows).to_pandas()
    path = tmp_path / "rows.csv"
    table.to_csv(path)
    assert "dtype=object" in path.read_text(encoding="utf-8")
    read = open_source(f"cases={path}", synthetic=None, seed=0, workspace=tmp_path)
    assert isinstance(read, Written)
    assert [{name: row[name] for name in rows[0]} for row in read.rows if not isinstance(row, BadRow)] == rows
    table["hidden"] = table["hidden"].map(lambda hidden: str(hidden)[:1000])  # as something may have cut it off
    table.to_csv(path)
    with pytest.raises(InputError, match=r"rows.csv:2: hidden: begins as a list or an object, and cannot be read"):
        open_source(f"cases={path}", synthetic=None, seed=0, workspace=tmp_path)


def test_cases_are_read_again_with_other_versions_of_the_identifier_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Written("ours.yaml", [], "0" * 64, invented=False)
    before = recipe._from_cases(source)
    assert "phonenumbers" in before.packages
    monkeypatch.setattr(recipe, "installed_versions", lambda *names: dict.fromkeys(names, "another"))
    assert recipe._from_cases(source).identity != before.identity


def test_a_file_that_was_renamed_is_credited_by_its_new_name(tmp_path: Path) -> None:
    rows = [{**foreign(profile, at), "attribution": None} for at, profile in enumerate(profiles()[:2])]
    path = written(tmp_path, "jsonl", rows)
    assert build(tmp_path, path) == 0
    (tmp_path / "out").rename(tmp_path / "before")
    assert build(tmp_path, path.rename(tmp_path / "ours.jsonl")) == 0
    assert {row["attribution"] for row in load("medconceal", "test", source=tmp_path / "out")} == {"ours.jsonl"}


def test_nobody_sees_a_withdrawn_case_again_however_its_accents_are_written(tmp_path: Path) -> None:
    pytest.importorskip("phonenumbers")
    pair = zip(profiles()[:2], ("zoe\u0308", "max"), strict=True)
    path = written(tmp_path, "jsonl", [{**foreign(profile, 0), "case id": name} for profile, name in pair])
    (tmp_path / "fields.yaml").write_text(FIELDS, encoding="utf-8")
    (tmp_path / "list.txt").write_text("zo\u00eb\n", encoding="utf-8")
    words = ["--fields", str(tmp_path / "fields.yaml"), "--withdrawn", str(tmp_path / "list.txt"), "--workers", "1"]
    out = tmp_path / "out"
    assert execute(["build", "medconceal", "--source", f"cases={path}", *words, "--out", str(out)]) == 0
    assert list(load("medconceal", "test", source=out)["case_id"]) == ["max"]
    sheet = (tmp_path / "out.work" / recipe.REVIEW).read_text(encoding="utf-8")
    (record,) = re.findall(r'id="record">(.*?)</script>', sheet)
    assert [item["key"] for item in json.loads(record)["items"]] == ["max"]


def test_a_case_that_cannot_be_used_is_excluded_with_its_reason(tmp_path: Path) -> None:
    pytest.importorskip("phonenumbers")
    rows = [foreign(profile, n) for n, profile in enumerate(profiles()[:6])]
    rows[1]["sex"] = None
    rows[2]["worries"][0] |= {"category": CANARY, "says": CANARY}
    rows[3]["Reason"] = rows[3]["worries"][0]["says"]
    rows[4]["case id"] = "clinic-0"
    assert build(tmp_path, written(tmp_path, "jsonl", rows)) == 0
    excluded = pq.read_table(tmp_path / "out" / "exclusions.parquet").to_pylist()
    assert [(row["key"], row["reason"]) for row in excluded] == [
        ("case-00002", "no whole profile"),
        ("case-00003", "no whole profile"),
        ("clinic-3", "breaks a rule"),
        ("clinic-0", "one id for different cases"),
        ("clinic-0", "one id for different cases"),
    ]
    details = [row["detail"] for row in excluded]
    assert (
        details[0].startswith("profiles.jsonl:2: lacks demographics.sex; it holds ")
        and "hidden_concerns.0.category" in details[1]
    )
    assert "admission_reason repeats a hidden concern" in details[2] and CANARY not in " ".join(details)


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("case id", "John Smith 1999"),
        ("case id", "Jane Doe MRN 4459921"),
        ("case id", "jane.doe@example.org"),
        ("case id", "visit 1987-03-04"),
        ("name", "Jane Doe, 020 7946 0958"),
    ],
)
def test_an_id_or_a_made_up_name_that_leads_to_a_person_is_refused_and_not_repeated(
    field: str, told: str, tmp_path: Path
) -> None:
    cases = [foreign(profile, number) for number, profile in enumerate(profiles()[:2])]
    cases[1][field] = told
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump(cases), encoding="utf-8")
    (tmp_path / "fields.yaml").write_text(FIELDS, encoding="utf-8")
    source = open_source(
        f"cases={tmp_path / 'cases.yaml'}",
        synthetic=None,
        seed=0,
        workspace=tmp_path,
        fields=tmp_path / "fields.yaml",
    )
    assert isinstance(source, Written)
    (good, refused) = strictly(source.rows)
    assert good["refused"] is None and "an identifier in" in refused["refused"]["detail"]
    assert refused["case_id"] == ("case-00002" if field == "case id" else "clinic-1")
    assert told not in json.dumps(refused["refused"])


@pytest.mark.parametrize("name", ["John Smith 1999", "mary-jones-1971-03-05", "12.03.1971"])
def test_the_id_of_a_made_up_case_may_be_a_persons_as_well(name: str) -> None:
    assert identifiers({"case_id": name}, made_up=True) == identifiers({"case_id": name}, made_up=False) != []


@pytest.mark.parametrize(
    "name",
    [
        "ward-7",
        "case-00001",
        "P-1987-0301",
        "patient_12",
        "berlin-3",
        "4459921",
        "../x",
        "mc-9439160232c1",
        "P-001-123-4567",
    ],
)
def test_an_id_as_teams_write_them_is_none_of_a_person(name: str) -> None:
    assert identifiers({"case_id": name}, made_up=False) == identifiers({"case_id": name}, made_up=True) == []


def test_without_a_mapping_everything_missing_is_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(tmp_path, written(tmp_path, "jsonl", [foreign(profiles()[0], 0)] * 2), fields=None) == 2
    said = " ".join(capsys.readouterr().err.split())
    for name in ("clinical.admission_reason", "intervention.original_preference", "hidden_concerns", "goals.wish"):
        assert name in said
    assert "profiles.jsonl:1" in said and "--fields FILE" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--source", "cases=missing.csv"], "does not exist"),
        (["--source", "cases="], "cases=FILE"),
        (["--source", "sample", "--fields", "x.yaml"], "a mapping for sample"),
        (["--synthetic", "3", "--fields", "x.yaml"], "a mapping for composed cases"),
        (["--source", "sample", "--model", "bogus/xx"], "--model found given with --source sample"),
        (
            ["--source", "sample", "--since", "nope", "--key", "/none"],
            "--since, --key found given with --source sample",
        ),
        (["--synthetic", "3", "--any-family", "--community", "x"], "--community, --any-family found given with --s"),
        (["--source", "sample", "--cases", "3", "--prompts", "x"], "--cases, --prompts found given with"),
        (["--source", "sample", "--base-url", "http://x", "--concurrency", "3"], "--base-url, --concurrency found"),
        (["--source", "sample-threads", "--key", "/none"], "--key found given with --source sample-threads"),
        (["--source", "sample", "--seed", "3"], "--seed found given with --source sample"),
        (["--source", "cases=x.csv", "--fields", "missing.yaml"], "does not exist"),
    ],
)
def test_mistakes(arguments: list[str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["build", "medconceal", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert found in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("told", "years"),
    [(34, 34), ("34", 34), ("34.0", 34), ("34 years", 34), ("34 yo", 34), ("34-year-old", 34), ("0", 0), ("", None),
     ("unknown", None), ("90+", 90), ("90 or older", 90), (">89", 90), ("Over 89", 90), ("80+", "no"),
     ("6 months", "no"), ("6 weeks", "no"), ("-3", "no"), ("1000", "no"), (45.9, "no"), ("3x", "no"),
     ("born 1980", "no"), ("121", "no"), (True, "no"), ("30-40", "no"), ([34, 35], "no")],
)  # fmt: skip
def test_an_age_is_whole_years_or_refused(told: Any, years: Any) -> None:
    case = asked(person())
    case["demographics"]["age"] = told
    found = problems(case, "case")
    assert (["demographics.age" in said for said in found] == [True]) == (years == "no")
    if years != "no":
        row, _ = read_foreign(case, {}, where="here", case_id="c", author="a", attribution="b")
        assert found == [] and row["chart"]["age"] == years


@pytest.mark.parametrize(
    ("place", "wrong", "found"),
    [
        (("scenarios",), [SCENARIOS[1].replace(", and", " and")], "scenarios"),
        (("scenarios",), SCENARIOS[0][:-1], "scenarios"),
        (("scenarios",), 7, "scenarios"),
        (("synthetic",), "maybe", "synthetic"),
        (("rarity",), True, "rarity"),
        (("intervention", "primary_concern"), True, "intervention.primary_concern"),
        (("hidden_concerns", 0, "depth"), True, "hidden_concerns.0.depth"),
        (("hidden_concerns", 0, "confidence"), True, "hidden_concerns.0.confidence"),
        (("hidden_concerns", 0, "cue"), False, "hidden_concerns.0.cue"),
        # YAML reads `- She said: no` as an object.
        (("hidden_concerns", 0, "evidence"), [{CANARY: "no"}], "hidden_concerns.0.evidence.0"),
        (("hidden_concerns", 0, "topics"), [{CANARY: "no"}], "hidden_concerns.0.topics.0"),
        (("hidden_concerns", 0, "content"), [{CANARY: "no"}], "hidden_concerns.0.content"),
        (("demographics", "background"), [{CANARY: "no"}], "demographics.background"),
        (("hidden_concerns", 0, "cues"), CANARY, "unknown: hidden_concerns.cues (cue?)"),
        (("demographics", "shoe"), CANARY, "unknown: demographics.shoe"),
    ],
)
def test_a_value_is_refused_and_never_read_as_another(place: tuple[Any, ...], wrong: Any, found: str) -> None:
    case = asked(person())
    inner: Any = case
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = wrong
    told = "; ".join(problems(case, "case"))
    assert told.startswith(found) and CANARY not in told


def test_a_list_in_one_text_is_read_as_the_documented_marks_divide_it() -> None:
    case = asked(person())
    case["scenarios"] = " | ".join(SCENARIOS)
    case["hidden_concerns"][0] |= {"evidence": "a b | c d", "topics": "cost, money"}
    row, _ = read_foreign(case, {}, where="here", case_id="c", author="a", attribution="b")
    concern = row["hidden"]["hidden_concerns"][0]
    assert row["scenarios"] == list(SCENARIOS)
    assert (concern["evidence"], concern["topics"]) == (["a b", "c d"], ["cost", "money"])


def test_a_column_that_no_row_has_is_an_error_also_for_an_optional_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "jsonl", [foreign(profiles()[0], 0)])
    assert build(tmp_path, path, f"{FIELDS}\ncase_id: nosuchcolumn") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "fields.yaml" in told and "case_id: nosuchcolumn; no row of profiles.jsonl has" in told
    assert "worries.says" in told and not (tmp_path / "out").exists()


def test_fields_that_no_profile_has_are_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("phonenumbers")
    rows = [foreign(profile, n) for n, profile in enumerate(profiles()[:3])]
    rows[0]["ward"] = rows[2]["ward"] = CANARY
    rows[1]["worries"][0]["cues"] = CANARY
    assert build(tmp_path, written(tmp_path, "jsonl", rows)) == 0
    told = " ".join("".join(capsys.readouterr()).split())
    assert "profiles.jsonl: fields that are not read: hidden_concerns.cues (cue?) in 1 case, ward in 2 cases" in told
    assert CANARY not in told


# --- Cases written down one by one ------------------------------------------------------------------------------------

ANSWERS = {
    "An id": "ward-7",
    "Specialty": "Cardiologist",
    "made up": "yes",
    "Age": "61",
    "Wording": "",
    "How readily": "guarded",
    "Licence": "",
    "Families": "",
    "the story": "I count the coins first. They want it all on the table. I never learned to read it.",
    "Which of them": "2",
    "What the patient wants": "To be left in peace.",
    "The plan": "Take one tablet in the morning.",
}
CONCERNS = (
    ("Cannot pay for the tablets.", "4", "I count the coins first."),
    ("Never learned to read a leaflet.", "3", "I never learned to read it."),
)


def person(concerns: int = len(CONCERNS)) -> Any:
    """Somebody who answers `bedside cases new`; a question that has to be answered is left empty at first."""
    left = ["" if number == 1 else "yes" for number in range(concerns)]
    silent = {"Personality"}

    def ask(question: str) -> str:
        if question.startswith("Concern"):
            number, _, what = question.removeprefix("Concern ").partition(". ")
            content, category, words = CONCERNS[int(number) - 1]
            fields = {"What the": content, "Category": category, "The patient's own": words, "How deep": "1"}
            return next(
                (text for start, text in fields.items() if what.startswith(start)), "0.9" if "sure" in what else "a, b"
            )
        if question.startswith("Another"):
            return left.pop() if len(left) > concerns else "no"
        if question in silent:
            silent.remove(question)
            return ""
        return next((text for start, text in ANSWERS.items() if start in question), "Nothing much to say.")

    return ask


def test_a_case_is_asked_for_field_by_field(tmp_path: Path) -> None:
    case = asked(person())
    assert [one["category"] for one in case["hidden_concerns"]] == [CATEGORIES[3], CATEGORIES[2]]
    assert case["intervention"]["primary_concern"] == 1 and problems(case, "case") == []
    add(tmp_path / "ours.yaml", case)
    with pytest.raises(InputError, match="ward-7 twice"):
        add(tmp_path / "ours.yaml", case)
    spoilt = {
        **case,
        "case_id": "w8",
        "clinical": {**case["clinical"], "admission_reason": "Never learned to read a leaflet, she says."},
    }
    with pytest.raises(InputError, match="admission_reason repeats a hidden concern"):
        add(tmp_path / "ours.yaml", spoilt)
    assert [one["case_id"] for one in read_filled(tmp_path / "ours.yaml")] == ["ward-7"]
    assert (tmp_path / "ours.yaml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("written", ["# our ward\r\n{case}  # not yet discussed\r\n", "\ufeff---\n{case}"])
def test_what_stands_in_a_file_of_cases_stays_as_it_was_written(written: str, tmp_path: Path) -> None:
    ours, case = tmp_path / "ours.yaml", asked(person())
    before = written.format(case=as_yaml([case]).rstrip())
    ours.write_bytes(before.encode())
    add(ours, {**case, "case_id": "ward-8"})
    assert ours.read_text().startswith(before.lstrip("\ufeff").rstrip().replace("\r", ""))
    assert [one["case_id"] for one in read_filled(ours)] == ["ward-7", "ward-8"]
    ours.write_text(json.dumps([case]))  # below a list of this form no other can go on
    add(ours, {**case, "case_id": "ward-8"})
    assert [one["case_id"] for one in read_filled(ours)] == ["ward-7", "ward-8"]


@pytest.mark.parametrize("number", [4, "4"])
def test_a_category_may_be_its_number_as_the_questions_have_it(number: Any) -> None:
    case = asked(person())
    case["hidden_concerns"][0]["category"] = number
    row, _ = read_foreign(case, {}, where="here", case_id="c", author="a", attribution="b")
    assert row["hidden"]["hidden_concerns"][0]["category"] == CATEGORIES[3]
    case["hidden_concerns"][0]["category"] = 5
    (told,) = problems(case, "case")
    assert told.startswith("hidden_concerns.0.category: ") and ";" not in told, "and not that the list lacks one"


def test_an_intervention_without_a_plan_is_refused_unless_it_has_none(tmp_path: Path) -> None:
    case = asked(person())
    case["intervention"]["recommended_plan"] = " "
    assert problems(case, "case") == ["lacks intervention.recommended_plan"]
    path = tmp_path / "ours.yaml"
    path.write_text(as_yaml([case]))
    (tmp_path / "fields.yaml").write_text("recommended_plan: null")
    for fields, refused in ((None, True), (tmp_path / "fields.yaml", False)):
        source = open_source(f"cases={path}", synthetic=None, seed=0, workspace=tmp_path, fields=fields)
        assert isinstance(source, Written)
        assert [row["refused"] is not None for row in strictly(source.rows)] == [refused]


def test_evidence_may_run_over_the_lines_of_a_narrative() -> None:
    case = asked(person())
    case["narrative"] = case["narrative"].replace(" ", "\n")
    assert problems(case, "case") == []


@pytest.mark.parametrize("missing", [None, "", " "])
def test_a_case_without_an_id_is_refused(tmp_path: Path, missing: str | None) -> None:
    case = asked(person())
    add(tmp_path / "ours.yaml", {**case, "case_id": 7})
    for nameless in ({**case, "case_id": missing}, {name: case[name] for name in case if name != "case_id"}):
        with pytest.raises(InputError, match="case number 2: lacks case_id"):
            add(tmp_path / "ours.yaml", {**case, "case_id": "w8"}, nameless)
    with pytest.raises(InputError, match="case 7 twice"):
        add(tmp_path / "ours.yaml", {**case, "case_id": "7"})
    assert len(read_filled(tmp_path / "ours.yaml")) == 1


@pytest.mark.parametrize(
    ("concerns", "found"), [(7, "lacks hidden_concerns"), ("Afraid.", "lacks"), (["Afraid."], "that is no object")]
)
def test_hidden_concerns_that_are_none_are_told_and_none_is_dropped(concerns: Any, found: str) -> None:
    case = asked(person())
    more = [*case["hidden_concerns"], *concerns] if isinstance(concerns, list) else concerns
    assert found in problems({**case, "hidden_concerns": more}, "case")[0]


def test_a_template_is_filled_in_and_its_release_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("phonenumbers")
    blank, ours, out = tmp_path / "blank.yaml", tmp_path / "ours.yaml", tmp_path / "out"
    assert execute(["cases", "new", str(blank), "--template"]) == 0 and blank.read_text() == template()
    assert blank.stat().st_mode & 0o077 == 0
    assert execute(["cases", "new", str(ours), "--from", str(blank)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"{blank}: case number 1" in told and "it lacks case_id, demographics.name," in told
    assert told.count("lacks") == 1 and "and 20 more" in told and "do Correct it in" in told
    filled, case = yaml.safe_load(blank.read_text()), asked(person())
    assert set(filled[0]) == set(case)
    flat = {
        **case,
        "hidden_concerns": [
            {**one, "evidence": " | ".join(one["evidence"]), "topics": "a, b"} for one in case["hidden_concerns"]
        ],
    }
    blank.write_text(yaml.safe_dump([flat]))
    assert execute(["cases", "new", str(ours), "--from", str(blank)]) == 0
    assert execute(["build", "medconceal", "--source", f"cases={ours}", "--out", str(out), "--workers", "1"]) == 0
    assert load("medconceal", "test", source=out)[0]["case_id"] == "ward-7"
    assert list(tmp_path.rglob("review.html"))
    with pytest.raises(InputError, match="patients of a team of its own"):
        publish(out, "org/name", tag="v1.0.0", token="none", endpoint="http://127.0.0.1:9", dry_run=True)
    assert execute(["cases", "new", str(tmp_path / "x.yaml")]) == 2
    assert "is not a terminal" in capsys.readouterr().err


def test_every_documented_column_is_a_field_that_a_mapping_may_name_and_every_needed_one_is_documented() -> None:
    documented = {name for names, _ in recipe.RECIPE.source_columns for name in names}
    assert {name.rpartition(".")[2] for name in documented} <= set(FOREIGN)
    with pytest.raises(InputError) as error:
        read_foreign({"age": 40}, {}, where="row 1", case_id="row", author="own", attribution="own")
    lacking = set(error.value.found.partition(";")[0].removeprefix("lacks ").split(", "))
    assert "intervention.primary_concern" in lacking and lacking - documented == {"hidden_concerns"}
