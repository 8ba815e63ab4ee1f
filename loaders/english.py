"""Whether a text is in English, by its smallest words: every English sentence holds some, and other languages few."""

from __future__ import annotations

from loaders.spans import words

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any anything are as at be because been before being but by can cannot could
    did do does doing done don't down each even ever every for from get gets getting go goes going got had has have
    having he her here hers him his how i i'd i'll i'm i've if in into is it it's its just like make me more most much
    my no nor not now of off on once one only or other our out over own patient per really said same say says she should
    so some something such than that that's the their them then there these they thing things this those though through
    to too under until up upon us very was we well were what when where whether which while who whom why will with
    without would you your yours
    """.split()
)
"""Words that carry no content, as `loaders.spans.words` gives them."""

_ENGLISH, _ENOUGH = 0.2, 15  # the share of these words is .4 and more in English talks, .1 in others


def plain_words(text: str) -> int:
    """How many words of a text are function words: articles, pronouns, auxiliaries.

    >>> plain_words("I do not like it"), plain_words("qwe rty uio pas")
    (5, 0)
    """
    return sum(word in STOP_WORDS for word in words(text))


def other_language(text: str) -> bool:
    """Whether a text of some length holds few of the small words of English.

    >>> other_language("Dejé mis pastillas el mes pasado porque me mareaban en el trabajo, y nadie me explicó nada.")
    True
    >>> other_language("I stopped my tablets last month because they made me dizzy at work, and nobody told me why.")
    False
    """
    said = words(text)
    return len(said) >= _ENOUGH and plain_words(text) < _ENGLISH * len(said)
