"""The offline evaluator on turns that others wrote in sixteen voices, and rated from 1 to 5 before it was changed."""

from __future__ import annotations

from functools import cache

import pytest

from baselines.medconceal.acts import acts, subjects
from baselines.medconceal.manner import _weights, manner
from baselines.medconceal.policy import BEDSIDE
from baselines.medconceal.rules import evaluate, turn_quality
from baselines.medconceal.typed import marked
from loaders.medconceal import TASKS, Task
from scripts.bench.manner import fitted, left_out, ranked_left_out, ranked_turns, rated_turns
from scripts.bench.validity import agreement

TURNS = rated_turns()


@cache
def _scores() -> list[float]:
    return [turn_quality(BEDSIDE, one["turn"], one["patient_before"] or "", one["task"]) for one in TURNS]


@pytest.mark.parametrize(
    ("of", "order", "above"), [("task", 0.75, 0.95), ("writer", 0.72, 0.9), ("clinician", 0.6, 0.87)]
)
def test_good_turns_score_above_bad_ones(of: str, order: float, above: float) -> None:
    """In each task, and of each of the five writers and their thirty voices, to whom the rules were fitted."""
    for name in {one[of] for one in TURNS}:
        own = [(score, one["quality"]) for score, one in zip(_scores(), TURNS, strict=True) if one[of] == name]
        found = agreement(*map(list, zip(*own, strict=True)))
        assert found[0] >= order and found[1] >= above, (name, found)


@pytest.mark.parametrize(
    ("turn", "heard", "has", "lacks"),
    [
        ("What is it like at home?", "", ("open", "last_open"), ("fact",)),
        ("Walk me through a bad night.", "", ("open",), ("orders",)),
        ("Do you smoke? Any pain?", "", ("fact",), ("open",)),
        ("The garden. And you?", "I sit in the garden.", ("echo", "echo_first"), ("open",)),
        ("Take it daily. Avoid salt.", "", ("orders",), ("open", "fact")),
        ("You do not have to answer.", "", ("permission",), ("judge",)),
        ("Plenty of people feel that.", "", ("normal",), ("push",)),
        ("Don't worry, you'll be fine.", "", ("brush",), ("normal",)),
        ("You should have told us.", "", ("judge",), ("partner",)),
        ("I'll ring them on Monday. Would that help?", "", ("commit", "exact", "partner"), ("orders",)),
        ("Tell it back to me.", "", ("teach",), ("fact",)),
        # What would close, denied or said of the clinician; the same said of the patient closes.
        ("It may be that I have got it wrong.", "", (), ("blame",)),
        ("You don't have to be sensible.", "", (), ("judge", "blame")),
        ("Be sensible.", "", ("judge",), ()),
        ("I don't think that is odd.", "", (), ("calm",)),
        ("Don't think about it.", "", ("calm",), ()),
        ("We take it seriously.", "", (), ("threat",)),
        ("What have you tried, and what can't you do?", "", ("open",), ("push", "blame")),
        ("You can't go on like that.", "", ("blame",), ()),
        # Invitations in other forms than a question; a suggestion in the form of one is none.
        ("I was hoping, um, to hear how you sleep.", "", ("open",), ("fact",)),
        ("Could you, um, say more?", "", ("open",), ("fact",)),
        ("Is there one part that troubles you?", "", ("open",), ("fact",)),
        ("What if your body is only getting ready?", "", (), ("open",)),
        ("I want to know why you left.", "", (), ("open",)),
        ("I'm Anna Bell, you see.", "", (), ("names",)),
        ("Stop me there.", "", ("permission",), ("orders",)),
        ("How are you?", "", ("open",), ("tagged",)),
        ("What worries you?🙂", "", ("open", "asked"), ()),
        # What the clinician has understood, asked; an idiom; the course of an illness, and how it is to be ill.
        ("Have I got that right?", "", ("checks",), ("fact", "tagged")),
        ("You have got that, right?", "", ("tagged",), ("checks",)),
        ("I'd hate to get the wrong end of it.", "", (), ("judge",)),
        ("That is the end of it.", "", ("judge",), ()),
        ("How have the symptoms progressed?", "", ("open", "course"), ("view",)),
        ("What bothers you about the symptoms?", "", ("open", "view"), ("course",)),
        ("What is wrong with you?", "", ("scorn",), ("open",)),
        # Pressing for an answer; taking no debt for granted.
        ("What are you not telling me?", "", ("scorn",), ("open",)),
        ("You must be hiding something.", "", ("judge",), ()),
        ("You needn't answer me.", "", ("permission",), ("judge",)),
        ("You owe it to yourself.", "", ("judge",), ("permission",)),
        ("You owe me no answer.", "", ("permission",), ("judge",)),
        # Words that are demanded or threatened for; a fear told back, and what is asked of oneself, are no threats.
        ("I expect an answer.", "", ("coerce",), ()),
        ("Speak up.", "", ("coerce",), ()),
        ("Without treatment you'll go blind.", "", ("coerce",), ()),
        ("I could stop your sick pay.", "", ("coerce",), ()),
        ("You're afraid you'll go blind.", "", (), ("coerce",)),
        ("I'm not here to report you.", "", (), ("coerce",)),
        ("You must tell me if it gets worse.", "", (), ("coerce",)),
        ("If you don't want to talk about it, we won't.", "", (), ("coerce",)),
        # A thought asked after, and one held against the patient.
        ("What were you thinking of?", "", ("open",), ("scorn",)),
        ("What were you thinking?", "", ("scorn",), ("open",)),
        ("I would like that you tell me how it is.", "", ("open",), ()),
    ],
)
def test_acts_are_known_by_their_form(turn: str, heard: str, has: tuple[str, ...], lacks: tuple[str, ...]) -> None:
    found = acts(turn, heard)
    assert all(found[name] for name in has) and not any(found[name] for name in lacks), found


