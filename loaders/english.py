"""Whether a text is in English, by its smallest words: every English sentence holds some, and other languages few."""

from __future__ import annotations

from unicodedata import name, normalize

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

# Small words of other languages in Latin letters, without those that English has, or that doctors write ("po", "er").
_OTHERS = frozenset(
    """
    aan aber aby ada af ako aku al ale algo als anche ang ano ao att au auch auf aux av avec bana bei ben bez bij
    bir bo bu bude być bị cela cette che cho ci con cosa così cuando czy có của da daha dans dari das dass dat de
    del della dem dengan depuis der des desde det di din dla dopo dos du een ein eine einen el ele ella elle ellos
    en es est esta este estoy está et ett eu foi fra från fue för für geen gli habe hace har havde heb heeft het hij
    hindi ho ich ik ikke ile ils ini inte io isso ist itu için jag jak jako je jeg jest jours jsem jsou już když ke
    kein không ko la lang las le les leur los lui là ma maar mai mais mam mas mea meg mein met meu mga mia mich mig
    mijn minha mio mir mit mnie moi molto muito muy mycket một naar nada nang nas ne nebo nel nella nem người những
    nicht nie niet noch noe noen nog non nous nu nunca nur này não och od oder om ook ou par para pas pela pelo
    pentru perché pero più plus poi por porque pour przez på quando que questo qui rất sau saya schon se sehr sempre
    si sich sie sind siya się som sono sont su sua sunt sur são să tak también tego tem tengo tenho tidak til todo
    tot très tôi uit um uma un una und une uno uns untuk vad van ve você vom von voor vor vous và với wat wenn wie
    wird ya yang yok za zijn zu zum zur är ça çok în đã được że že
    """.split()
)
_TELLING = 0.25  # the share of these words is .3 and more in most languages, and hardly any in English
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


def surely_another(text: str) -> bool:
    """Whether a text shows another language itself, by its letters or by the small words of that language: a list of
    tablets has few English ones, too.

    >>> surely_another("Ich habe seit drei Wochen starke Schmerzen im Rücken, und der Arzt sagt, dass es Stress ist.")
    True
    >>> surely_another("背中が三週間ずっと痛くて、医者はストレスだと言います。どうすればいいですか。")
    True
    >>> surely_another("Lisinopril 10 mg daily, metformin 500 mg twice daily, aspirin 81 mg po, iron, zinc, PPI.")
    False
    """
    letters = [letter for letter in normalize("NFKC", text) if letter.isalpha()]
    if len(letters) >= _ENOUGH and 2 * sum("LATIN" not in name(letter, "") for letter in letters) > len(letters):
        return True
    said = words(text)
    theirs = sum(word in _OTHERS for word in said)
    return len(said) >= _ENOUGH and theirs >= _TELLING * len(said) and theirs > plain_words(text)
