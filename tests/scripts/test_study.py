"""`bedside study` on the command line: from nothing to an export, and what is refused."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
import signal
import socket
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import baselines.study
from baselines.medconceal import clinician
from baselines.study import keys
from baselines.study.design import TASKS, read_study
from baselines.study.site import Site
from loaders.errors import InputError, MissingExtra
from scripts.bench.postgres import free_port
from scripts.cli import execute
from scripts.study import serve
from scripts.study.serve import Serving, rehearsed, rehearsing
from tests.parts.chat_server import ChatServer, status
from tests.parts.processes import printed, started
from tests.parts.study_talks import Visitor, at_work, links, visiting
from tests.parts.waiting import PATIENCE, wait_until


def listened(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[Site]:
    """Runs `serve` up to the moment at which it would listen; the site."""
    sites: list[Site] = []
    monkeypatch.setattr(serve, "_listen", lambda site, options, origins, listener: sites.append(site))
    monkeypatch.setattr(serve, "_bound", lambda options: socket.socket())  # tests beside this one have the same port
    code = execute(["study", "serve", *words])
    assert bool(sites) == (code == 0), words
    return sites


def test_a_port_in_use_is_told_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert execute(["study", "serve", "sample", str(tmp_path / "study"), "--rehearsal", "--port", port]) == 2
    said = capsys.readouterr()
    assert f"--port {port}" in said.err and "in use" in said.err and "/c/" not in said.out
    assert not (tmp_path / "study").exists()


def test_a_connection_is_kept_for_longer_than_any_proxy_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 5 s it was closed, while a proxy sent the next form on it: what was sent was lost (502)."""
    kept = []
    monkeypatch.setattr("uvicorn.Server.run", lambda server, **_: kept.append(server.config.timeout_keep_alive))
    words = ["study", "serve", "sample", str(tmp_path / "study"), "--rehearsal", "--port", str(free_port())]
    assert execute([*words, "--task", "pairs"]) == 0
    assert kept[0] > 600  # Google's; Caddy's is 120, nginx' and Amazon's 60


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, each command ended with a traceback."""
    monkeypatch.setattr("loaders.errors.missing", lambda extra: "sqlalchemy")
    with pytest.raises(MissingExtra, match=r"sqlalchemy: is not installed .*\[study\]"):
        importlib.reload(baselines.study)


def test_what_is_installed_and_broken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of another libc: a traceback."""
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", ModuleType("without what it should have"))
    with pytest.raises(MissingExtra, match=r"cannot be imported .*\[study\]"):
        importlib.reload(keys)