def test_turns_of_a_writer_are_ordered_by_what_others_have_in_common() -> None:
    """The rules fitted to all writers but one: what a new writer can expect, but for phrases that somebody has read."""
    ranked = ranked_turns()
    for writer, (order, above) in left_out(TURNS, ranked).items():
        assert order >= 0.65 and above >= 0.9, writer
    for who, order in ranked_left_out(TURNS, ranked).items():
        assert order >= 0.83, who


def test_the_table_of_manners_is_fitted_to_the_turns() -> None:
    assert _weights() == pytest.approx(fitted(TURNS, ranked_turns()), abs=2e-3)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # Curious about the person, and about the illness alone: both in open form.
        ("What has it been like to live with it?", "How has it progressed, and what symptoms did you have?"),
        ("What do you make of the results yourself?", "What were the results, and what dose was prescribed?"),
        # What the clinician has understood, and a guess with a tag.
        ("So it is the nights. Have I understood you?", "So it is the nights, isn't it?"),
        # Of those who open nobody, one who is only busy and one who shames.
        ("Are you taking everything?", "Are you taking everything, yes or no? What is wrong with you?"),
        ("Let us look at the next item.", "That is hardly a reason. You were told."),
    ],
)
def test_classes_of_turns_that_were_misclassified_before(better: str, worse: str) -> None:
    high, low = (turn_quality(BEDSIDE, turn, "", "confirmation") for turn in (better, worse))
    assert high > low + 0.002


def test_of_two_clinicians_who_reach_nobody_one_still_listens_less() -> None:
    """Scores fade out below 0: an order, a list and a threat are not all alike."""
    turns = ("Let me see, what was next? Any fever?", "Take it daily.", "You must take it, or you will die of it.")
    found = [turn_quality(BEDSIDE, turn, "", "confirmation") for turn in turns]
    assert found == sorted(found, reverse=True) and len(set(found)) == 3 and found[0] < 0.3


