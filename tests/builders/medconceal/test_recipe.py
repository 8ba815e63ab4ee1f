"""MedConceal from sources to a release that plain `datasets` loads: options, models, kills, and nothing hidden told."""

from __future__ import annotations

import html
import json
import logging
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import SecretStr

from builders import recipe as recipes
from builders.curation.privacy import SPAN
from builders.medconceal import recipe
from builders.medconceal.plausibility import CRITERIA, content_of, read_plausibility, write_sheet
from builders.medconceal.sources import Dumps, open_source
from builders.pseudonyms import KEY_FILE
from builders.publish.run import publish
from builders.release.diff import diff
from builders.release.preview import write_preview
from builders.release.shards import read_parquet
from builders.release.verify import verify
from builders.samples.medconceal import comments, submissions
from builders.samples.medconceal import threads as bundled
from loaders.corpus import load
from loaders.engines.local import Local
from loaders.errors import BedsideError, InputError, ModelError, ReleaseError
from loaders.manifest import ContentDigest, Manifest, file_digest
from loaders.medconceal import CHARTS, cases, profile_of, row_of
from loaders.spans import shares_span
from scripts.cli import execute
from tests.parts.chat_server import ChatServer, status
from tests.parts.croissant import read_by_mlcroissant
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches
from tests.parts.planted import Post, posts
from tests.parts.processes import forked
from tests.parts.small_release import files_of
from tests.parts.thread_reader import Body, asked_for, careful

MODEL = "openai-api/local/reader"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    build(folder / "out", source="sample")
    return folder / "out"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(careful) as running:
        yield running


def build(
    out: Path, *, workers: int = 1, tell: Callable[[str], object] = lambda text: None, **options: Any
) -> Manifest:
    with Local(workers) as engine:
        return recipes.build(
            recipe.RECIPE,
            recipe.Options(**options),
            out,
            workspace=out.with_name(f"{out.name}.work"),
            engine=engine,
            overwrite=True,
            tell=tell,
        )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(folder / "data" / "test-00000-of-00001.parquet").to_pylist())


def hidden_texts(folder: Path) -> list[str]:
    """Every text that must not be seen, but the short general ones that stand anywhere."""
    found = []
    for profile in cases(rows_of(folder)):
        secrets = [
            one for c in profile.hidden_concerns for one in (c.content, *c.evidence, *([c.cue] if c.cue else []))
        ]
        secrets += [*dict(profile.psychosocial).values(), *dict(profile.roleplay).values()]
        secrets += [term for concern in profile.hidden_concerns for term in concern.topics]
        found += [one.get_secret_value() for one in secrets if isinstance(one, SecretStr)]
    return [text for text in found if len(text.split()) >= 4]


def excluded(manifest: Manifest) -> dict[str, int]:
    return {reason: count for stage in manifest.stages for reason, count in stage.excluded.items()}


# --- Written cases ----------------------------------------------------------------------------------------------------


def test_the_sample_is_a_sound_release(sample: Path) -> None:
    assert verify(sample, row_check=recipe.check_row, measure=recipe.measure) == []
    manifest = Manifest.read(sample)
    assert manifest.stand_in and "made up" in manifest.stand_in
    statistics: Any = manifest.statistics
    assert statistics["cases"] == statistics["synthetic_cases"] == 40
    assert statistics["concerns"] == 155
    assert len(cases(load("medconceal", "test", source=sample))) == 40


def test_its_croissant_is_valid_and_gives_every_row(sample: Path) -> None:
    read_by_mlcroissant(sample)


def test_plain_datasets_loads_charts_unless_asked_for_more(sample: Path, tmp_path: Path) -> None:
    charts = datasets.load_dataset(str(sample), split="test", cache_dir=str(tmp_path))
    assert charts.column_names == CHARTS
    whole = datasets.load_dataset(str(sample), "cases", split="test", cache_dir=str(tmp_path))
    assert "hidden" in whole.column_names and whole.num_rows == 40