def test_who_follows_a_link_at_once_waits_for_the_page_and_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The links are printed a second before the server answers."""

    def connected(site: Site, options: serve.Serving, origins: list[str], listener: socket.socket) -> None:
        with closing(site), socket.create_connection(listener.getsockname()):
            pass

    monkeypatch.setattr(serve, "_listen", connected)
    words = ["study", "serve", "sample", str(tmp_path / "study"), "--rehearsal", "--port", str(free_port())]
    assert execute([*words, "--task", "pairs"]) == 0


def test_from_nothing_to_an_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study"
    (site,) = listened(monkeypatch, "sample", str(study), "--rehearsal")  # one command from nothing
    said = capsys.readouterr()
    assert "Stand-in: sample data; a rehearsal" in said.err and "Coordinator's login" in said.out
    (token,) = (line.rpartition("/i/")[2] for line in said.out.splitlines() if "/i/" in line)
    with visiting(site) as client:
        person = Visitor(client, token)
        person.do("consent", answer="agree")
        person.do("survey", years="1 to 5 years", place="Somewhere else")
        person.do("instructions")
        person.do("practice", text="Hello.")
        person.do("feedback")
        person.do("comprehension", check0="0", check1="0")
        person.do("begin")
        person.converse()
    capsys.readouterr()
    assert execute(["study", "invite", str(study), "--count", "2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["person"] for row in rows] == ["P002", "P003"]
    assert all(row["link"].startswith("http://localhost:8765/i/") for row in rows)
    assert execute(["study", "export", str(study), "-o", str(tmp_path / "people")]) == 0
    told = json.loads((tmp_path / "people" / "study.json").read_text())
    assert told["rehearsal"] and told["stand_in"] == "sample data; a rehearsal"
    assert told["consented"] == {told["consent"]: 1}
    design = (study / "study.yaml").read_text(encoding="utf-8")
    (study / "study.yaml").write_text(design.replace("each_case: 5", "each_case: 9"), encoding="utf-8")
    capsys.readouterr()
    assert execute(["study", "pay", str(study)]) == 0
    assert "were changed since they were served" in " ".join(capsys.readouterr().err.split())
    (study / "study.yaml").write_text(design, encoding="utf-8")
    assert execute(["study", "pay", str(study)]) == 0 and "changed since" not in capsys.readouterr().err
    assert execute(["study", "erase", str(study), "P001", "P017"]) == 2  # and nobody is deleted
    capsys.readouterr()
    assert execute(["study", "export", str(study), "-o", str(tmp_path / "still"), "--quiet"]) == 0
    assert "stand-in" in capsys.readouterr().err and (tmp_path / "still" / "confirmation.jsonl").exists()
    assert execute(["study", "erase", str(study), "P001"]) == 0
    assert execute(["study", "close", str(study)]) == 0
    capsys.readouterr()
    assert execute(["study", "invite", str(study), "--count", "1"]) == 2
    assert "is closed" in capsys.readouterr().err
    assert execute(["study", "export", str(study), "-o", str(tmp_path / "again")]) == 0
    assert "2 erased" in capsys.readouterr().out


def test_a_rehearsal_that_starts_again_invites_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("sample", str(tmp_path / "study"), "--rehearsal")

    def served_as() -> tuple[Site, str, str]:
        (site,) = listened(monkeypatch, *words)
        ((name, token),) = re.findall(r"Try it as (P\d+) .*/i/(\S+)", capsys.readouterr().out)
        return site, name, token

    site, name, first = served_as()
    with visiting(site) as client:
        assert client.get(f"/i/{first}").status_code == 200 and name == "P001"
    site, name, second = served_as()  # nobody had begun: the link printed last is theirs
    with visiting(site) as client:
        assert name == "P001" and client.get(f"/i/{first}").status_code == 404
        Visitor(client, second).do("consent", answer="agree")
    site, name, third = served_as()
    with visiting(site) as client:
        person = Visitor(client, third)  # goes on, in a browser that knows nothing of it
        assert name == "P001" and person.title == "About you"
        person.do("stop")
        person.do("leave", answer="keep")
    assert served_as()[1] == "P002"


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_is_asked_to_end_has_ended_well(sign: signal.Signals, tmp_path: Path) -> None:
    port = free_port()
    process = started("-m", "scripts", "study", "serve", "sample", tmp_path / "s", "--rehearsal", "--port", port)
    wait_until(lambda: answers(port))
    process.send_signal(sign)
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "Ctrl-C stops the server" in said and "Traceback" not in errors, errors


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as asking:
        asking.sendall(b"GET /study.css HTTP/1.0\r\n\r\n")
        return bool(asking.recv(1))
    return False


def test_a_rehearsal_of_any_task_begins_without_datasets(tmp_path: Path) -> None:
    """To import it takes longer than all else until the first page."""
    code = """if True:
        import sys
        from pathlib import Path
        from baselines.study.design import TASKS
        from scripts.study.serve import Serving, rehearsing
        import baselines.study.routes, loaders.medconceal, loaders.medlaybench_v, loaders.threemdbench
        for task in TASKS:
            study = Path(sys.argv[1]) / task
            rehearsing(Serving(data="sample", study=study, task=task, rehearsal=True)).close()
        print({"datasets", "pandas"} & set(sys.modules))"""
    assert printed("-c", code, tmp_path) == "set()\n"


@pytest.mark.parametrize("task", ["intervention", "rubric"])
def test_a_task_is_served_from_the_samples_by_one_command(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("sample", str(tmp_path / "study"), "--rehearsal", "--task", task)
    (site,) = listened(monkeypatch, *words)
    said = capsys.readouterr()
    assert "Stand-in: " in said.err and site.length >= 2 and site.study.design.tasks == (task,)
    (token,) = (line.rpartition("/i/")[2] for line in said.out.splitlines() if "/i/" in line)
    with visiting(site) as client:
        person = Visitor(client, token)
        person.do("consent", answer="agree")
        assert person.title == "About you"
    listened(monkeypatch, "sample", str(tmp_path / "study"), "--rehearsal")[0].close()  # the folder says which
    other = next(name for name in TASKS if name != task)
    assert listened(monkeypatch, *words[:-1], other) == []
    assert "--task" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--task", "pairs"), "only with --rehearsal"),
        ((), "TODO in study.yaml, consent.md"),
        (("--rehearsal", "--host", "0.0.0.0"), "reachable by others without HTTPS"),
        (("--rehearsal", "--behind-proxy"), "the proxy's https:// address"),
        (("--rehearsal", "--behind-proxy", "--address", "http://study.example"), "the proxy's https:// address"),
        (("--rehearsal", "--policy", "nobody"), "--policy"),
    ],
)
def test_what_is_not_served(
    words: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(["study", "new", "confirmation", "-o", str(tmp_path)]) == 0
    assert not listened(monkeypatch, "sample", str(tmp_path), *words)
    assert why in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("data", ["sample", "a/release"])
@pytest.mark.parametrize("tasks", ["confirmation, diagnosis", "pairs, rubric"])
def test_tasks_of_two_sources_are_refused_before_either_is_opened(
    tasks: str, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The advice was to load the one as the other, which is refused as well."""
    assert execute(["study", "new", "pairs", "-o", str(tmp_path)]) == 0
    file = tmp_path / "study.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("tasks: [pairs]", f"tasks: [{tasks}]"), encoding="utf-8")
    assert execute(["study", "check", str(tmp_path), data]) == 2
    assert "expected tasks of one source" in " ".join(capsys.readouterr().err.split())