@pytest.mark.parametrize(
    ("heard", "listens", "does_not"),
    [
        # The same subject in other words, and not.
        (
            "I can't pay for these every month.",
            "So the bills pile up. What would a cheaper one change for you?",
            "It is important to keep to the schedule. Is that clear?",
        ),
        # One open question, and a volley of closed ones.
        (
            "It's just the nights.",
            "What are the nights like for you?",
            "Do you sleep? Do you snore? Any coffee? Any pain?",
        ),
        # A guess in the form of a question that wants no answer.
        (
            "I stopped them.",
            "You stopped them. What happened before that?",
            "You stopped them because you forgot, right?",
        ),
        # Sympathy that takes up nothing, and a few words that do.
        (
            "My son drives me here, he loses a day's wage.",
            "A day's wage, each time. How do the two of you manage that?",
            "I really appreciate you sharing that, your feelings are valid.",
        ),
        # Comfort before anything was heard.
        ("I'm scared it comes back.", "Back, yes. What do you see then?", "You'll be fine, it's totally safe."),
        # A plan that touches what was said, and a lecture.
        (
            "The bus only goes at nine.",
            "Then I'll move you to the late clinic on Tuesday, when the bus suits. Would that do?",
            "Adherence lowers complications considerably. Take it daily. Avoid salt. Keep every appointment.",
        ),
    ],
)
def test_listening_is_recognised_by_the_form(heard: str, listens: str, does_not: str) -> None:
    found, other = (manner(turn, acts(turn, heard)) for turn in (listens, does_not))
    assert found > other + 0.1
    for task in ("confirmation", "intervention"):
        assert turn_quality(BEDSIDE, listens, heard, task) > turn_quality(BEDSIDE, does_not, heard, task)


@pytest.mark.parametrize("pressure", ["Speak up.", "I insist.", "You'll end up in hospital.", "I'm warning you."])
def test_an_open_question_beside_a_demand_or_a_threat_opens_nobody(pressure: str) -> None:
    asked = "What worries you most about it?"
    alone, pressed = (turn_quality(BEDSIDE, turn, "", "confirmation") for turn in (asked, f"{pressure} {asked}"))
    assert alone > 0.5 and pressed < 0.2


def test_a_subject_is_taken_up_in_other_words_and_a_cue_is_missed() -> None:
    assert "money" in subjects("The rent is due.") & subjects("Can you afford it?")
    near, far = (acts(turn, "I can't afford it.") for turn in ("How are the bills?", "Any fever?"))
    assert near["subjects"] and not far["subjects"] and far["missed"] and not near["missed"]


def test_what_the_clinician_has_said_before_is_worth_nothing() -> None:
    turn, heard = "What is that like for you at home?", "It is fine at home."
    new, again = (turn_quality(BEDSIDE, turn, heard, "confirmation", earlier=said) for said in ([], [turn]))
    assert new > 0 == again


@pytest.mark.parametrize("task", TASKS)
def test_a_turn_is_heard_in_the_light_of_the_turns_before_it(task: Task) -> None:
    """A good question after a lecture, by itself, and after two like it; three lectures and a kind line likewise."""
    heard, turn = "The bus only goes at nine.", "At nine. What is that like for you?"
    kind = ["Hello. What has it been like for you?", "That sounds hard. What worries you most about it?"]
    lecture = ["Adherence lowers complications considerably.", "You must take it daily, as everybody is told to."]
    after_lecture, alone, after_kind = (
        turn_quality(BEDSIDE, turn, heard, task, earlier=earlier) for earlier in (lecture, [], kind)
    )
    assert after_lecture < alone - 0.05 and after_lecture < after_kind - 0.05
    found, other = (evaluate(turn, None, heard, earlier).features for earlier in (kind, lecture))
    assert sum(found.vector) > sum(other.vector) and evaluate(turn, None, heard, []) == evaluate(turn, None, heard)