def test_a_published_release_gives_charts_unless_asked_for_more(
    sample: Path, hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    own_caches(tmp_path, monkeypatch)
    at_hub(hub, monkeypatch)
    publish(sample, "org/conceal", tag="v1.0.0", report=told.append)
    version = {"split": "test", "revision": "v1.0.0"}
    charts = datasets.load_dataset("org/conceal", **version)
    assert "hidden" not in charts.column_names and len(charts) == 40, charts
    assert "hidden" in datasets.load_dataset("org/conceal", "cases", **version).column_names
    assert "hidden" in load("medconceal", "test", source="org/conceal", revision="v1.0.0").column_names
    assert not [secret for secret in hidden_texts(sample) if secret in "".join(told)]


def test_the_same_bytes_again_and_on_several_workers(sample: Path, tmp_path: Path) -> None:
    build(tmp_path / "again", source="sample", workers=2)
    assert files_of(tmp_path / "again") == files_of(sample)


def test_composed_sets_are_sound_and_depend_on_the_seed(tmp_path: Path) -> None:
    build(tmp_path / "one", synthetic=20, seed=1)
    build(tmp_path / "same", synthetic=20, seed=1)
    build(tmp_path / "other", synthetic=20, seed=2)
    assert verify(tmp_path / "one", row_check=recipe.check_row, measure=recipe.measure) == []
    assert files_of(tmp_path / "one") == files_of(tmp_path / "same")
    found = diff(tmp_path / "one", tmp_path / "other")
    assert not found.equal


def test_nothing_hidden_on_the_card_the_preview_or_the_manifest(sample: Path, tmp_path: Path) -> None:
    page = write_preview(sample, tmp_path / "page.html", recipe.PREVIEW, rows=40)
    shown = html.unescape(page.read_text())
    assert "Renata" not in shown and "Plays the clarinet" in shown
    for text in (shown, (sample / "README.md").read_text(), (sample / "manifest.json").read_text()):
        assert not [secret for secret in hidden_texts(sample) if secret in text]
    card = (sample / "README.md").read_text()
    assert "viewer: false" in card and "annotations_creators:\n- other\n" in card  # people wrote these cases


@pytest.mark.parametrize("line", ["viewer: true\n", ""])
def test_a_card_that_turns_the_viewer_on_is_not_sound(line: str, sample: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(sample, tmp_path / "out"))
    card = out / "README.md"
    card.write_text(card.read_text().replace("viewer: false\n", line))
    facts = json.loads((out / "manifest.json").read_text())
    facts["files"]["README.md"] = {"sha256": file_digest(card), "size": card.stat().st_size}
    (out / "manifest.json").write_text(json.dumps(facts))
    (problem,) = verify(out, row_check=recipe.check_row, measure=recipe.measure)
    assert problem.where == "README.md: YAML: viewer" and "config charts leaves columns out" in problem.expected


def test_a_row_that_breaks_the_rules_is_reported_without_its_text(sample: Path) -> None:
    good = rows_of(sample)[0]
    assert recipe.check_row(good) == []
    first = good["hidden"]["hidden_concerns"][0]
    secret = first["content"]
    for change, said in (
        ({"hidden": {**good["hidden"], "primary_concern": 0, "hidden_concerns": [first]}}, "fewer than 2 hidden"),
        ({"hidden": {**good["hidden"], "primary_concern": 0, "hidden_concerns": [first] * 2}}, "concern twice"),
        # A patient who is made up may have an aunt and a town, but nobody's number.
        ({"chart": {**good["chart"], "background": "Call 020 7946 0958."}}, "in chart.background (phone)"),
        ({"chart": {**good["chart"], "background": secret}}, "background repeats a hidden concern"),
        (
            {"hidden": {**good["hidden"], "narrative": "Another story."}},
            "evidence that does not stand in the narrative",
        ),
        ({"synthetic": False}, "a narrative of a case that is not synthetic"),
        ({"hidden": {**good["hidden"], "primary_concern": 9}}, "beyond the last concern"),
        ({"specialty": "Wizard"}, "none of the 26 labels"),
    ):
        problems = recipe.check_row({**good, **change})
        assert any(said in problem for problem in problems)
        assert not any(secret in problem for problem in problems)


def test_a_case_from_a_thread_may_hold_no_identifier(sample: Path) -> None:
    good = rows_of(sample)[0]
    hidden = {**good["hidden"], "narrative": None}
    for concern in hidden["hidden_concerns"]:
        concern["evidence"] = ["so it stays in the drawer"]
    row = {**good, "synthetic": False, "hidden": hidden}
    assert recipe.check_row(row) == []
    mailed = {"sex": "female, call 020 7946 0958", "background": "Mail her at r.sobol@example.com."}
    row["chart"] = {**row["chart"], **mailed}
    hidden["hidden_concerns"][0]["evidence"] = ["My aunt's spine crumbled on steroids and this"]
    assert recipe.check_row(row) == [
        f"evidence of more than {SPAN - 1} words",
        "an identifier in chart.sex (phone)",
        "an identifier in chart.background (email)",
    ]


def test_a_killed_build_ends_with_the_same_bytes(sample: Path, tmp_path: Path) -> None:
    batches = tmp_path / "killed.work" / "batches"
    # Some work is done then, and no release is there.
    forked(lambda: build(tmp_path / "killed", synthetic=300), lambda: any(batches.glob("*.parquet")))
    assert not (tmp_path / "killed").exists()
    build(tmp_path / "killed", synthetic=300)
    build(tmp_path / "undisturbed", synthetic=300)
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "undisturbed")


