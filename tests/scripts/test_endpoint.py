"""Products with an API of their own: probes against made ones, and one that plays in a dialogue."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.playing import Player
from baselines.dialogue.run import play_run
from loaders.errors import InputError, ModelError, ModelRefused
from loaders.models.chat import open_model
from loaders.models.endpoint import TALK, read_product
from loaders.models.failures import Unanswered
from loaders.models.messages import Message
from scripts import endpoint
from scripts.cli import execute
from scripts.endpoint.check import _latency
from scripts.loopback_hub.server import Handler, Loopback
from tests.parts.puzzles import game, puzzles, scripted

JSON, SSE = (Path(endpoint.__file__).parent / name for name in ("over_json.py", "over_sse.py"))


class Made(Loopback):
    """A product that remembers the word it was told to, in each session, or `mixed`, in one memory for all."""

    def __init__(self, *, mixed: bool = False, stream: bool = False) -> None:
        super().__init__(_Asked)
        self.mixed, self.stream = mixed, stream
        self.memory: dict[str, str] = {}
        self.body = ""  # what it sends in place of a reply

    @property
    def url(self) -> str:
        return "http://{}:{}/talk".format(*self.address)

    def reply(self, session: str, text: str) -> str:
        key = "all" if self.mixed else session
        if "remember this word" in text:
            self.memory[key] = text.partition("later: ")[2].partition(".")[0]
            return "OK"
        return self.memory.get(key, "I cannot tell.") if "Which word" in text else "Please see somebody about it."


class _Asked(Handler):
    def do_POST(self) -> None:  # noqa: N802 (a name that http.server looks for)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.owner.reply(body["session"], body["message"])
        if self.owner.stream:
            events = [f"data: {json.dumps({'text': part})}\n\n" for part in (said[:2], said[2:])]
            content, kind = "".join([": a comment\n\n", *events, "data: [DONE]\n\n"]).encode(), "text/event-stream"
        else:
            content, kind = json.dumps({"reply": said}).encode(), "application/json"
        content = self.owner.body.encode() or content
        self.head(200, {"Content-Type": kind, "Content-Length": len(content)})
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def product(monkeypatch: pytest.MonkeyPatch, **kind: bool) -> Iterator[Made]:
    with Made(**kind) as made:
        monkeypatch.setenv("PRODUCT_URL", made.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield made


def checked(capsys: pytest.CaptureFixture[str], file: Path, code: int, *more: str) -> dict[str, tuple[str, str]]:
    capsys.readouterr()
    assert execute(["endpoint", "check", str(file), "--json", *more]) == code
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    return {row["probe"]: (row["verdict"], row["found"]) for row in table["rows"]}


@pytest.mark.parametrize(("file", "stream"), [(JSON, False), (SSE, True)], ids=["json", "sse"])
def test_a_product_with_sessions_passes(
    file: Path, stream: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with product(monkeypatch, stream=stream):
        found = checked(capsys, file, 0)
    assert [verdict for verdict, _ in found.values()] == ["ok", "ok", "ok", "note", "ok", "ok"]
    assert "remembers sessions" in found["restart"][1] and "4 remember" in found["two talks are not mixed"][1]


def test_a_product_that_mixes_talks_is_caught(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with product(monkeypatch, mixed=True):
        found = checked(capsys, JSON, 1)
    assert found["two talks are not mixed"][0] == found["restart"][0] == "FAILS"
    assert "words from another session" in found["two talks are not mixed"][1] and found["state is kept"][0] == "ok"


@pytest.mark.parametrize(
    ("file", "body", "found"),
    [
        (JSON, '{"reply": null}', "a reply of type NoneType, not text"),
        (SSE, 'data: {"text": "Do you have pain in"}\n\n', "ConnectionError: the stream ended before [DONE]"),
    ],
    ids=["null", "cut"],
)
def test_no_reply_and_half_a_reply_are_no_reply(
    file: Path, body: str, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with product(monkeypatch) as made:
        made.body = body
        assert checked(capsys, file, 1)["refusal"] == ("FAILS", found)


def written(folder: Path, text: str) -> Path:
    file = folder / "product.py"
    file.write_text(text)
    return file


def test_each_way_to_fail_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgets = (
        "async def reply(session, text):\n    if len(text) > 9999: raise ValueError('too long')\n    return 'Hm.'\n"
    )
    found = checked(capsys, written(tmp_path, forgets), 1)
    assert found["state is kept"] == ("FAILS", "the word was harbour, the reply: Hm.")
    assert found["two talks are not mixed"] == ("ok", "four at a time; 0 remember their word, none another's")
    assert found["long text"] == ("FAILS", "ValueError: too long") and found["restart"][0] == "note"
    ends = "import asyncio, sys\nasync def reply(session, text):\n    if len(text) > 9999: sys.exit(1)\n"
    found = checked(capsys, written(tmp_path, f"{ends}    raise asyncio.CancelledError\n"), 1)
    assert found["long text"] == ("FAILS", "its reply ended with SystemExit")
    assert found["refusal"] == ("FAILS", "its reply ended with CancelledError")
    slow = "import asyncio\nasync def reply(session, text):\n    await asyncio.sleep(5)\n"
    found = checked(capsys, written(tmp_path, slow), 1, "--timeout", "0.1")
    assert found["latency"] == ("FAILS", "no answer") and "no answer in 0.1 s" in found["refusal"][1]
    repeats = "async def reply(session, text):\n    raise ValueError('no:\\n' + text)\n"
    verdict, told = checked(capsys, written(tmp_path, repeats), 1)["long text"]
    assert verdict == "FAILS" and told.startswith("ValueError: no: I have had this cough") and len(told) < 250


def test_answers_that_take_longer_than_the_limit_are_no_success() -> None:
    assert _latency([0.5, 1.2], 1.0).passed
    slow = _latency([0.5, 12.0], 1.0)  # what blocks the loop cannot be given up
    assert slow.passed is False and "longest 12.00 s" in slow.found and "asyncio.to_thread" in slow.found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def reply(session, text): ...", "a reply that is not async"),
        ("async def reply(session, text):\n    yield 'Hello.'\n", "a reply that yields parts instead of returning a"),
        ("x = 1", "no function reply"),
        ("async def reply(text): ...", r"reply\(text\)"),
        ("async def reply(session, *, text): ...", "expected async def reply"),
        ("async def reply(session, text, images, model): ...", "its own need defaults"),
        ("async def reply(session, text, apikey): ...", "its own need defaults"),  # it was given the pictures
        ("async def reply(session, images, text): ...", "or images besides"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("x =", "SyntaxError, line 1"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import helper", "copy helper.py into it"),
    ],
)
def test_an_unusable_file_is_one_error(text: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("x = 1")
    with pytest.raises(InputError, match=found):
        open_model(f"endpoint:{written(tmp_path, text)}")


def test_a_busy_product_is_waited_for_as_in_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("scripts.endpoint.check.asyncio.sleep", sleep)
    text = (
        "import urllib.error\nasked = []\nasync def reply(session, text):\n asked.append(text)\n"
        f" if len(asked) % 4 == 1: raise {http(429)}\n"
        " return 'x' * 300_000 if len(text) > 1000 else 'OK'"
    )
    found = checked(capsys, written(tmp_path, text), 1)
    assert found["refusal"][0] == "note" and found["latency"][0] == "ok" and waits and set(waits) <= {1, 2, 4}
    assert found["long text"] == ("FAILS", "a reply of 300,000 characters; a run takes 200,000 at most")


def test_a_file_may_hold_what_a_module_may(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Talk:\n    word: str = ''\n"
        "async def reply(session, text, *, limit=9): return 'OK'\n"
    )
    assert checked(capsys, written(tmp_path, text), 1)["refusal"] == (
        "note",
        "it replied: OK. Whether that refuses is for you to read",
    )


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            "",
            "consultation --setting dialogue (it has no third parameter, images, so it plays no setting with a photo).",
        ),
        (", images", "consultation --setting image+basic | image+all | dialogue | dialogue+image | "),
    ],
)
def test_the_check_says_what_the_function_can_play(
    parameters: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A function of two parameters passed every probe, and was refused by the first request of a run with photos."""
    file = written(tmp_path, f"async def reply(session, text{parameters}): return 'OK'\n")
    assert execute(["endpoint", "check", str(file)]) == 1  # it remembers nothing
    assert f"Once it passes, it can play confirmation, intervention, and {said}" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(("said", "verdict"), [("'yellow, Black' if images else 'OK'", "ok"), ("'OK'", "note")])