@pytest.mark.parametrize("task", TASKS)
def test_who_repeats_what_the_patient_said_has_asked_nothing(task: Task) -> None:
    heard = "That may be, but I would rather stay on tablets. What would you do about the thing that bothers me?"
    said, asked = heard[: heard.index("What")], heard[heard.index("What") :]
    for parrot in (heard, f"{said}Hm. {asked}", f'"{heard}"'):
        features = evaluate(parrot, asked, heard).features
        assert features.CE <= 0.25 and features.PQC == 0.0, parrot
        assert turn_quality(BEDSIDE, parrot, heard, task) < 0.2
    for listens in (
        f'"{heard}" The tablets, then. What would staying on them mean for you?',
        "Rather stay on tablets?",
    ):
        assert turn_quality(BEDSIDE, listens, heard, task) > 0.3


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("What worries you most. Take your time.", "What worries you most? Take your time."),
        ("that's a lot to carry what would you most like", "that's a lot to carry \nwhat would you most like?"),
        ("ok whats the worst bit", "ok what's the worst bit?"),
        ("that sounds hard what has been on your mind", "that sounds hard\nwhat has been on your mind?"),
        ("take all the time you need is there anything", "take all the time you need\nis there anything?"),
        ("it weighs on you can you tell me more", "it weighs on you\ncan you tell me more?"),
        (
            "I understand what has been said. Do what is on your list.",
            "I understand what has been said. Do what is on your list.",
        ),
        ("ok, wots bothering u", "ok, what's bothering you?"),
        ("I **cant** imagine. __whats it like__ at home", "I can't imagine. what's it like at home?"),
        ("hi how r u doing w/ ur tablets", "hi \nhow are you doing with your tablets?"),
        ("Type 2 R/A, group A-R, U.S. units?", "Type 2 R/A, group A-R, U.S. units?"),
        ("Is there something you left out.", "Is there something you left out?"),
        (
            "What helps is rest. What's important is that it heals.",
            "What helps is rest. What's important is that it heals.",
        ),
        ("I know what you mean. Do your exercises.", "I know what you mean. Do your exercises."),
        ("You came back. Why? What is it.", "You came back. Why? What is it."),
    ],
)
def test_questions_are_known_without_their_mark(typed: str, meant: str) -> None:
    assert marked(typed) == meant


def test_who_leaves_out_question_marks_is_heard_the_same() -> None:
    heard = "I am not sure about the new tablets."
    for asked in ("That sounds hard. What worries you most about the tablets?", "How is it at home with all of this?"):
        typed = evaluate(asked.replace("?", ""), None, heard, ["How have things been"])
        assert typed.features == evaluate(asked, None, heard, ["How have things been?"]).features


@pytest.mark.parametrize(
    "invitation",
    [
        "Tell me about your week at home.",
        "Tell me more.",
        "Just tell me about it",
        "And tell me more about your father",
        "Tell me everything",
        "Tell me, if you like, about home.",
        "Tell me which part was the hardest.",
        "Share with me what is going on",
        "Let me hear about the nights.",
        "Explain to me what happened",
        "Perhaps you could tell me more?",
        "Please, continue.",
    ],
)
def test_an_invitation_is_none_of_the_words_that_lead_in_to_a_sentence(invitation: str) -> None:
    found = acts(invitation)
    assert found["open"] == 1 and not found["fact"] and not found["orders"]
    assert turn_quality(BEDSIDE, invitation, "", "confirmation") > 0.35


@pytest.mark.parametrize(
    ("asks_so", "open_too"),
    [
        ("Tell me where it hurts most", False),
        ("Tell me how many you take.", False),
        ("Tell me, do you smoke?", False),
        ("Tell me, how are you?", True),
        ("Continue taking them.", False),
        ("Go ahead and take two.", False),
    ],
)
def test_what_is_to_be_told_decides_whether_it_invites(asks_so: str, open_too: bool) -> None:
    assert bool(acts(asks_so)["open"]) is open_too


SCOLDING = """
What makes you think you know better than your doctors?
How hard can it be to take one tablet?
What on earth were you thinking?
What kind of mother does that?
How could you be so careless?
How dare you stop it?
Who do you think you are?
How stupid can you be?
What is your excuse this time?
What did you expect, smoking like that?
What more do you want from me?
How many times do I have to explain this?
What part of "every day" don't you understand?
What do you think this is, a hotel?
What is so hard about swallowing a pill?
What gives you the right to decide that?
What good are you to your children if you are dead?
Whose fault is that, do you think?
How am I supposed to help you if you don't listen?
What did I tell you last time?
Who in their right mind leaves an ulcer for a month?
How do you think that makes your family feel?
What sort of message does that send to your kids?
""".strip().splitlines()
HARMLESS = """
What makes you think it could be the tablets?
What makes you think you can't cope?
How hard has it been to keep it all going?
What were you thinking about on the way here?
What on earth has happened to you?
How on earth do you manage all that?
What kind of mother did you want to be?
What kind of person was your father?
How could you get to the clinic without a car?
How can you tell that a bad day is coming?
Who do you think would help you at home?
What did you expect from the treatment?
What did you think would happen when you rang us?
What do you think this is?
What part of the plan is unclear to you?
What is so frightening about the scan?
What good things do you still have in the week?
Who told you about the side effects?
How do you think your wife sees it?
What did I miss?
Who doesn't know yet, and whom would you like to tell?
How can we work with what you have?
Who makes you feel silly when you ask?
Who cares for you at night?
What do you expect will change after the operation?
How can I help?
""".strip().splitlines()


