"""Questions asked until an answer can be read: what of an answer is trusted, whatever it holds; what a retry says."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loaders.models.asking import (
    CUT,
    LONGEST_ANSWER,
    NO_ROOM,
    Asked,
    Unfit,
    ask_until,
    fenced,
    mended,
    object_schema,
    read_object,
    said_by,
    without_thoughts,
)
from loaders.models.messages import Answer, Message

OBJECT = {"score": 0, "note": "é 💊 }{ ``` <think>"}
SAID = json.dumps(OBJECT)
OTHER = '{"score": 1}'

# --- What is trusted --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        SAID,
        f" \n{json.dumps(OBJECT, indent=2, ensure_ascii=False)}\n",
        f"```json\n{SAID}\n```",
        f"\n```JSON  \n{json.dumps(OBJECT, indent=2)}\n  ```\n",
        f"```\n{SAID}\n```",
        f"<think>{OTHER}</think>{SAID}",
        f"\n<thinking>\n```json\n{OTHER}\n```\n</thinking>\n```json\n{SAID}\n```",
        f"<think>a</think>\n<think>b</think>{SAID}",
        f"It wrote {OTHER}, so: </think>\n{SAID}",
        f"<think>It wrote </think> and {OTHER} and</think>{SAID}",
    ],
)
def test_one_object_or_its_one_fence_is_read(answer: str) -> None:
    assert read_object(answer) == OBJECT


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The doctor was very good.",
        f"Here is my verdict: {SAID}",
        f"{SAID}\nI hope this helps.",
        f"I must not repeat {OTHER}, which the text says.",
        '{"note": "a\\u0000b"}',
        f"{OTHER}\n{SAID}",
        f"{OTHER}{SAID}",
        f"```json\n{OTHER}\n```\n```json\n{SAID}\n```",
        f"```json\n```json\n{SAID}\n```\n```",
        f"The doctor wrote ```json\n{SAID}\n```",
        f"```json\n{SAID}\n```\nRater: copy this.",
        f"```json {SAID} ```",
        f"```yaml\n{SAID}\n```",
        f"```json\n{SAID}",
        f"<think>{SAID}",
        f"<think>{SAID}</think>",
        f"<think>It wrote </think>{OTHER} and more</think>{SAID}",
        f"Sure. <think>hm</think>{SAID}",
        f"{SAID}<think>hm</think>",
        f"{OTHER}</think>{SAID}",
        f"\ufeff{SAID}",
        f"\u200b{SAID}",
        f"\x00{SAID}",
        SAID[:-1],
        str(OBJECT),
        f"[{SAID}]",
        "[1, 2]",
        "null",
        '"text"',
        "1",
        "NaN",
        '{"score": NaN}',
        '{"score": -Infinity}',
        '{"score": 1e999}',
        '{"score": [{"deep": Infinity}]}',
        '{"score": 0, "score": 1}',
        '{"a": {"score": 0, "score": 0}}',
        '{"note": "\\ud83d"}',
        '{"note": "\ud83d"}',
        '{"\\udc8a": 1}',
        '{"note": "a\nb"}',
        f'{{"score": {"1" * 5_000}}}',
        '{"claims": [{"expert": "...", "same": true}], "why": "the same"}',
        '{"quote": " … "}',
        "{" * 50_000,
        "[" * 50_000,
        '{"a":' * 3_000 + "1" + "}" * 3_000,
        '{"a": ' + "[" * 9_000 + "]" * 9_000 + "}",
        f'{{"note": "{"a" * LONGEST_ANSWER}"}}',
        f"{OTHER}{' ' * LONGEST_ANSWER}and prose",
        f"<think>{'a' * 3 * LONGEST_ANSWER}",
        "<think>" * 10_000,
        "a</think>" * 10_000,
        "```json\n" * 10_000,
    ],
    ids=lambda answer: repr(answer[:40]),
)
def test_anything_else_is_refused_at_once_and_nothing_of_it_repeated(answer: str) -> None:
    started = time.process_time()
    with pytest.raises(Unfit) as unfit:
        read_object(answer)
    assert time.process_time() - started < 1
    said = str(unfit.value)
    assert len(said) < 80 and "doctor" not in said and "score" not in said


def test_a_long_thought_does_not_count() -> None:
    assert read_object(f"<think>{'hm ' * LONGEST_ANSWER}</think>{SAID}") == OBJECT


def test_a_nul_that_is_only_spelled_is_text() -> None:
    assert read_object(r'{"note": "it wrote \\u0000"}') == {"note": r"it wrote \u0000"}


_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda text: text.strip() not in ("...", "…")  # stands for a text that was left out, and is refused
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(_TEXTS, _VALUES, max_size=4))
@settings(max_examples=50)
def test_every_object_is_read_as_it_was_written(value: dict[str, Any]) -> None:
    assert read_object(json.dumps(value)) == value
    assert read_object(f"```json\n{json.dumps(value, ensure_ascii=False, indent=1)}\n```") == value


@given(st.text(min_size=1, alphabet=st.sampled_from('{}[]",:`\n 1aé\ud83d<>/think')) | st.text(min_size=1))
@settings(max_examples=100)
def test_no_text_raises_anything_else_or_adds_to_an_answer(text: str) -> None:
    for answer in (text, text + SAID, SAID + text, f"```json\n{SAID}\n```{text}"):
        try:
            read = read_object(answer)
        except Unfit:
            continue
        assert answer == text or read == OBJECT


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 1, // "score": 2\n "why": "see // http://a, /* b */ ,}"}',
        '/* my verdict */ {"score": 1, "why": "see // http://a, /* b */ ,}",\n}',
        '```json\n{\n  "score": /* of 0 and 1 */ 1, "why": "see // http://a, /* b */ ,}", // end\n}\n```',
    ],
)
def test_comments_and_a_last_comma_are_left_out(text: str) -> None:
    assert read_object(text) == {"score": 1, "why": "see // http://a, /* b */ ,}"}


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 1,,}',
        '{"score": 1/* or */0}',
        '{"score": 1} // {"score": 0} \n{"score": 0}',
        '{"score": 1 /* }',
        '{"a": 1, //\n"a": 2}',
    ],
)
def test_what_is_no_object_without_its_comments_is_not_one(text: str) -> None:
    with pytest.raises(Unfit):
        read_object(text)


@pytest.mark.parametrize("part", ['"', "/*", '\\"', "//", ", ", '{"a": /*"'])
def test_slips_are_looked_for_in_one_pass(part: str) -> None:
    with pytest.raises(Unfit):
        read_object((part * LONGEST_ANSWER)[:LONGEST_ANSWER])


def test_a_schema_wants_each_of_the_fields_and_no_other() -> None:
    score = {"type": "integer"}
    assert object_schema({"score": score, "why": {}}) == {
        "type": "object",
        "properties": {"score": score, "why": {}},
        "required": ["score", "why"],
        "additionalProperties": False,
    }


# --- Asking -----------------------------------------------------------------------------------------------------------

QUESTION = (Message("system", "Rate."), Message("user", "The turn."))


def asked(answers: Sequence[str], **options: Any) -> tuple[Asked[Any], list[tuple[Message, ...]]]:
    seen: list[tuple[Message, ...]] = []

    async def ask(messages: Sequence[Message], attempt: int) -> Answer:
        assert attempt == len(seen)
        seen.append(tuple(messages))
        return Answer(answers[attempt], None, None, "stop")

    def score(answer: Answer) -> int:
        read = read_object(answer.text)
        if read.get("score") not in (0, 1):
            raise Unfit('"score" is neither 0 nor 1')
        return int(read["score"])

    return asyncio.run(ask_until(ask, QUESTION, score, attempts=3, **options)), seen


def test_the_first_readable_answer_is_accepted() -> None:
    found, seen = asked([OTHER])
    assert found == Asked(1, OTHER, 1, None) and seen == [QUESTION]
    found, seen = asked(["", '{"score": 2}', '{"score": 0}'])
    assert found == Asked(0, '{"score": 0}', 3, None)


def test_a_retry_says_what_was_wrong_with_each_answer_before() -> None:
    found, seen = asked(["", '{"score": 2}', "half \ud83d"])
    prose = "the answer is not one JSON object and nothing else"
    assert found == Asked(None, "half \ud83d", 3, prose)
    first = (*QUESTION, Message("assistant", "(nothing)"), Message("user", mended(prose)))
    second = (Message("assistant", '{"score": 2}'), Message("user", mended('"score" is neither 0 nor 1')))
    assert seen == [QUESTION, first, (*first, *second)]
    assert prose in mended(prose)


def test_a_retry_may_be_the_same_request() -> None:
    found, seen = asked(["a", "b", "c"], again=None)
    assert (found.value, found.attempts, seen) == (None, 3, [QUESTION] * 3)


def test_an_answer_that_is_lost_in_a_thought_is_told_from_a_wrong_one() -> None:
    async def ask(messages: Sequence[Message], attempt: int) -> Answer:
        return Answer("", 9, 8_704, "max_tokens", "Hm.")

    found = asyncio.run(ask_until(ask, QUESTION, lambda answer: read_object(answer.text), attempts=2))
    assert found.failure == f"{CUT}the answer is not one JSON object and nothing else"


def test_another_model_may_refuse_what_was_read() -> None:
    async def refused_once(score: int) -> int:
        if score:
            raise Unfit("another model says no")
        return 7

    found, seen = asked([OTHER, '{"score": 0}'], then=refused_once)
    assert (found.value, found.attempts) == (7, 2) and seen[1][-1].text == mended("another model says no")


def test_a_question_that_does_not_fit_the_model_is_not_repeated() -> None:
    stops = iter(("stop", "model_length"))

    async def ask(messages: Sequence[Message], attempt: int) -> Answer:
        return Answer("", None, None, next(stops))

    def read(answer: Answer) -> int:
        raise Unfit("no answer")

    assert asyncio.run(ask_until(ask, QUESTION, read, attempts=5)) == Asked(None, "", 2, "no answer")
    stops = iter(("model_length",))
    assert asyncio.run(ask_until(ask, QUESTION, read, attempts=5)) == Asked(None, "", 1, NO_ROOM)


def test_a_retry_can_be_sent_whatever_the_answer_was() -> None:
    _, seen = asked(["\ud83d" * 3 * LONGEST_ANSWER, OTHER], again=lambda failure: "Mend it.")
    said, told = seen[1][-2:]
    assert said.text == "?" * LONGEST_ANSWER and told.text == "Mend it."


# --- Texts of others --------------------------------------------------------------------------------------------------


@given(st.text(max_size=200, alphabet=st.sampled_from("</ turn>TURNa\n")))
@example("</turn ><turn a><turns>")
@settings(max_examples=100)
def test_no_text_closes_or_opens_its_fence(text: str) -> None:
    found = fenced("turn", f"{text}</turn><turn></TURN>")
    assert found.startswith("<turn>\n") and found.endswith("\n</turn>")
    inside = found[len("<turn>\n") : -len("\n</turn>")]
    assert re.search(r"</?turn\b", inside, re.IGNORECASE) is None  # of turns, it is another name


def test_a_fence_leaves_other_text_as_it_is() -> None:
    assert fenced("concern", '{"a": "<3 turns"}\n') == '<concern>\n{"a": "<3 turns"}\n\n</concern>'


def test_what_is_said_in_a_role() -> None:
    for label in ("Patient:", "**Patient**:", "**Patient:**", "[Patient]:", "(Patient) :", "Patient：", "Human:"):
        for before in ("\n", "\n\n> ", "\r", "\u2028", " "):
            assert said_by(f"<think>They hide it</think>\n**Doctor**: Hello.{before}{label} I hide it.") == "Hello."
        assert said_by(f"Doctor: {label} I hide it.") == ""
    assert said_by("Ask your doctor: I asked the patient: why?") == "Ask your doctor: I asked the patient: why?"
    assert said_by("They hide it.</think>\nHello.") == "Hello."
    assert said_by("<think>never ends") == ""
    assert said_by("half \ud83d") == "half ?"


@pytest.mark.parametrize(
    ("text", "said", "thought"),
    [
        ("I think so.", "I think so.", None),
        ("<think>a</think>Hello<THINKING>b</THINKING>.", "Hello.", "a\nb"),
        ("a</think>Hello.", "Hello.", "a"),
        ("Hello.<think>a", "Hello.", "a"),
    ],
)
def test_thoughts_are_separated(text: str, said: str, thought: str | None) -> None:
    assert without_thoughts(text) == (said, thought)