def test_a_product_that_takes_pictures_is_shown_one(
    said: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that leaves it out in silence plays on; one that says nothing of colours may see all the same."""
    found = checked(capsys, written(tmp_path, f"async def reply(session, text, images): return {said}\n"), 1)
    assert found["picture"][0] == verdict and list(found)[2] == "latency"
    assert "picture" not in checked(capsys, written(tmp_path, "async def reply(session, text): return 'OK'\n"), 1)


async def no_wait(_: float) -> None:
    """Waits for nothing."""


# --- In a dialogue ----------------------------------------------------------------------------------------------------

HOST = """
asked = []
async def reply(session, text, images):
    asked.append((session, text, len(images)))
    return f"Is it thing {sum(one == session for one, _, _ in asked)}?"
"""


def asked(model: Any) -> list[tuple[str, str, int]]:
    return list(model.product.reply.__globals__["asked"])


def test_it_is_sent_what_is_new_and_each_case_is_a_session(tmp_path: Path) -> None:
    host = open_model(f"endpoint:{written(tmp_path, HOST)}")
    players: dict[str, Player] = {**scripted(), "host": host}
    played = play_run(game(), puzzles(3), players, tmp_path / "run", bare=True)
    assert len(played.records) == 3 and played.models[1].name == "endpoint:product.py"
    sessions: dict[str, list[tuple[str, int]]] = {}
    for session, text, images in asked(host):
        sessions.setdefault(session, []).append((text, images))
    assert len(sessions) == 3 and {len(texts) for texts in sessions.values()} == {3}
    for first, *others in sessions.values():
        assert first[0].startswith("Guess what the guest has.") and first[1] == 1
        assert all("Guess" not in text and not images for text, images in others)
    play_run(game(), puzzles(3), players, tmp_path / "run", bare=True)
    assert len(asked(host)) == 9  # what was said is not said again


def test_another_file_of_the_same_name_is_another_product(tmp_path: Path) -> None:
    host = open_model(f"endpoint:{written(tmp_path, HOST)}")
    play_run(game(), puzzles(1), {**scripted(), "host": host}, tmp_path / "run", bare=True)
    edited = HOST.replace("Is it thing", "May it be thing")
    for text, said in ((edited, 3), (edited, 0), (HOST, 0)):  # each version has its answers, whichever was last
        host = open_model(f"endpoint:{written(tmp_path, text)}")
        play_run(game(), puzzles(1), {**scripted(), "host": host}, tmp_path / "run", bare=True)
        assert len(asked(host)) == said


def told(model: Any, talk: str, *texts: str) -> str:
    """The answer to a talk of these texts, ours and its in turn."""
    roles = ["user", "assistant"] * len(texts)
    messages = [Message(role, text) for role, text in zip(roles, texts, strict=False)]  # type: ignore[arg-type]

    async def ask() -> str:
        TALK.set(talk)
        return str((await model.ask(messages, temperature=0, max_tokens=9)).text)

    return asyncio.run(ask())


def test_an_edited_file_is_run_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    for said in ("one", "two"):
        file = tmp_path / "product.py"
        file.write_text(f"async def reply(session: str, text: str) -> str:\n    return {said!r}\n")
        os.utime(file, (0, 0))  # as copies of a repository have one time
        assert asyncio.run(read_product(file).reply("", "")) == said


def test_an_unknown_talk_is_sent_in_full(tmp_path: Path) -> None:
    host = open_model(f"endpoint:{written(tmp_path, HOST)}")
    told(host, "one", "Hello.")
    told(host, "one", "Hello.", "as it was cleaned", "It hurts.")
    told(host, "two", "Hello.")  # the same first words, of another case
    told(host, "three", "Hello.", "Since when?", "For days.")  # as after a stop
    (first, second, other, late) = asked(host)
    assert first[0] == second[0] and second[1] == "It hurts." and len({first[0], other[0], late[0]}) == 3
    assert late[1] == "They said:\nHello.\n\nYou said:\nSince when?\n\nThey said:\nFor days."


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("async def reply(session, text): raise ValueError(text)", ModelError, "ended with ValueError"),
        ("async def reply(session, text): raise OSError('http://x/?token=hidden')", ModelError, "ended with OSError"),
        (
            "async def reply(session, text):\n try:\n  1 / 0\n except Exception as e: raise OSError('hidden') from e",
            ModelError,
            "ended with OSError",
        ),
        ("import sys\nasync def reply(session, text): sys.exit('hidden')", ModelError, "ended with SystemExit"),
        (
            "import os\nasync def reply(session, text): return os.environ['URL_OF_NOBODY']",
            ModelError,
            "failed: its reply needs the environment variable URL_OF_NOBODY, which is not set",
        ),
        ("async def reply(session, text): return None", ModelError, "in 6 tries; the last error: its reply was None"),
        ("async def reply(session, text): return 7", ModelError, "its reply was int"),
        ("async def reply(session, text): return text * 20_000", ModelError, "its reply has no end"),
    ],
)
def test_what_goes_wrong_repeats_nothing(text: str, kind: type[ModelError], found: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=found) as caught:
        told(open_model(f"endpoint:{written(tmp_path, text)}", sleep=no_wait), "one", "a hidden thing")
    assert "hidden" not in str(caught.value)


RECOVERS = """
import urllib.error
asked, failures = [], list(FAILURES)
async def reply(session, text):
    asked.append((session, text, 0))
    if len(asked) > 1 and failures:
        raise failures.pop()
    return "Since when?"
"""


def http(status: int, headers: str = "{}") -> str:
    return f"urllib.error.HTTPError('http://x', {status}, 'a hidden thing', {headers}, None)"


@pytest.mark.parametrize(
    "failure", [http(500), http(425), http(429), "ConnectionResetError()", "TimeoutError()", "KeyError('reply')"]
)
def test_a_transient_failure_is_asked_again_in_a_new_session(failure: str, tmp_path: Path) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    text = RECOVERS.replace("FAILURES", f"[{failure}, {failure}]")
    host = open_model(f"endpoint:{written(tmp_path, text)}", sleep=sleep)
    told(host, "one", "Hello.")
    assert told(host, "one", "Hello.", "Since when?", "For days.") == "Since when?" and waits == [1, 2]
    (first, second, third, last) = asked(host)
    # the product may have taken in the message that it did not answer
    assert first[0] == second[0] and second[1] == "For days." and len({second[0], third[0], last[0]}) == 3
    assert third[1] == last[1] == "They said:\nHello.\n\nYou said:\nSince when?\n\nThey said:\nFor days."


@pytest.mark.parametrize(
    ("failure", "tries", "found"),
    [
        (http(502), 3, "gave no answer in 3 tries; the last error: HTTP 502"),
        (http(400), 1, "refused the request or failed: HTTP 400"),
        (http(401), 1, "HTTP 401"),
        ("NameError('x')", 1, "its reply ended with NameError"),
        ("SystemExit(1)", 1, "its reply ended with SystemExit"),
    ],
)
def test_other_failures_end_the_case(failure: str, tries: int, found: str, tmp_path: Path) -> None:
    text = RECOVERS.replace("FAILURES", f"[{failure}] * 9").replace("> 1", "> 0")
    host = open_model(f"endpoint:{written(tmp_path, text)}", max_retries=2, sleep=no_wait)
    with pytest.raises(ModelError, match=found) as caught:
        told(host, "one", "a hidden thing")
    assert len(asked(host)) == tries and "hidden" not in str(caught.value)


def test_the_product_says_how_long_to_wait(tmp_path: Path) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    failure = http(429, "{'Retry-After': '7'}")
    text = RECOVERS.replace("FAILURES", f"[{failure}]").replace("> 1", "> 0")
    assert told(open_model(f"endpoint:{written(tmp_path, text)}", sleep=sleep), "one", "Hello.") == "Since when?"
    assert waits == [7]


def test_a_product_may_name_the_time_to_ask_again() -> None:
    later = formatdate(time.time() + 90, usegmt=True)
    assert 80 < Unanswered("", 429, {"Retry-After": later}).retry_after <= 90
    for past in ("Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-1", "Wed, 99 Oct 2015 07:28:00 GMT"):
        assert Unanswered("", 429, {"Retry-After": past}).retry_after == 0


@pytest.mark.parametrize(
    ("parameters", "given"),
    [
        ("images", 1),
        ("images=()", 1),
        ("temperature=0.5, *, pictures=None", 1),
        ("temperature=0.5", 0),
        ("*rest, **more", 0),
        ("*, temperature=0.5", 0),
    ],
)
def test_pictures_go_where_they_are_wanted(parameters: str, given: int, tmp_path: Path) -> None:
    text = f"async def reply(session, text, {parameters}): return repr(sorted(locals().items()))"
    product = read_product(written(tmp_path, text))
    said = asyncio.run(product.say("one", "Look.", [b"picture"]))
    assert said.count("[b'picture']") == given and ("temperature" not in said or "('temperature', 0.5)" in said)


def test_pictures_need_a_place(tmp_path: Path) -> None:
    model = open_model(f"endpoint:{written(tmp_path, 'async def reply(session, text): return text')}")
    message = Message("user", "Look.", (puzzles(1)[0].picture,))
    with pytest.raises(ModelRefused, match="takes no pictures"):
        asyncio.run(model.ask([message], temperature=0, max_tokens=9))