@pytest.mark.parametrize("question", SCOLDING)
def test_a_rhetorical_question_invites_nobody(question: str) -> None:
    found = acts(question)
    assert found["scorn"] and not found["open"] and turn_quality(BEDSIDE, question, "", "confirmation") < 0.2


@pytest.mark.parametrize("question", HARMLESS)
def test_a_question_that_is_put_like_a_rhetorical_one_stays_open(question: str) -> None:
    found = acts(question)
    assert found["open"] == 1 and not found["scorn"] and turn_quality(BEDSIDE, question, "", "confirmation") > 0.35


@pytest.mark.parametrize(
    ("question", "invites"),
    [
        ("Is anything worrying you?", True),
        ("Do you have any worries?", True),
        ("Is there anything you're afraid of?", True),
        ("Is there anything on your mind?", True),
        ("Have you any concerns?", True),
        ("Would you like to talk about it?", True),
        ("Do you want to tell me more?", True),
        ("That is a lot. Has anything been troubling you?", True),
        ("I see, and does anything about it frighten you?", True),
        ("Are you worried about anything?", True),
        ("Which part is hardest for you?", True),
        ("Why do you feel that way?", True),
        ("Do you smoke?", False),
        ("Is there any family history of diabetes?", False),
        ("Is there anything you are allergic to?", False),
        ("Have you any other symptoms?", False),
        ("Any thoughts of harming yourself?", False),
        ("Do you have any concerns about finances or insurance?", False),
        ("Any concerns about the treatment, or shall I tick none?", False),
        ("Are you worried about the cost?", False),
        ("Does anything make the pain worse?", False),
        ("Which tablets do you take?", False),
        ("Why did you stop?", False),
        ("Would you like to talk to the pharmacist?", False),
    ],
)
def test_who_asks_for_worries_by_yes_or_no_asks_for_more_than_a_fact(question: str, invites: bool) -> None:
    features = evaluate(question, None).features
    assert bool(acts(question)["open"]) is invites and (features.CE >= 0.5 if invites else features.CE <= 0.25)


@pytest.mark.parametrize(
    "sympathy",
    [
        "That must be frightening.",
        "I'm so sorry to hear that.",
        "No wonder you're worried.",
        "I hear you.",
        "You've been through so much.",
        "It makes sense that you feel this way.",
        "It's okay to be afraid.",
        "You must be so scared.",
        "Your fears are understandable.",
        "I understand how you feel.",
    ],
)
def test_who_acknowledges_a_feeling_is_empathic_whatever_else_is_missing(sympathy: str) -> None:
    heard = "I don't know. It's all right."
    found = evaluate(sympathy, None, heard)
    assert found.features.ER >= 0.5 and found.intent == "emotional_support"
    plain, hurt = (evaluate(turn, None, heard).features.ER for turn in ("Grow up.", f"{sympathy} You were told."))
    assert plain < 0.25 and hurt < found.features.ER
    # Sympathy alone opens nobody far.
    assert turn_quality(BEDSIDE, sympathy, heard, "confirmation") < 0.3


@pytest.mark.parametrize("scolding", ["How could you be so careless?", "I insist. Speak up."])
def test_who_scolded_is_not_believed_in_the_next_turn(scolding: str) -> None:
    asked, heard = "What worries you most about it?", "I don't know."
    after, alone = (
        turn_quality(BEDSIDE, asked, heard, "confirmation", earlier=[before])
        for before in (scolding, "What is your day like?")
    )
    assert after < alone / 2
