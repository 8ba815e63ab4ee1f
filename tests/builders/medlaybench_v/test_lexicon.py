"""A row's concept list C, and which of a vocabulary's terms may be put in its caption."""

from __future__ import annotations

from typing import Any

from builders.medlaybench_v.concepts import Mention
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.lexicon import ONTOLOGY, Lexicon
from builders.medlaybench_v.words.terms import Term


def term(expert: str, lay: str, cui: str | None) -> Term:
    return Term(expert, lay, cui, "finding", "noun", "", "", "", False, "doc", "CC0-1.0")


TERMS = (
    term("calculus", "stone", None),
    term("edema", "swelling", "C0013604"),
    term("oedema", "water", "C0013604"),
    term("nodes of Ranvier", "nodes of Ranvier", None),
)
LEXICON = Lexicon(TERMS)


def concepts(text: str, cuis: tuple[str, ...] = (), *mentions: Mention) -> list[dict[str, Any]]:
    expert = read(text)
    return LEXICON.concepts(cuis, mentions, LEXICON.match(expert, cuis, mentions), expert)


def test_a_concept_is_listed_once_where_it_is_said_first() -> None:
    (found,) = concepts("Edema of the skin; no other edema.")
    assert found == {
        "surface": "Edema", "start": 0, "end": 5, "cui": "C0013604", "lay": "swelling", "source": "vocabulary",
        "licence": "CC0-1.0",
    }  # fmt: skip


def test_a_name_that_stays_has_no_lay_phrase() -> None:
    (found,) = concepts("The nodes of Ranvier.")
    assert (found["surface"], found["lay"], found["licence"]) == ("nodes of Ranvier", None, None)


def test_what_a_recogniser_finds_names_the_concept_of_a_term_without_one() -> None:
    stone = Mention(2, 10, "calculus", "C0006736", "medcat")
    (found,) = concepts("A calculus.", (), stone)
    assert (found["cui"], found["lay"], found["source"]) == ("C0006736", "stone", "medcat")
    (found,) = concepts("A calculus.", ("C0006736",), stone)
    assert found["source"] == "cui"


def test_what_only_the_record_names_stands_nowhere_and_first() -> None:
    said, unsaid = "C0013604", "C0000001"
    (nowhere, edema) = concepts("Edema.", (said, unsaid))
    assert (nowhere["surface"], nowhere["start"], nowhere["lay"]) == (unsaid, -1, None)
    assert (edema["cui"], edema["source"]) == (said, "cui")
    (nowhere,) = concepts("A scan.", (said,))  # of two terms of one concept the first is its name
    assert (nowhere["surface"], nowhere["lay"]) == ("edema", "swelling")


def test_concepts_stand_in_the_order_of_the_caption_the_longer_of_two_first() -> None:
    whole = Mention(0, 17, "Edema of the skin", "C0000002", "spacy")
    skin = Mention(13, 17, "skin", "C0000003", "spacy")
    found = concepts("Edema of the skin.", (), skin, whole)
    assert [concept["surface"] for concept in found] == ["Edema of the skin", "Edema", "skin"]


def test_with_the_ontology_only_named_concepts_are_put_in_the_caption() -> None:
    lexicon, caption = Lexicon(TERMS, ONTOLOGY), read("Edema and a calculus.")
    named = Mention(0, 5, "Edema", "C0013604", "medcat")
    assert lexicon.match(caption, [], []) == []
    for matches in (lexicon.match(caption, ["C0013604"], []), lexicon.match(caption, [], [named])):
        assert [match.entry.lay for match in matches] == ["swelling"]