def test_other_prompts_are_refused_once_somebody_has_talked(tmp_path: Path) -> None:
    """They played on in the same conversations, and no export said by which."""
    serving = Serving(data="sample", study=tmp_path / "s", rehearsal=True)
    rehearsed(serving, people=1)
    changed = replace(serving, prompts=tmp_path / "prompts")
    (tmp_path / "prompts").mkdir()

    def change(name: str) -> None:
        text = clinician.prompts().texts[name]
        (tmp_path / "prompts" / f"{name}.md").write_text(f"{text}\n\nBe brief.", encoding="utf-8")

    change("judge_style")  # which no patient reads
    rehearsing(changed).close()
    change("patient")
    with pytest.raises(InputError, match="was started with other models: .*prompts [0-9a-f]{16} "):
        rehearsing(changed)


def test_rules_play_in_a_rehearsal_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["study", "new", "confirmation", "-o", str(tmp_path)]) == 0
    for name in ("study.yaml", "consent.md"):
        path = tmp_path / name
        path.write_text(path.read_text().replace("TODO", "Done, by"))
    for words, why in (
        ((), "no model"),
        (("--patient", "scripted/plain", "--evaluator", "rules"), "a model in a real study"),
        (("--patient", "template", "--evaluator", "openai/gpt-4o-mini"), "a model in a real study"),
    ):
        assert not listened(monkeypatch, "sample", str(tmp_path), *words)
        assert why in " ".join(capsys.readouterr().err.split())
    path = tmp_path / "study.yaml"
    path.write_text(path.read_text().replace("tries_a_link: 20", "tries_a_link: 20, dollars: 50"))
    models = ("--patient", "scripted/plain", "--evaluator", "scripted/rules", "--rehearsal")
    assert not listened(monkeypatch, "sample", str(tmp_path), *models)
    assert "no price for scripted/plain, scripted/rules" in " ".join(capsys.readouterr().err.split())