# --- Threads ----------------------------------------------------------------------------------------------------------


def test_threads_become_a_sound_release(server: ChatServer, tmp_path: Path) -> None:
    manifest = build(tmp_path / "out", source="sample-threads", model=MODEL, base_url=server.base_url)
    assert verify(tmp_path / "out", row_check=recipe.check_row, measure=recipe.measure) == []
    assert excluded(manifest) == {
        "chain too short": 2,
        "cross-posted": 1,
        "post deleted or removed": 1,
        "poster under age": 1,
        "another thread of its poster is kept": 1,
    }
    assert len(server.requests) == 6 * 5
    statistics: Any = manifest.statistics
    assert statistics["curation"]["instructions removed"] >= 4
    assert statistics["licence"] == {"CC0-1.0": 6} and statistics["synthetic_cases"] == 6
    assert statistics["curation"]["identifiers masked"] >= 8
    assert "family_filter" in manifest.settings and server.base_url not in manifest.text()
    bought = len(server.requests)
    again = build(tmp_path / "again", source="sample-threads", model=MODEL, base_url=server.base_url)
    assert again.content_digest == manifest.content_digest
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")
    assert len(server.requests) == 2 * bought


def test_nothing_of_a_thread_is_published_or_printed(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="builders")
    caplog.set_level(logging.DEBUG, logger="loaders")
    command = ["build", "medconceal", "--source", "sample-threads", "--model", MODEL, "--base-url", server.base_url]
    assert execute([*command, "--out", str(tmp_path / "out"), "--workers", "1"]) == 0
    told = "".join(capfd.readouterr()) + caplog.text
    said = [text for thread in bundled.written() for text in (thread["title"], thread["text"], *thread["turns"])]
    release = tmp_path / "out"
    published = [json.dumps(row) for row in rows_of(release)]
    published += [json.dumps(row) for row in pq.read_table(release / "exclusions.parquet").to_pylist()]
    published += [(release / "README.md").read_text(), (release / "manifest.json").read_text(), told]
    published.append(write_preview(release, tmp_path / "page.html", recipe.PREVIEW).read_text())
    assert not [text for text in published if shares_span(text, said, SPAN)]
    for thread in bundled.written():
        for text in published:
            assert thread["id"] not in text and thread["author"] not in text
    # What the patient hides is in the rows and nowhere else.
    for text in published[len(rows_of(release)) :]:
        assert not [secret for secret in hidden_texts(release) if secret in html.unescape(text)]
    # No user name, address or planted instruction ever reached the model either.
    asked = json.dumps([request.body["messages"] for request in server.requests])
    assert not [name for name in ("quiet_harbour", "nightforklift", "7946", "PLANTED", "doctor_0") if name in asked]


