"""`bedside run` on the bundled release: every baseline from door to folder, resumed, compared, refused."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from baselines.dialogue.played import PlayedCase, read_played
from baselines.medconceal.policy import DEFAULT
from baselines.medlaybench_v.captioning import Captions
from baselines.results.run import read_run
from builders import recipe as recipes
from builders.medlaybench_v import recipe
from loaders.files.records import to_json
from loaders.opened import open_data
from scripts.cli import execute
from scripts.run.confirmation import _warn_of_words
from scripts.run.retrieval import method_of
from scripts.terminal.embedding import Encoding, embed_all
from tests.parts.chat_server import ChatServer, completion, status
from tests.parts.photo_server import picture
from tests.parts.tiny_encoders import FakeEncoder

pytest.importorskip("textstat")


@pytest.fixture(scope="module")
def text_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text-only")
    captions = folder / "captions.csv"
    lines = "".join(f"t{i},CT of lesion {i} in the liver.,CC BY,test\n" for i in range(12))
    captions.write_text("image_id,caption,licence,split\n" + lines, encoding="utf-8")
    recipes.build(recipe.RECIPE, recipe.Options(captions=str(captions)), folder / "release", workspace=folder / "work")
    return folder / "release"


def run(*arguments: object) -> int:
    return execute(["run", *map(str, arguments)])


def test_language(captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("language", captions, "--resamples", 20, "-o", tmp_path / "run") == 0
    record, results = read_run(tmp_path / "run")
    assert record.stand_in and record.baseline == "language"
    cells = {(r.setting, r.column, r.split_or_group): r for r in results if r.table == "Table 1"}
    assert cells["Layman", "FKGL", "Test"].value < cells["Expert", "FKGL", "Test"].value  # type: ignore[operator]
    assert {r.provenance for r in results} == {"stand-in"}
    capsys.readouterr()
    assert execute(["compare", str(tmp_path / "run"), "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)
    assert len(pairs) > 50 and all(pair["provenance"] == "stand-in" for pair in pairs)


def test_captions_in_another_script_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "image_id,expert_caption,layman_caption\n1,Chest CT.,胸部CT扫描显示肺部。\n2,Chest CT.,A scan.\n"
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    assert run("language", tmp_path / "mine.csv", "--resamples", 20, "-o", tmp_path / "run") == 0
    assert (
        execute(["rescore", str(tmp_path / "run"), "--data", str(tmp_path / "mine.csv"), "-o", str(tmp_path / "x")])
        == 0
    )
    told = " ".join(capsys.readouterr().err.split())
    assert told.count("Layman: 1 caption is mostly in other letters than Latin ones") == 2 and "Expert:" not in told


def test_turns_in_another_script_and_empty_ones_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A product that answers with blanks, by a fault of its own, had numbers of 0 and no word about it."""
    said = ("您最担心的是什么?", "What worries you?", " \n")
    exchanges = [SimpleNamespace(clinician=one) for one in said]
    episodes: list[Any] = [SimpleNamespace(exchanges=exchanges)]
    for policy, more in ((DEFAULT, True), (replace(DEFAULT, overlap="rated"), False)):
        _warn_of_words(episodes, policy)
        told = " ".join(capsys.readouterr().err.split())
        assert "1 of 3 turns of the clinician are empty" in told
        assert "1 of 3 turns of the clinician are not in English" in told and ("--overlap rated" in told) == more


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Hola, ¿cómo se ha sentido? Eso suena muy duro. ¿Qué es lo que más le preocupa de este tratamiento?", True),
        (
            "Good morning. Kindly describe your present difficulties. Three tablets daily; avoid grapefruit, please.",
            False,
        ),
        ("Hola, ¿qué tal?", False),  # too short to tell
    ],
)
def test_a_clinician_who_speaks_another_language_is_told(
    said: str, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    exchanges = [SimpleNamespace(clinician=one) for one in said.partition(". ")[::2] if one]
    _warn_of_words([SimpleNamespace(exchanges=exchanges)], DEFAULT)  # type: ignore[list-item]
    assert (
        f"{len(exchanges)} of {len(exchanges)} turns of the clinician are not in English" in capsys.readouterr().err
    ) == told


def test_retrieval_encodes_once_and_joins_the_report(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("open_clip")
    command = ("retrieval", captions, "--model", "random:tiny", "--cache", tmp_path / "cache", "--resamples", 20, "-o")
    assert run(*command, tmp_path / "one") == 0
    assert "random:tiny: 96 items newly encoded" in " ".join(capsys.readouterr().out.split())
    assert run(*command, tmp_path / "two") == 0
    assert "random:tiny: 0 items newly encoded" in " ".join(capsys.readouterr().out.split())
    (one, first), (two, second) = read_run(tmp_path / "one"), read_run(tmp_path / "two")
    assert one.run_id == two.run_id and [r.value for r in first] == [r.value for r in second]
    assert "random weights" in (one.stand_in or "")
    # What a reviewer asks for beside the numbers.
    assert one.versions["torch"] == version("torch") and one.versions["open_clip_torch"] == version("open_clip_torch")
    encoder = one.options["encoders"]["random:tiny"]
    assert (encoder["precision"], encoder["device"], encoder["context_length"]) == ("fp32", "cpu", "77")
    assert execute(["compare", str(tmp_path / "one")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "The paper prints these tables for other models" in told and "stand-in" in told
    page = tmp_path / "report.html"
    assert execute(["report", str(tmp_path / "one"), "--release", str(captions), "-o", str(page)]) == 0
    assert "Stand-in" in page.read_text(encoding="utf-8")
    assert run("ablation", tmp_path / "one", "-o", tmp_path / "ablation") == 0


def test_retrieval_of_embeddings_made_elsewhere(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The vectors of an encoder give the numbers of the encoder; what does not belong to the rows is refused."""
    pytest.importorskip("open_clip")
    save_file = pytest.importorskip("safetensors.numpy").save_file
    few = ("--resamples", 20, "-o")
    arguments = ("--model", "random:tiny", "--cache", tmp_path / "cache", *few, tmp_path / "opened")
    assert run("retrieval", captions, *arguments) == 0
    opened = open_data(str(captions), split="test")
    rows = list(opened.rows("expert_caption", "layman_caption"))
    texts = {name: [row[f"{name}_caption"] for row in rows] for name in ("expert", "layman")}
    options = Encoding(data=str(captions), out=tmp_path, model=("random:tiny",), cache=tmp_path / "cache")
    ((_, made),) = embed_all(options, texts, opened).of
    vectors = {"images": made.images.rows(), **{name: part.rows() for name, part in made.texts.items()}}
    place = tmp_path / "vectors"
    place.mkdir()
    shuffled = {name: values[::-1] if name == "layman" else values for name, values in vectors.items()}
    save_file({name: np.ascontiguousarray(values) for name, values in shuffled.items()}, tmp_path / "other.safetensors")
    for name, values in vectors.items():
        np.save(place / f"{name}.npy", values)
    save_file({name: np.ascontiguousarray(values) for name, values in vectors.items()}, tmp_path / "all.safetensors")
    _, expected = read_run(tmp_path / "opened")
    for given in (place, tmp_path / "all.safetensors"):
        assert run("retrieval", captions, "--embeddings", f"random:tiny={given}", *few, tmp_path / "own") == 0
        record, results = read_run(tmp_path / "own")
        assert [result.value for result in results] == pytest.approx([result.value for result in expected], abs=1e-9)
        assert "random weights" not in (record.stand_in or "") and record.models[0].name == "random:tiny"
        assert record.options["truncated"] == {"random:tiny": None}
        assert run("ablation", tmp_path / "own", "-o", tmp_path / "ablation") == 0
    (place / "images.npy").unlink()  # only captions are compared here
    for given, told in ((place, False), (tmp_path / "other.safetensors", True)):
        capsys.readouterr()
        space = ("--embeddings", f"mine={given}", "--no-projection", *few, tmp_path / "s")
        assert run("embedding-space", captions, *space) == 0
        warned = "mine: expert and layman of one row are no more alike" in " ".join(capsys.readouterr().err.split())
        assert warned == told
    np.save(place / "images.npy", vectors["images"])
    capsys.readouterr()
    np.save(place / "expert.npy", vectors["expert"][:-1])
    for given, says in (
        (f"mine={place}", "Embed exactly the rows of the split"),
        (f"mine={tmp_path / 'nowhere'}", "does not exist"),
        (str(place), "NAME=PLACE"),
        (None, "neither"),
        (f"mine={tmp_path / 'all.safetensors'} --embeddings Mine={tmp_path / 'all.safetensors'}", "'Mine' twice"),
        (f"mine={tmp_path / 'all.safetensors'} --k {len(rows) + 1}", "at most the number of rows"),
        (f"mine={tmp_path / 'all.safetensors'} --k 5 --k 5", "each number once"),
        (f"mine={tmp_path / 'all.safetensors'} --batch-size 8", "Error --batch-size found no encoder"),
        (f"mine={tmp_path / 'all.safetensors'} --precision fp16", "taken as they are"),
        (f"mine={tmp_path / 'all.safetensors'} --method expert", "not the experts"),
    ):
        assert (
            run("retrieval", captions, *(["--embeddings", *given.split()] if given else []), "-o", tmp_path / "no") == 2
        )
        assert says in " ".join(capsys.readouterr().err.split())


def test_where_a_models_folder_is_says_nothing_of_a_run(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two trainings leave folders of one name, which had all the work done and then failed."""
    monkeypatch.chdir(tmp_path)
    first, second = tmp_path / "run1" / "final", tmp_path / "run2" / "final"
    for place in (first, second, tmp_path / "moved" / "final", tmp_path / "runs" / "final"):
        place.mkdir(parents=True)
    (tmp_path / "latest").symlink_to(first)
    opened = []

    def open_fake(name: str, **_: object) -> FakeEncoder:
        opened.append(FakeEncoder(version="trained longer" if name == str(second) else "as trained"))
        opened[-1].name = name
        return opened[-1]

    monkeypatch.setattr("scripts.terminal.embedding.open_encoder", open_fake)
    few = ("--cache", tmp_path / "cache", "--resamples", 20)
    ids = []
    for place, out in ((first, "a"), (tmp_path / "moved" / "final", "a/deep/b"), (tmp_path / "runs" / "final", "c")):
        out = tmp_path / "runs" / out
        assert run("embedding-space", captions, "--no-projection", "--model", place, *few, "-o", out) == 0
        record, _ = read_run(out)
        assert list(record.options["truncated"]) == list(record.options["encoders"]) == ["…/final"]
        assert list(json.loads((out / "figure-a3.json").read_bytes())) == ["…/final"]
        ids.append(record.run_id)
    assert len({*ids}) == 1
    assert execute(["pack", str(tmp_path / "runs/a"), "-o", str(tmp_path / "a.zip")]) == 0
    assert "a path of this machine" not in " ".join(capsys.readouterr().err.split())

    both = ("--model", first, "--model", second)
    assert run("retrieval", captions, *both, *few, "-o", tmp_path / "both") == 0
    record, results = read_run(tmp_path / "both")
    assert [model.name for model in record.models] == ["…/run1/final", "…/run2/final"]
    assert {"…/run1/final", "…/run2/final"} <= {one.row for one in results}
    given = ("--data", captions, "--cache", tmp_path / "cache", "-o", tmp_path / "again")
    assert execute(["rescore", str(tmp_path / "both"), *map(str, given)]) == 0
    assert read_run(tmp_path / "again")[0].run_id == record.run_id
    capsys.readouterr()
    linked = ("--model", first, "--model", tmp_path / "latest")
    assert run("retrieval", captions, *linked, "-o", tmp_path / "no") == 2
    assert "'…/final' twice" in capsys.readouterr().err and not opened[-1].calls


def test_embedding_space(captions: Path, tmp_path: Path) -> None:
    pytest.importorskip("open_clip")
    pytest.importorskip("sklearn")
    arguments = ("--model", "random:tiny", "--cache", tmp_path / "cache", "--resamples", 20, "-o", tmp_path / "run")
    assert run("embedding-space", captions, *arguments) == 0
    drawn = json.loads((tmp_path / "run" / "figure-a3.json").read_text(encoding="utf-8"))
    assert len(drawn["random:tiny"]["projection"]["expert"]) == 32


def test_what_cannot_be_projected_is_told_before_anything_is_encoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    (tmp_path / "three.csv").write_text(
        "image_id,expert_caption,layman_caption\n" + "".join(f"{at},CT {at}.,Scan {at}.\n" for at in range(3))
    )
    monkeypatch.setattr("scripts.run.embedding_space.embed_all", None)
    assert run("embedding-space", tmp_path / "three.csv", "--model", "random:tiny", "-o", tmp_path / "run") == 2
    assert "found 3 pairs expected 4 pairs at least do Leave it out: --no-projection" in " ".join(
        capsys.readouterr().err.split()
    )


def test_equal_captions_have_numbers_and_a_page(tmp_path: Path) -> None:
    rows = "".join(f"{at},CT {at}.,CT {at}.\n" for at in range(12))
    (tmp_path / "same.csv").write_text(f"image_id,expert_caption,layman_caption\n{rows}")
    vectors = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float32)
    np.save(tmp_path / "same.npy", np.stack([vectors] * 3))
    given = ("--embeddings", f"ours={tmp_path / 'same.npy'}", "--no-projection", "--resamples", 20, "-o")
    assert run("embedding-space", tmp_path / "same.csv", *given, tmp_path / "run") == 0
    assert execute(["report", str(tmp_path / "run"), "-o", str(tmp_path / "r.html")]) == 0


@pytest.mark.parametrize("task", ["consultation", "confirmation", "intervention", "captioning"])
def test_what_the_page_of_commands_says_of_inspect_eval(
    task: str, captions: Path, patients: Path, photos: Path, tmp_path: Path
) -> None:
    """A stand-in that is no model, as a --model-role, ended in a traceback of inspect_ai."""
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as inspect_eval

    import scripts.inspect_tasks  # noqa: F401 - as the entry point does

    page = Path("docs/commands.md").read_text(encoding="utf-8").replace("\\\n", " ")
    ((_, *words),) = [
        line.split()[2:] for line in page.splitlines() if line.startswith(f"inspect eval bedside/{task} ")
    ]
    given: dict[str, dict[str, str]] = {"-T": {}, "--model-role": {}, "--model": {}}
    for option, word in zip(words[::2], words[1::2], strict=True):
        name, _, value = word.rpartition("=")
        given[option][name] = value
    folders = {"runs/v1": captions, "runs/patients": patients, "runs/photos": photos}
    options: dict[str, Any] = given["-T"] | {"data": str(folders[given["-T"]["data"]])}
    options |= {"pairs": int(options["pairs"])} if "pairs" in options else {}
    players = {"model": given["--model"].get(""), "model_roles": given["--model-role"] or None}
    more: dict[str, Any] = {"log_dir": str(tmp_path), "display": "none", "limit": 2, **players}
    (log,) = inspect_eval(f"bedside/{task}", task_args=options, **more)
    assert log.status == "success", log.error


def test_inspect_eval_asks_for_the_same_captions(captions: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as inspect_eval

    import scripts.inspect_tasks  # noqa: F401 - as the entry point does

    more: dict[str, Any] = {"log_dir": str(tmp_path / "logs"), "display": "none", "limit": 3}
    args = {"data": str(captions), "pairs": 6}
    (log,) = inspect_eval("bedside/captioning", task_args=args, model="scripted/prose", **more)
    assert log.status == "success" and log.eval.dataset.samples == 6, log.error
    asked = ("--model", "scripted/prose", "--pairs", 6, "--resamples", 20, "-o", tmp_path / "run")
    assert run("captioning", captions, *asked) == 0
    wanted = {one.case_id: to_json(one.record) for one in read_played(tmp_path / "run", PlayedCase[Captions])}
    for sample in log.samples or []:
        assert sample.metadata["outcome"]["record"] == wanted[sample.id]
        assert sample.messages[0].text != sample.messages[2].text
        assert {"FKGL, Expert", "empty, Layman"} <= (sample.scores or {})["dialogue"].value.keys()


@pytest.mark.parametrize(
    "arguments",
    [
        ["language", "no-such-folder"],
        ["language", "RELEASE", "--split", "middle"],
        ["retrieval", "RELEASE", "--model", "no such model"],
        ["retrieval", "RELEASE", "--model", "hf:no-such/weights"],
        ["retrieval", "RELEASE", "--model", "random:tiny", "--precision", "fp7"],
        ["embedding-space", "RELEASE", "--model", "nothing:here"],
        ["captioning", "RELEASE", "--model", "scripted/nobody"],
        ["captioning", "RELEASE", "--model", "scripted/prose", "--prompts", "no-such-folder"],
        ["ablation", "no-such-run"],
    ],
)
def test_a_mistake_is_one_error(
    arguments: list[str],
    captions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("open_clip")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    given = [str(captions) if argument == "RELEASE" else argument for argument in arguments]
    if given[0] in ("retrieval", "embedding-space"):
        given += ["--cache", str(tmp_path / "cache")]
    assert run(*given, "-o", tmp_path / "run") == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err and "Error" in said.err
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_server_that_counts_no_tokens_is_told(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    uncounted: Any = lambda body, reply: completion(body, reply) | {"usage": None}  # noqa: E731
    monkeypatch.setattr("tests.parts.chat_server.completion", uncounted)
    name = "openai-api/local/some"
    others = ("--patient", "template", "--evaluator", "rules", "--judge", "rules", "--limit", 2, "--bare")
    with ChatServer(lambda body: "What worries you most?") as server:
        given = ("--base-url", server.base_url, "--price", f"{name}=1,2", "-o", tmp_path / "run")
        run("confirmation", patients, "--clinician", name, *others, *given)
    told = " ".join(capsys.readouterr().err.split())
    assert "clinician: the server gave no usable count of tokens with " in told
    assert "so what it cost is not known" in told and "patient: the server" not in told


def test_captions_that_are_empty_are_told_and_no_success_if_there_are_no_others(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("captioning", captions, "--pairs", 4, "--resamples", 20, "--model")
    assert run(*asked, "scripted/silent", "-o", tmp_path / "silent") == 1
    assert execute(["rescore", str(tmp_path / "silent"), "--data", str(captions), "-o", str(tmp_path / "again")]) == 1
    shown = capsys.readouterr()
    told = " ".join(shown.err.split())
    assert told.count("INVALID: 4 of 4 answers to the Expert prompt are empty") == 2 and "FKGL" not in shown.out
    said = iter(["", *["A scan."] * 7])
    monkeypatch.setattr("scripts.run.captioning.script_named", lambda name: lambda messages: next(said))
    assert run(*asked, "scripted/few", "-o", tmp_path / "few") == 0
    assert "1 of 4 answers to the Expert prompt is empty: in Table A5" in " ".join(capsys.readouterr().err.split())


def test_a_table_of_captions_lacks_no_pair_unless_it_may(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with ChatServer(reply="A scan.") as server:
        model = ("--model", "openai-api/local/eyes", "--base-url", server.base_url, "--concurrency", 1)
        line = ("captioning", captions, *model, "--pairs", 5, "--resamples", 20, "--bare", "-o", tmp_path / "run")
        server.faults += [status(422, message="no such picture")]
        assert run(*line, "--max-invalid", 0) == 1 and not (tmp_path / "run" / "run.json").exists()
        assert "1 of 5 cases cannot be scored" in " ".join(capsys.readouterr().err.split())
        server.faults += [status(422, message="no such picture")]
        assert run(*line, "--max-invalid", 0.5) == 0
        record, results = read_run(tmp_path / "run")
        assert record.options["pairs"] == 4 and {one.split_or_group for one in results} == {"4 test pairs"}
        again = ["rescore", str(tmp_path / "run"), "--data", str(captions), "-o", str(tmp_path / "again")]
        assert execute(again) == 0
        assert [one.as_row() for one in read_run(tmp_path / "again")[1]] == [one.as_row() for one in results]
        sent = len(server.requests)
        assert run(*line) == 0 and len(server.requests) == sent + 2
    assert read_run(tmp_path / "run")[0].options["pairs"] == 5


@pytest.mark.parametrize("baseline", ["captioning", "retrieval", "embedding-space"])
def test_an_error_about_rows_says_of_which_file_they_are(
    baseline: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, pair = "image_id,expert_caption,layman_caption\n", "r{},Chest CT.,A scan of the chest.\n"
    given = ["--model", "scripted/prose"] if baseline == "captioning" else ["--embeddings", f"ours={tmp_path}"]
    given += ["--k", "1"] if baseline == "retrieval" else []
    one = tmp_path / "one.csv"
    one.write_text(header + pair.format(1), encoding="utf-8")
    assert run(baseline, one, *given, "-o", tmp_path / "run") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"Error {one}, split test found 1 row expected" in told


@pytest.mark.parametrize("baseline", ["captioning", "retrieval"])
def test_an_error_about_a_row_says_of_which_file_it_is(
    baseline: str, text_only: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--model", "scripted/prose" if baseline == "captioning" else "random:tiny"]
    if baseline == "retrieval":
        pytest.importorskip("open_clip")
    assert run(baseline, text_only, *given, "-o", tmp_path / "run") == 2
    assert f"Error {text_only}, split test: t0 found no image" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("broken", [b"", b"no picture", b"\x89PNG\r\n\x1a\n"])
def test_an_error_about_a_picture_says_whose_it_is(
    broken: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("open_clip")
    pairs = {"id": ["a", "b"], "expert": ["Chest CT.", "Head MRI."], "lay": ["A chest scan.", "A head scan."]}
    pq.write_table(pa.table(pairs | {"image": [picture(1), broken]}), table := tmp_path / "mine.parquet")
    assert run("retrieval", table, "--model", "random:tiny", "--k", "1", "-o", tmp_path / "run") == 2
    assert f"Error {table}, split test: b found it" in " ".join(capsys.readouterr().err.split())


def test_retrieval_names_whose_lay_captions_they_are(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("caption,lay\nCT of the chest.,A chest scan.\nMRI of the head.,A head scan.\n", encoding="utf-8")
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).normal(size=(3, 2, 4)))
    given = ("--embeddings", f"ours={tmp_path / 'mine.npy'}", "--k", "1", "--resamples", "20")
    assert run("retrieval", table, *given, "-o", tmp_path / "run") == 0
    _, results = read_run(tmp_path / "run")
    assert {one.setting for one in results if one.table == "Table A4"} == {"Expert", "Own captions"}
    opened = open_data(str(table))
    names = {None: "SCGR (Ours)", "rules": "SCGR by rules", "openai/m, llm+cui": "LLM + CUI", "vllm/m, llm": "LLM Only"}
    assert all(method_of(replace(opened, method=method)) == name for method, name in names.items())
