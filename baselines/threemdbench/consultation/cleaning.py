"""What a model said -> words that can be sent on to the other side. No model is trusted with its own role.

Nothing is ever dropped without a flag on the turn:

    max_tokens     the answer breaks off at the token limit
    filtered       the provider's filter stopped it
    no_room        the conversation no longer fits the model
    control        control and invisible characters were removed
    special_token  so were tokens of chat templates, such as <|im_end|> or [INST]
    thought        a reasoning model's thoughts were kept from the other side
    reasked        REASONING and ANSWER were missing and asked for again
    unparsed       they were still missing: what looked like the answer was sent, or nothing
    label          a label for the speaker itself, such as "Doctor:", was removed
    other_role     it went on to speak for somebody else, and is cut there
    break          the patient's BREAK was removed; the text before or after it counts
    truncated      it was longer than MAX_CHARS
    empty          nothing was left: PLACEHOLDER stands for it, and counts as an utterance
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from baselines.threemdbench.consultation.reading import literal
from baselines.threemdbench.consultation.record import Role
from loaders.models.asking import Unfit, without_thoughts
from loaders.models.messages import Answer

FLAGS = (
    "max_tokens", "filtered", "no_room", "control", "special_token", "thought", "reasked", "unparsed", "label",
    "other_role", "break", "truncated", "empty",
)  # fmt: skip
PLACEHOLDER = "[no reply]"
MAX_CHARS = 4_000  # 512 tokens are about 2,500 characters
_MAX_RAW = 20_000
_MAX_NESTED = 20

_STOPS = {"max_tokens": "max_tokens", "content_filter": "filtered", "model_length": "no_room"}

# All of Unicode's invisible control, surrogate and format characters; joiners stay within emoji and scripts.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|(?<![^\x00-\x7f])[\u200c\u200d]"
)
_LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")

# What opens somebody's turn in a chat template becomes a label, so that one rule says who may speak.
_HEADER = re.compile(
    r"<\|start_header_id\|>\s*(\w{1,20})\s*(?:<\|end_header_id\|>)?"
    r"|<(?:\|im_start\||start_of_turn|\|turn)>\s*(\w{1,20})"
    r"|<[|｜](user|assistant|system|model)[|｜]>",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(r"\[(/?)INST\]", re.IGNORECASE)
_BRACKETS = re.compile(r"[<>\[\]]")
_TOKEN = re.compile(
    r"<[|｜][^<>\n]{0,60}?[|｜]>|<</?SYS>>|\[/?(?:IMG|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]"
    r"|</?(?:s|bos|eos|pad|unk|mask|image|img|video|end_of_turn|start_of_turn|start_of_image|end_of_image"
    r"|image_soft_token|end_of_utterance|turn\||\|turn)>",
    re.IGNORECASE,
)

_MARKS = r"[ \t>*_#\-\"'`“‘(\[]*"
_SPEAKER = r"(?:patient|doctor|user|human|system|assistant|model|assessor|judge)"
_ONE_LABEL = rf"{_SPEAKER}(?:(?:['’]s)?[ \t]+(?:reply|response|answer))?[ \t*_)\]\"”]*[:：][*_]*[ \t]*"
# One or, as in "Doctor: Patient: …", several of which each may be somebody else's.
_LABEL = re.compile(
    rf"(?:^{_MARKS}|(?<=[.!?…)\"”\]])[ \t]+[*_]*(?=(?-i:[A-Z])))({_ONE_LABEL}(?:{_MARKS}{_ONE_LABEL})*)",
    re.IGNORECASE | re.MULTILINE,
)
_OWN: dict[Role, frozenset[str]] = {
    "patient": frozenset({"patient", "assistant", "model"}),
    "doctor": frozenset({"doctor", "assistant", "model"}),
}

_EXACT_REASONING, _EXACT_ANSWER = "reasoning", "answer"
# What doctors write instead. No word by which an answer may explain something to the patient is among them.
_WHOSE = r"(?:(?:my|the|clinical|medical|diagnostic|internal|private|hidden|final|doctor['’]s)[ \t]+){0,3}"
_REASONING = (
    rf"{_WHOSE}(?:reasoning|rationale|thoughts?(?:[ \t]+process)?|thinking|chain[ -]of[ -]thoughts?|scratchpad)"
)
_ANSWER = (
    rf"{_WHOSE}(?:answer|response|reply|question|message|utterance)"
    r"(?:[ \t]+(?:to|for)[ \t]+(?:the[ \t]+|my[ \t]+)?patient)?"
)


def _labels(words: str) -> re.Pattern[str]:
    """A label in any case at the start of a line, also alone on it; after a sentence if it begins with a capital; in
    capitals anywhere, at the start of a line also without a colon; bold or in brackets; and as the name of a field."""
    around = "*_\"'”’)\\]】 \\t"
    return re.compile(
        rf"^[ \t*_#>\-\[(\"'“‘{{【]*(?:(?:step[ \t]*)?\d{{1,2}}[.:)][ \t*_]*)?{words}"
        rf"(?:[{around}]*(?:[:：=]|[ \t][-–—][ \t])[*_]*|[{around}#]*$)"
        rf"|(?<=[.!?…;)\"”'’\]])[ \t]+[*_\[(]*(?=(?-i:[A-Z])){words}[{around}]*[:：][*_]*"
        rf"|(?<=\s)[*_\[(]*(?=(?-i:[A-Z]{{4}})){words}(?-i:(?<=[A-Z]))[{around}]*[:：][*_]*"
        rf"|[\"']{words}[\"']\s*[:：]|\*\*{words}\*\*|[\[【]{words}[\]】]"
        rf"|^[ \t*_#>\-]*(?=(?-i:[A-Z]{{4}})){words}(?-i:(?<=[A-Z]))(?=\s)",
        re.IGNORECASE | re.MULTILINE,
    )


# The requested words are read first: an answer may hold a "Question:".
_LABEL_REASONING, _LABEL_ANSWER = _labels(_EXACT_REASONING), _labels(_EXACT_ANSWER)
_ANY_REASONING, _ANY_ANSWER = _labels(_REASONING), _labels(_ANSWER)
_FIELD_REASONING, _FIELD_ANSWER = (
    re.compile(rf"[\s_]*{words}[\s_]*", re.IGNORECASE) for words in (_REASONING, _ANSWER)
)
_FENCE = re.compile(r"\A```\w*\s*|\s*```\Z")
_TAG = re.compile(rf"<(/?)(?:(?P<reasoning>{_REASONING}|analysis|reflection)|(?P<answer>{_ANSWER}))>", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def scrub(answer: Answer) -> tuple[str, str | None, set[str]]:
    """An answer without what nobody may send: text, what a reasoning model thought (or None), and flags."""
    flags = {_STOPS[answer.stop]} if answer.stop in _STOPS else set()
    text = answer.text
    if len(text) > _MAX_RAW:
        text = text[:_MAX_RAW]
        flags.add("truncated")
    text = _LINE_END.sub("\n", text)
    text, found = _INVISIBLE.subn("", text)
    flags |= {"control"} if found else set()
    thoughts = [answer.thought] if answer.thought else []  # the provider has separated them
    for _ in range(_MAX_NESTED):
        text, tokens = _without_tokens(text)
        if tokens:
            flags.add("special_token")
            continue  # removing one token may form another
        text, thought = without_thoughts(text)
        if thought is None:
            break
        thoughts.append(thought)  # what stood around it may be a token now
    else:
        # Only deliberate text nests so deeply: then every bracket is removed, so that none can form a token.
        text = _BRACKETS.sub("", text)
    flags |= {"thought"} if thoughts else set()
    thought = "\n".join(filter(None, thoughts)) if thoughts else None
    return text.strip(), thought, flags


def spoken(role: Role, text: str, flags: set[str]) -> str:
    """What a role says for itself in a scrubbed text, PLACEHOLDER if that is nothing; adds to `flags`."""
    end = own_end(role, text)
    said, labels = _LABEL.subn("", text[:end])
    said = said.strip()
    flags.update(flag for flag, found in (("label", labels), ("other_role", end < len(text))) if found)
    if len(said) > MAX_CHARS:
        said = said[:MAX_CHARS].rstrip()
        flags.add("truncated")
    if not said:
        flags.add("empty")
    return said or PLACEHOLDER


def own_end(role: Role, text: str) -> int:
    """Where a role begins to speak for somebody else; the length of a text in which it does not."""
    for label in _LABEL.finditer(text):
        if not _OWN[role].issuperset(re.findall(_SPEAKER, label[1].casefold())):
            return label.start()
    return len(text)


def ordered(flags: Iterable[str]) -> tuple[str, ...]:
    """Flags in the order of FLAGS."""
    found = set(flags)
    return tuple(flag for flag in FLAGS if flag in found)


def rationale_and_answer(text: str) -> tuple[str, str] | None:
    """The two parts of a doctor's scrubbed text in the requested form; None if it does not have that form.

    >>> rationale_and_answer("REASONING: It may be a stye.\\nANSWER: Does it hurt?")
    ('It may be a stye.', 'Does it hurt?')
    >>> rationale_and_answer("Does it hurt?") is None
    True
    """
    text = _FENCE.sub("", text.strip())
    fields = _fields(text)
    if fields is not None:
        rationale, answer = fields
        hides = _ANY_REASONING.search(answer) is None
        return (rationale, answer) if rationale and answer and hides else None
    text = _labelled(text)
    for reasoning, answering in ((_LABEL_REASONING, _LABEL_ANSWER), (_ANY_REASONING, _ANY_ANSWER)):
        labels, answers = list(reasoning.finditer(text)), list(answering.finditer(text))
        if len(labels) == len(answers) == 1 and labels[0].start() == 0 < answers[0].start():
            rationale, answer = text[labels[0].end() : answers[0].start()].strip(), text[answers[0].end() :].strip()
            return (rationale, answer) if rationale and answer and not _ANY_REASONING.search(answer) else None
    return None


def salvaged(text: str) -> tuple[str | None, str]:
    """Rationale and answer of a text without that form (3M-G17): what follows the last ANSWER or, if the text has no
    label at all, its last paragraph. After REASONING without ANSWER nothing is known to be an answer, so nothing is
    sent.

    >>> salvaged("I think of a stye.\\n\\nDoes it hurt?"), salvaged("REASONING: a stye.\\n\\nIt is likely.")
    (('I think of a stye.', 'Does it hurt?'), ('REASONING: a stye.\\n\\nIt is likely.', ''))
    """
    plain = _FENCE.sub("", text.strip())
    fields = _fields(plain)
    if fields is not None and not _ANY_REASONING.search(fields[1]):
        return fields[0] or None, fields[1]
    text = _labelled(plain)
    answers = list(_LABEL_ANSWER.finditer(text)) or list(_ANY_ANSWER.finditer(text))
    if answers:
        before, answer = text[: answers[-1].start()], text[answers[-1].end() :]
        if again := _ANY_REASONING.search(answer):
            before, answer = f"{before}\n{answer[again.start() :]}", answer[: again.start()]
        if '"' in answers[-1][0]:  # a field of an object that cannot be read
            answer = answer.strip().strip("\"',}")
    elif _ANY_REASONING.search(text):
        before, answer = text, ""
    else:
        *paragraphs, answer = _PARAGRAPH.split(text.strip())
        before = "\n\n".join(paragraphs)
    return before.strip() or None, answer.strip()


def _fields(text: str) -> tuple[str, str] | None:
    """Rationale and answer of an object of JSON or Python, "" for one that it does not hold; None for another text."""
    try:
        value = literal(text) if text.startswith("{") else None
    except Unfit:  # a field stands there twice
        return None
    if not isinstance(value, Mapping):
        return None
    found = []
    for name in (_FIELD_REASONING, _FIELD_ANSWER):
        held = [one for key, one in value.items() if name.fullmatch(str(key))]
        found.append(held[0].strip() if len(held) == 1 and isinstance(held[0], str) else "")
    return found[0], found[1]


def _labelled(text: str) -> str:
    """A text with labels in place of tags: what follows a closed rationale is the answer, what follows a closed answer
    is none."""

    def label(match: re.Match[str]) -> str:
        rest = text[match.end() :].lstrip()
        closed, reasoning = bool(match[1]), match["reasoning"] is not None
        if closed and (not rest or ((tag := _TAG.match(rest)) and not tag[1])):
            return "\n"
        return "\nREASONING: " if closed != reasoning else "\nANSWER: "

    return _TAG.sub(label, text).strip()


def _without_tokens(text: str) -> tuple[str, int]:
    if "<" not in text and "[" not in text:
        return text, 0
    text, headers = _HEADER.subn(lambda match: f"\n{match[1] or match[2] or match[3]}: ", text)
    text, instructions = _INSTRUCTION.subn(lambda match: "\nassistant: " if match[1] else "\nuser: ", text)
    text, tokens = _TOKEN.subn("", text)
    return text, headers + instructions + tokens