def test_dumps_of_a_user_need_a_key_of_their_own(server: ChatServer, tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    (dumps / "RS_2021.jsonl").write_text("\n".join(submissions()))
    (dumps / "askdocs_comments.jsonl").write_text("\n".join(comments()))
    options: dict[str, Any] = {"source": f"threads={dumps}", "model": MODEL, "base_url": server.base_url}
    first = build(tmp_path / "one", **options)
    key = tmp_path / "one.work" / KEY_FILE
    assert len(key.read_bytes()) == 32 and key.stat().st_mode & 0o077 == 0
    other = build(tmp_path / "two", **options)
    assert {row["case_id"] for row in rows_of(tmp_path / "one")}.isdisjoint(
        row["case_id"] for row in rows_of(tmp_path / "two")
    )
    same = build(tmp_path / "three", **options, key=key)
    assert same.content_digest == first.content_digest != other.content_digest
    assert not any(row["synthetic"] for row in rows_of(tmp_path / "one"))
    card = (tmp_path / "one" / "README.md").read_text()
    assert "extra_gated_prompt" in card and "license_name: medconceal-data-use" in card
    assert "annotations_creators:\n- machine-generated\n" in card
    assert key.read_bytes().hex() not in card + Manifest.read(tmp_path / "one").text()


def test_a_dump_that_was_renamed_is_named_anew_in_exclusions(server: ChatServer, tmp_path: Path) -> None:
    dumps, out = tmp_path / "dumps", tmp_path / "out"
    dumps.mkdir()
    (dumps / "RS_2021.jsonl").write_text("\n".join([*submissions(), "{"]))
    (dumps / "comments.jsonl").write_text("\n".join(comments()))
    options: dict[str, Any] = {"source": f"threads={dumps}", "model": MODEL, "base_url": server.base_url, "max_bad": 9}
    for name in ("RS_2021.jsonl", "RS_all.jsonl"):
        (dumps / "RS_2021.jsonl").rename(dumps / name)
        build(out, **options)
        (unread,) = (row for row in read_parquet(out, "exclusions.parquet") if row["stage"] == "read")
        assert unread["key"].startswith(f"{name}:")


def test_the_most_common_are_kept_and_garbage_is_counted(tmp_path: Path) -> None:
    def reply(body: Body) -> str:
        garbled = "Trouble swallowing" in json.dumps(body) and asked_for(body) == "profile"
        if asked_for(body) == "scenarios" and "dialysis" in json.dumps(body):
            return '{"scenarios": ["Neither"]}'
        return "I would rather not." if garbled else careful(body)

    with ChatServer(reply) as server:
        manifest = build(tmp_path / "out", source="sample-threads", model=MODEL, base_url=server.base_url, cases=4)
    found = excluded(manifest)
    assert found["of neither communication family"] == 1
    assert found["beyond the 4 most common"] == 1
    assert found.get("no profile", 0) <= 1
    assert manifest.rows == 4 - found.get("no profile", 0)
    assert verify(tmp_path / "out", row_check=recipe.check_row, measure=recipe.measure) == []


@pytest.mark.parametrize("reply", ["What a sad story.", ""])
def test_a_model_of_garbage_only_leaves_no_release(tmp_path: Path, reply: str) -> None:
    with ChatServer(reply) as server, pytest.raises(ReleaseError, match="no commonness score: 6"):
        build(tmp_path / "out", source="sample-threads", model=MODEL, base_url=server.base_url)
    assert not (tmp_path / "out").exists()


def test_a_build_that_a_model_error_ended_resumes_without_paying_again(tmp_path: Path) -> None:
    asked = 0

    def reply(body: Body) -> str:
        nonlocal asked
        asked += 1
        if asked == 14:
            running.faults.append(status(401, message="the key has expired"))
        return careful(body)

    with ChatServer(reply) as running:
        options = {"source": "sample-threads", "model": MODEL, "base_url": running.base_url}
        with pytest.raises(ModelError, match="the key has expired"):
            build(tmp_path / "out", **dict[str, Any](options), concurrency=1)
        assert not (tmp_path / "out").exists() and asked == 14
        build(tmp_path / "out", **dict[str, Any](options), concurrency=1)
        assert asked == 6 * 5
        build(tmp_path / "other", **dict[str, Any](options))
    assert files_of(tmp_path / "out") == files_of(tmp_path / "other")


_PLANTED_IN = ("syn001", "syn002", "syn003", "syn004", "syn005")


def planted_dump(folder: Path) -> list[Post]:
    """The bundled threads as a dump, with a planted post behind each text of those that are kept: 50 in ten forms."""
    by_form: dict[str, list[Post]] = {}
    for post in posts():
        by_form.setdefault(post.form, []).append(post)
    forms = [*by_form.values()]
    chosen = [forms[number % len(forms)][number // len(forms)] for number in range(50)]
    left = iter(chosen)

    def more(text: str, count: int = 1) -> str:
        return " ".join([text, *(next(left).text for _ in range(count))])

    dumps: dict[str, list[str]] = {"submissions": [], "comments": []}
    for line in submissions():
        record = json.loads(line)
        if record["id"] in _PLANTED_IN:
            record |= {"title": more(record["title"]), "selftext": more(record["selftext"], 3)}
        dumps["submissions"].append(json.dumps(record))
    for line in comments():
        record = json.loads(line)
        # The last two turns of the patient stay whole, for the model to quote.
        if record["link_id"][3:] in _PLANTED_IN and record["id"][6:] in ("c00", "c01", "c02", "c03", "c04", "c06"):
            record["body"] = more(record["body"])
        dumps["comments"].append(json.dumps(record))
    assert next(left, None) is None
    for name, lines in dumps.items():
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return chosen


def test_planted_identifiers_reach_neither_the_model_nor_a_release(server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "dumps").mkdir()
    chosen = planted_dump(tmp_path / "dumps")
    assert len({post.form for post in chosen}) >= 9 and len(chosen) == 50
    out = tmp_path / "out"
    build(out, source=f"threads={tmp_path / 'dumps'}", model=MODEL, base_url=server.base_url)
    sent = "".join(json.dumps(request.body, ensure_ascii=False) for request in server.requests)
    published = "".join(path.read_text(errors="replace") for path in out.rglob("*.md"))
    published += (out / "manifest.json").read_text() + json.dumps(rows_of(out), ensure_ascii=False)
    published += json.dumps(pq.read_table(out / "exclusions.parquet").to_pylist(), ensure_ascii=False)
    assert rows_of(out)
    for text in (sent, published):
        assert not [planted for post in chosen for planted in post.planted if len(planted) > 3 and planted in text]
    assert verify(out, row_check=recipe.check_row, measure=recipe.measure) == []
    # One that is planted into the finished release, digests made to agree, is found, and the field named.
    by_form = {post.form: post for post in chosen}
    good = rows_of(out)[0]
    for form, post in by_form.items():
        psychosocial = {**good["hidden"]["psychosocial"], "lifestyle_history": post.text}
        problems = recipe.check_row({**good, "hidden": {**good["hidden"], "psychosocial": psychosocial}})
        assert any("an identifier in hidden.psychosocial.lifestyle_history" in problem for problem in problems), form
    spoil(out, {**good, "chart": {**good["chart"], "background": chosen[0].text}})
    found = [str(problem) for problem in verify(out, row_check=recipe.check_row, measure=recipe.measure)]
    (told,) = (problem for problem in found if "identifier" in problem)
    assert "an identifier in chart.background (phone)" in told
    assert not [planted for planted in chosen[0].planted if planted in told]


def spoil(out: Path, row: dict[str, Any]) -> None:
    """Put the row in the place of the first, with digests that agree, as a forger would."""
    shard = out / "data" / "test-00000-of-00001.parquet"
    table = pq.read_table(shard)
    rows = [row, *table.to_pylist()[1:]]
    pq.write_table(pa.Table.from_pylist(rows, table.schema), shard)
    content = ContentDigest()
    for one in rows:
        content.update(one)
    facts = json.loads((out / "manifest.json").read_text())
    facts["files"][f"data/{shard.name}"] = {"sha256": file_digest(shard), "size": shard.stat().st_size}
    facts["splits"]["test"]["content_digest"] = content.hexdigest()
    (out / "manifest.json").write_text(json.dumps(facts))


# --- Review -----------------------------------------------------------------------------------------------------------


def test_a_clinicians_decisions_are_applied_by_the_next_build(sample: Path, tmp_path: Path) -> None:
    page = (sample.with_name("out.work") / recipe.REVIEW).read_text()
    rows = rows_of(sample)
    assert all(row["case_id"] in page and content_of(row) in page for row in rows)
    assert all(f'data-reason="{criterion}"' in page for criterion in CRITERIA)
    assert '"columns": ["case_id", "decision", "reason", "content"]' in page
    first, second, third = rows[:3]
    table = tmp_path / "decisions.csv"
    table.write_text(
        "case_id,decision,reason,content\n"
        f"{first['case_id']},reject,health literacy,{content_of(first)}\n"
        f"{second['case_id']},accept,,{content_of(second)}\n"
        f"{third['case_id']},reject,intervention,{'0' * 64}\n"  # of an earlier text of the case
    )
    told: list[str] = []
    manifest = build(tmp_path / "out", source="sample", decisions=(table,), tell=told.append)
    assert excluded(manifest) == {"review: health literacy": 1}
    (named,) = [line for line in "\n".join(told).splitlines() if line.startswith("Decisions not applied")]
    assert named.endswith(f": {third['case_id']} ({table}:4)")
    assert manifest.settings["decisions"]
    left = {row["case_id"] for row in rows_of(tmp_path / "out")}
    assert left == {row["case_id"] for row in rows[1:]}
    # What a reader exports from the next sheet holds the earlier decisions, which can be changed there.
    sheet = (tmp_path / "out.work" / recipe.REVIEW).read_text()
    again = json.loads(re.findall(r'id="record">(.*?)</script>', sheet)[0])
    decided = {one["key"]: one["decided"] for one in again["items"]}
    assert decided.keys() == {row["case_id"] for row in rows}
    assert {key: one for key, one in decided.items() if one} == {
        first["case_id"]: {"decision": "reject", "reason": "health literacy"},
        second["case_id"]: {"decision": "accept", "reason": ""},
    }
    table.write_text("case_id,decision,reason,content\nx,reject,ugly,\n")
    with pytest.raises(InputError, match="turn structure"):
        build(tmp_path / "other", source="sample", decisions=(table,))


def test_the_sheet_holds_markup_of_a_case_as_text(tmp_path: Path, sample: Path) -> None:
    row = rows_of(sample)[0]
    row["chart"]["background"] = "</script><script>alert(1)</script>"
    profile = profile_of(row)
    write_sheet(
        [row_of(profile, author="a", licence="l", attribution="b")],
        read_plausibility(()),
        tmp_path / "page.html",
    )
    assert "<script>alert(1)" not in (tmp_path / "page.html").read_text()


# --- Mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "first"), [("2013-07-11", 1_373_500_800), ("9999-12-31", 253_402_214_400), ("0001-01-01", -62_135_596_800)]
)
def test_a_window_goes_from_the_first_second_of_a_day_to_the_last_of_another(day: str, first: int) -> None:
    assert recipe._seconds("--since", day) == first
    assert recipe._seconds("--until", day, last=True) == first + 24 * 60 * 60 - 1


def test_hidden_files_are_no_dumps(tmp_path: Path) -> None:
    for name in ("submissions.jsonl", "comments.jsonl", "._submissions.jsonl", "._comments.jsonl"):
        (tmp_path / name).touch()
    source = open_source(f"threads={tmp_path}", synthetic=None, seed=0, workspace=tmp_path)
    assert isinstance(source, Dumps) and source.submissions == (tmp_path / "submissions.jsonl",)


def test_dumps_are_known_by_the_names_that_the_archives_tools_give_them(tmp_path: Path) -> None:
    for pair in (("r_AskDocs_posts.jsonl", "r_AskDocs_comments.jsonl"), ("AskDocs_submissions.zst", "RC_2021.zst")):
        folder = tmp_path / pair[0]
        folder.mkdir()
        for name in pair:
            (folder / name).touch()
        source = open_source(f"threads={folder}", synthetic=None, seed=0, workspace=tmp_path)
        assert isinstance(source, Dumps) and (source.submissions, source.comments) == tuple((folder / n,) for n in pair)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "neither"),
        ({"source": "sample", "synthetic": 3}, "both"),
        ({"source": "reddit"}, "sample-threads"),
        ({"source": "sample-threads"}, "a chat model that reads the threads"),
        ({"source": "threads=", "model": "scripted/echo"}, "threads=DIR"),
        ({"source": "threads=nowhere", "model": "scripted/echo"}, "nowhere: does not exist"),
        ({"source": "threads=missing.zst,also.zst", "model": "scripted/echo"}, "does not exist"),
        ({"source": "threads=.", "model": "scripted/echo"}, "no file of submissions"),
        ({"source": "sample-threads", "model": "scripted/down"}, "scripted/down"),
        ({"source": "sample", "decisions": (Path("missing.csv"),)}, "does not exist"),
        ({"source": "sample", "gate_text": Path("missing.txt")}, "does not exist"),
        ({"source": "sample-threads", "model": "scripted/echo", "since": "soon"}, "a date as 2013-07-11"),
        ({"source": "sample-threads", "model": "scripted/echo", "until": "10000-01-01"}, "a date as 2013-07-11"),
        ({"source": "sample-threads", "model": "scripted/echo", "community": "Vets"}, "of another community"),
    ],
)
def test_mistakes_end_in_one_clear_error(
    options: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BedsideError, match=said):
        build(tmp_path / "out", **options)


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")
    for name, lines in (("submissions", submissions()), ("comments", comments())):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError, match="a secret of at least 32"):
        build(tmp_path / "out", source=f"threads={tmp_path}", model="scripted/echo", key=tmp_path / "key")


def test_the_commands_work_on_it(sample: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert execute(["verify", str(sample)]) == 0
    assert execute(["info", str(sample)]) == 0
    assert execute(["info", "medconceal"]) == 0
    assert execute(["preview", str(sample), "-o", str(tmp_path / "page.html")]) == 0
    assert execute(["diff", str(sample), str(sample)]) == 0
    told = "".join(capfd.readouterr())
    assert "Gastroenterologist" in told and "155 hidden concerns" in " ".join(told.split())
    assert not [secret for secret in hidden_texts(sample) if secret in told]


def test_the_workspace_is_its_owners_alone_one_of_an_earlier_version_too(tmp_path: Path) -> None:
    workspace = tmp_path / "release.work"
    workspace.mkdir(mode=0o755)
    build(tmp_path / "release", source="sample")
    assert workspace.stat().st_mode & 0o077 == 0