def test_models_are_tried_before_anybody_talks_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong key showed only when the first person talked, in a conversation that broke off."""
    monkeypatch.setenv("LOCAL_API_KEY", "sk-of-this-test")
    with ChatServer("It is my knee. Private words.") as server:
        models = ("--patient", "openai-api/local/m", "--base-url", server.base_url)
        server.faults.append(status(401, message="Private words."))
        for answers in (False, True):
            (site,) = listened(monkeypatch, "sample", str(tmp_path / "study"), "--rehearsal", *models)
            said = capsys.readouterr()
            with visiting(site) as client:  # in another event loop
                if answers:
                    person = at_work(client, links(site)[0])
                    person.say("Hello.")
                    assert person.replies == ["It is my knee. Private words."]
            assert ("have played a first turn" in said.out) is answers and "Private" not in said.out + said.err
            assert ("openai-api/local/m refused the API key (HTTP 401)" in " ".join(said.err.split())) is not answers
        assert len(server.requests) == 3
        server.faults += [status(503)] * 9
        listened(monkeypatch, "sample", str(tmp_path / "study"), "--rehearsal", *models)
        assert "(HTTP 503)" in " ".join(capsys.readouterr().err.split()) and len(server.requests) == 4


@pytest.mark.parametrize("task", ["intervention", "pairs", "diagnosis", "rubric", "relevance"])
def test_a_new_study_of_each_task_can_be_read(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["study", "new", task, "-o", str(tmp_path)]) == 0
    assert read_study(tmp_path).design.tasks == (task,)
    assert execute(["study", "new", task, "-o", str(tmp_path)]) == 2  # nothing is overwritten
    texts = ("survey", "comprehension", "debriefing")
    whole = {"title": "x", "contact": "y", "tasks": f"[{task}]"}
    written = read_study(tmp_path).design
    (tmp_path / "study.yaml").write_text("".join(f"{name}: {value}\n" for name, value in whole.items()))
    short = read_study(tmp_path).design  # raters were asked about the clock of a conversation that they never had
    assert [getattr(short, name) for name in texts] == [getattr(written, name) for name in texts]
    for field, text in (("tasks", "[talk]"), ("contact", "' '"), ("setting", "image+some")):
        lines = [f"{name}: {value}\n" for name, value in (whole | {field: text}).items()]
        (tmp_path / "study.yaml").write_text("".join(lines))
        assert execute(["study", "check", str(tmp_path)]) == 2
        assert field in capsys.readouterr().err


def test_a_command_that_finds_no_study_makes_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "our study"
    assert execute(["study", "new", "pairs", "-o", str(folder)]) == 0
    assert f"then run: bedside study check '{folder}'" in " ".join(capsys.readouterr().out.split())
    for words in (["pay"], ["close"], ["erase", "P001"], ["export", "-o", str(tmp_path / "out")]):
        assert execute(["study", words[0], str(folder), *words[1:]]) == 2
        assert "nobody has been invited yet" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["consent.md", "instructions.md", "study.yaml"]


def test_a_text_that_still_says_todo_or_nothing_is_told_also_quietly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A question of the survey was not looked at; and people agreed to an empty text."""
    folder = tmp_path / "study"
    assert execute(["study", "new", "pairs", "-o", str(folder)]) == 0
    for name in ("study.yaml", "consent.md"):
        text = (folder / name).read_text(encoding="utf-8").replace("TODO", "A")
        text = text.replace("Where do you practise?", "TODO询问地点")  # no space, as in such scripts
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "instructions.md").write_text("\n", encoding="utf-8")
    capsys.readouterr()
    assert execute(["study", "check", str(folder), "--quiet"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "texts: TODO in study.yaml, instructions.md (empty)\n" in said.err
    assert "finish the texts" in said.err


def test_a_check_counts_requests_at_the_limit_of_turns_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """People may write up to `most_turns` messages: the budget has to hold for those."""
    folder = tmp_path / "study"
    assert execute(["study", "new", "confirmation", "-o", str(folder)]) == 0
    design = (folder / "study.yaml").read_text(encoding="utf-8")
    (folder / "study.yaml").write_text(design.replace("most_turns: 40", "most_turns: 16"), encoding="utf-8")
    capsys.readouterr()
    assert execute(["study", "check", str(folder), "sample", "--patient", "M", "--price", "M=1,2", "--json"]) == 1
    costs = json.loads(capsys.readouterr().out)["tables"][-1]
    assert costs["title"].endswith("about 8 turns each, at most 16")
    patient = next(row for row in costs["rows"] if row["role"] == "patient")
    assert patient["requests at most"] == 2 * patient["requests"] and patient["US$ at most"] > 2 * patient["US$"] > 0


def test_an_option_for_models_says_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "study")
    rehearsal = ("sample", folder, "--rehearsal", "--task", "pairs")
    for more in (("--base-url", "http://localhost:1"), ("--patient", "M"), ("--price", "M=1,2")):
        assert not listened(monkeypatch, *rehearsal, *more)
        assert f"Error {more[0]}" in capsys.readouterr().err
    for data in ((), ("sample",)):
        assert execute(["study", "check", folder, *data, "--patient", "M", "--price", "M=1,2"]) == 2
        assert "nothing to count" in capsys.readouterr().err
