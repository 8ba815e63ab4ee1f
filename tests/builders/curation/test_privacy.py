"""Identifiers leave a text, facts stay, and a published text that repeats its source is found."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.curation.privacy import SPAN, mask_names, scrub, survivors
from loaders.spans import shares_span, spans, words
from tests.parts.planted import FOLDER, Post, medical, posts


@pytest.mark.parametrize(
    ("text", "expected", "kinds"),
    [
        ("Mail jane.doe+x@mail.example.co.uk today", "Mail [email] today", {"email": 1}),
        ("see www.example.org/a?b=c.", "see [link].", {"link": 1}),
        ("http://x.example/y and https://z.example", "[link] and [link]", {"link": 2}),
        ("call 212-555-0142 or +44 20 7946 0958", "call [phone] or [phone]", {"phone": 2}),
        ("follow me @jane_doe or @jane.doe_99!", "follow [email] [email]!", {"email": 2}),  # no part of a name stays
        ("see hxxps://abc[.]com/page, and", "see [link] and", {"link": 1}),
        ("card 4862 0579 8682 8288 is mine.", "card [number] is mine.", {"number": 1}),
        ("my account is GB29 NWBK 6016 1331 9268 19", "my account is [number]", {"number": 1}),
        ("call 011-947-7556/0830 now", "call [phone] now", {"phone": 1}),  # longer for one country than for another
        ("thanks /u/some_body and u/other-one", "thanks [user] and [user]", {"user": 2}),
        ("seen on 14 May 2021", "seen on 2021", {"date": 1}),
        ("seen on May 14, 2021", "seen on 2021", {"date": 1}),
        ("since March 2019", "since 2019", {"date": 1}),
        ("2021-05-14 and 14/05/2021", "2021 and 2021", {"date": 2}),
        ("on the 3rd of June", "on the [date]", {"date": 1}),
        ("I live in Wakefield with a cat", "I live in [place] with a cat", {"place": 1}),
        ("near Los Angeles", "near [place]", {"place": 1}),
        ("at St. Oswald's Hospital", "at [institution]", {"institution": 1}),
        ("University of Leeds", "[institution]", {"institution": 1}),
        ("12 Elm Street, Boston MA 02139", "[place]", {"place": 1}),
        ("Dr. Petersen said no", "Dr. [name] said no", {"name": 1}),
        ("my name is Ada Lovelace.", "my name is [name].", {"name": 1}),
        ("Dr. Brown and Mrs. Johnson", "Dr. [name] and Mrs. [name]", {"name": 2}),
        ("my name is Wayne Page, not April", "my name is [name], not April", {"name": 1}),
        ("Dr. Thomas and Prof. van der Berg", "Dr. [name] and Prof. [name]", {"name": 2}),
        ("told by J. Smith today. Yours, S. Baker", "told by [name] today. Yours, [name]", {"name": 2}),
        ("4521 Maple Grove Lane, Boise, ID 83702", "[place], [place]", {"place": 2}),
        ("in Ashgrove Falls, BC V6X 1Z7", "in [place]", {"place": 1}),
        ("in Little Snoring VIC 3121 now", "in [place] now", {"place": 1}),
        ("14 Rue de Rivoli, 75001 Paris", "[place]", {"place": 1}),
        ("rue Lepic, 75018 and then calle Mayor 12345 and", "[place] and then [place] and", {"place": 2}),
        ("in Old Weston ACT 2611 or Katherine NT, 0850", "in [place] or [place]", {"place": 2}),
        ("born 14/3/87, d.o.b.: 1987-03-14, DOB 14031987", "born [date], d.o.b.: [date], DOB [date]", {"date": 3}),
        ("our little boy, Caspian (4), coughs", "our little boy, [name] (4), coughs", {"name": 1}),
        ("my twins, Torin (3) and Elspeth (3)", "my twins, [name] (3) and [name] (3)", {"name": 2}),
        ("my girls, Ottilie [6], Isolde [4] & Maren [1]", "my girls, [name] [6], [name] [4] & [name] [1]", {"name": 3}),
        ("signed, Philippa J. Threlkeld", "signed, [name]", {"name": 1}),
        ("as told to Isolde M. Quennell in May", "as told to [name] in May", {"name": 1}),
        ("a sophomore at Ohio State so no car", "a sophomore at [institution] so no car", {"institution": 1}),
        ("my gran is 94 years old", "my gran is over 89 years old", {"age": 1}),
        ("record 12345678", "record [number]", {"number": 1}),
        ("the number on my wristband says 7741229", "the number on my wristband says [number]", {"number": 1}),
        ("the ticket they gave me: 5582031", "the ticket they gave me: [number]", {"number": 1}),
        ("booking code ABCDEF, flight LH 1234", "booking code [number], flight [number]", {"number": 2}),
        ("D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0 it is", "[number] it is", {"number": 1}),
        ("came from fe80::1%eth0 and 203.0.113.9:8080", "came from [link] and [link]:8080", {"link": 2}),
        ("2001:db8::ffff:192.0.2.1", "[link]", {"link": 1}),
        ("my clinic app shows 203.0.113.9 today", "my clinic app shows [link] today", {"link": 1}),
        ("48° 51' N 2° 21' E or GPS 40.71, -74.00", "[number] [number] or GPS [number]", {"number": 3}),
        ("at 9G8F+6X, what3words index.home.raft", "at [place], what3words [place]", {"place": 2}),
        ("my eth is healme.eth", "my eth is [number]", {"number": 1}),
        ("𝗷𝗮𝗻𝗲.roe@example.com", "[email]", {"email": 1}),
        ("jane\u200b.roe@exam\u00adple.com", "[email]", {"email": 1}),
        ("my number ۰۹۱۲ ۳۴۵ ۶۷۸۹", "my number [number]", {"number": 1}),
        ("7\ufe0f\u20e37\ufe0f\u20e30 555 0199 call", "[phone] call", {"phone": 1}),
        ("kate.moss at gm\u0430il", "[email]", {"email": 1}),
        ("I'm on telegram as bogdan, write", "I'm on telegram as [user], write", {"user": 1}),
        ("hit me up at lungfish.77", "hit me up at [user]", {"user": 1}),
        ("CK 415 555 0132", "CK [phone]", {"phone": 1}),
        ("WhatsApp me: 98765 43210, thanks", "WhatsApp me: [phone], thanks", {"phone": 1}),
        ("Viber: 601234 567 or Telegram me: 12345 678901", "Viber: [phone] or Telegram me: [phone]", {"phone": 2}),
        ("Kik me 4155 550 132", "Kik me [phone]", {"phone": 1}),
        ("snap: 4jane55", "snap: [user]", {"user": 1}),
        ("0113 496 0000 ext. 12 or 020 7946 0958 x1234", "[phone] or [phone]", {"phone": 2}),
        ("the ward, ext 4471", "the ward, [phone]", {"phone": 1}),
        ("j.smith@gmail,com or x@gmailcom", "[email] or [email]", {"email": 2}),
        ("x@outlook com, jane@gmail and jane@clinic,org", "[email], [email] and [email]", {"email": 3}),
        ("call me on 312 345 298 410", "call me on [phone]", {"phone": 1}),
        ("rs12345@example.com or my insta is rs12345", "[email] or my insta is [user]", {"email": 1, "user": 1}),
        ("look for DrakeFan on discord", "look for [user] on discord", {"user": 1}),
        ("I stream on twitch as panicpete", "I stream on twitch as [user]", {"user": 1}),
        ("I was in the 10 Riverside Road flat when it came", "I was in the [place] flat when it came", {"place": 1}),
        ("22 Elm Street, Flat B or 22 Elm Street apt 4b", "[place] or [place]", {"place": 2}),
        ("on 14.03.87 and 14-03-87 it began", "on [date] and [date] it began", {"date": 2}),  # an IBAN by its sum
        (
            "my card ending 4471, last four digits of it (8812)",
            "my card ending [number], last four digits of it ([number])",
            {"number": 2},
        ),
        (
            "last 4 of my social: 6789; my ssn's last four are 6789",
            "last 4 of my social: [number]; my ssn's last four are [number]",
            {"number": 2},
        ),
        ("reg. KA 01 AB 1234, encounter 998877", "reg. [number], encounter [number]", {"number": 2}),
        (
            "al. Jerozolimskie 54, os. Kopernika 7/12 and Av. Paulista 1000",
            "[place], [place] and [place]",
            {"place": 3},
        ),
        (
            "i live at 12 oak st by the corner of 5th and Main",
            "i live at [place] by the corner of [place]",
            {"place": 2},
        ),
        (
            "i live in chicago, im from new york city originally",
            "i live in [place], im from [place] originally",
            {"place": 2},
        ),
        ("any doctors in melbourne? moved to bristol uk", "any doctors in [place]? moved to [place] uk", {"place": 2}),
        ("I was at St. Thomas' and then Mass Gen", "I was at [institution] and then [institution]", {"institution": 2}),
        ("Rich (my husband) and Will told me", "[name] (my husband) and [name] told me", {"name": 2}),
        ("mike here, hi. im sarah 25f. ty, jen", "[name] here, hi. im [name] 25f. ty, [name]", {"name": 3}),
        (
            "I'm Lizzie, with my mum (jackie), my twins Ollie and Max",
            "I'm [name], with my mum ([name]), my twins [name] and [name]",
            {"name": 4},
        ),
        (
            "my license plate is 8XYZ123, n° sécu 2 91 07 69 123 456 78",
            "my license plate is [number], n° sécu [number]",
            {"number": 2},
        ),
        ("I live in Krakow, ul. Piękna 18 m. 4, 31-042 Kraków", "I live in [place], [place], [place]", {"place": 3}),
        ("80331 München, Goethestr. 22 in 60313 Frankfurt", "[place], [place] in [place]", {"place": 3}),
        ("admitted 3/14.", "admitted [date].", {"date": 1}),
        ("send it by cashapp $janedoe", "send it by cashapp $[user]", {"user": 1}),
        ("I'm 94 and alone. I am 97.", "I'm over 89 and alone. I am over 89.", {"age": 2}),
        (
            "My boss at Tesco saw me. Love, Jo x",
            "My boss at [institution] saw me. Love, [name] x",
            {"institution": 1, "name": 1},
        ),
        (
            "wifi password hunter22, Airbnb code HMABCX92KZ",
            "wifi password [number], Airbnb code [number]",
            {"number": 2},
        ),
    ],
)
def test_identifiers_are_generalised(text: str, expected: str, kinds: dict[str, int]) -> None:
    found = scrub(text)
    assert found.text == expected
    assert found.counts == kinds


@pytest.mark.parametrize(
    "post", [*posts(), *posts(FOLDER / "kinds.txt")], ids=lambda post: f"{post.form}: {post.planted[0]}"
)
def test_what_people_write_about_themselves_is_removed(post: Post) -> None:
    assert not post.left(scrub(post.text).text)


# A helpline is a telephone number to the rules.
_HELPLINE = "Poison control 1-800-222-1222 was so kind when my toddler ate the iron pills"


def test_what_nobody_looked_at_before_the_rules_were_mended() -> None:
    kinds, lookalikes = posts(FOLDER / "kinds.third.txt"), posts(FOLDER / "lookalikes.third.txt")
    assert len(kinds) == len(lookalikes) == 32
    assert [post.text for post in kinds if post.left(scrub(post.text).text)] == []
    assert [post.text for post in lookalikes if post.lost(scrub(post.text).text)] == []


def test_what_the_rules_are_known_to_miss_and_to_take_by_mistake() -> None:
    harder, lookalikes = posts(FOLDER / "harder.txt"), posts(FOLDER / "lookalikes.harder.txt")
    assert [post.planted[0] for post in harder if post.left(scrub(post.text).text)] == [
        "marta k seventy nine",
        "crohnsgirlie",
        "ostomy.ollie",
        "yumi-chan",
        "SNPQRT",
        "HJK-4471",
        "4471",
    ]
    assert [post.text.split()[0] for post in lookalikes if post.lost(scrub(post.text).text)] == [
        "GTIN",
        "audiogram",
        "SIBO",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I saw the Dr. White spots came, and Brown urine. I told my doctor. Will it last?",
        "The Thomas test, a Thomas splint, Brown-Séquard syndrome, GERD (also known as GERD), 47,XXX, is",
        "I take 2 x 500 mg paracetamol, metformin 2 x 850 and ran 4 x 100 m, knee extension 120 degrees",
        "glucose 101 99 110 140 98 130 mg/dl, levels: 101 99 110 140, bp 120/80 130/85 110/75",
        "sugars 98, 101, 97 and then pulse 61 72 88 104, 61 99 72 101 bpm",
        "on messenger in the last 3 weeks, snap 500 mg, cramps @ night, com or not",
        "My glasses: -2.25 -0.50 x 180, +1.75/-0.25 x 90",
        "I'm 110 and 5'2. Jack Daniels, Captain Morgan, Dr Pepper, Ben & Jerry's, Dr. Scholl's insoles",
        "I have M. Basedow, diagnosed with M. Wilson; M. Scheuermann too",
        "my mom Googled it and my doctor Emailed me, Trader Joe's had it",
        "the Milan criteria, a Fitzpatrick 3, Duffy antigen, Los Angeles grade B esophagitis",
        "i live in pain and in time i moved to mobile sales, im from the us, at St. John's wort",
        "card ending in March, visa ended in 2019, last four digits normal, last 4 A1cs: 6.1, 6.3",
        "as in Smith et al. Lancet 2014, per os. 500 mg",
        "my Mac crashed, a Cam boot, Cat scratch fever, my Bill was high, an Oz of fluid, pain on Monday 7/10",
        "I am of Ashkenazi Jewish descent, with S1Q3T3 on the ECG",
        "Serum NT 1200 pg/ml, Last ACT 2019, Vitamin D OR 50000 IU",
    ],
)
def test_words_that_are_names_elsewhere_stay(text: str) -> None:
    assert scrub(text).text == text


@pytest.mark.parametrize("post", posts(FOLDER / "lookalikes.txt"), ids=lambda post: f"{post.form}: {post.text[:30]}")
def test_what_only_looks_like_an_identifier_stays(post: Post) -> None:
    assert bool(post.lost(scrub(post.text).text)) == (post.text == _HELPLINE)


@pytest.mark.parametrize(
    "said", ["I was told that I have {}.", "My mother had {} and died.", "{} runs in the family.", "They put me on {}"]
)
def test_names_of_medicine_stay(said: str) -> None:
    masked = [name for name in medical() if scrub(said.format(name)).counts]
    assert len(masked) <= 0.03 * len(medical()), masked


@pytest.mark.parametrize(
    "text",
    [
        "The letters swim and I never told anybody.",
        "I live in Germany, we moved here in May, and my dad, Type 2, is fine.",
        "my sister, Crohn's patient for years, takes Humira; it works for Crohn's",
        "He walked 2 months down the road, 5 minutes drive, on 1/2 a tablet, 120/80 pain 7/10",
        "one or two or three times, maybe four, five at most",
        "43F, 70 kg, TSH 18, 120/80, ramipril 5 mg, since 2019, three times a week",
        "I may stop in 14 days. March on. Reading helps me, a nice bath too.",
        "In Germany and in California doctors say so",
        "HbA1c 8.4%, eGFR 12, PSA 4.1, L4/L5, T2 signal, 58 mm",
        "Take 20 mg, May 5 mg be enough?",
        "The dose of 40000 units, at 12000 steps, in 20000 patients, 1500-2000 mg/day",
        "my account is locked and my login is broken; he added me on facebook as friend",
        "plates and 12 screws, plate PHILOS 3.5, plate T10-T12, soft plaque LAD 50%",
        "it was 8 @ 8, pain @ night. And CT shows (A) a nodule",
        "12::1 odds, std::vector, my hgb 11.2, dose 10-20-40-80-160, readings 145 152 138 161 149 171",
        "c.1521_1523delCTT, chr17:41276045, rs429358, C20H25N3O",
        "testosterone 312 345 298 410, calories 1800 1750 1900 1600, peak flow 320/350/340/300",
        "IDH1 R132H, lot EW0182, arXiv 2003.12345v2, at 30 Gy, tagged 1234 cells, licensed 2008",
        "BP 110-130/70-90 in 2019-2021, the software is 10.5.2.1, chapter 3.2.1.4",
        "мама and β-blocker, ２０ mg, 10² \ue000",
    ],
)
def test_facts_stay(text: str) -> None:
    assert scrub(text).text == text


def test_user_names_are_removed_everywhere() -> None:
    found = scrub("Quiet_Harbour_81 here, as u/quiet_harbour_81 said; harbour stays", ["quiet_harbour_81"])
    assert found.text == "[user] here, as [user] said; harbour stays"


def test_a_word_stays_though_somebody_is_called_so() -> None:
    """All that a person said about "anxiety" was gone, since another was named so."""
    said = "My anxiety is worse, the doctor said; metformin helps. @doctor and u/Anxiety, thanks; Kate too"
    expected = "My anxiety is worse, the doctor said; metformin helps. [user] and [user], thanks; [user] too"
    assert scrub(said, ["Anxiety", "doctor", "metformin", "kate"]).text == expected


@settings(max_examples=60)
@given(st.text(alphabet=string.ascii_letters + string.digits + " .,@/:-'u[]", max_size=80))
def test_a_scrubbed_text_holds_nothing_more_to_take(text: str) -> None:
    once = scrub(text).text
    assert scrub(once).text == once


@pytest.mark.parametrize("name", ["quiet_harbour_81", "ｑｕｉｅｔ_harbour_８１"])
def test_a_name_is_found_in_other_letters(name: str) -> None:
    assert scrub("ｑｕｉｅｔ_harbour_81 here", [name]).text == "[user] here"


def test_numbers_that_belong_to_nobody_come_back_in_a_text_that_holds_an_identifier() -> None:
    said = "PMID 33301246 and SNOMED 22298006, mail a.b@example.com"
    assert scrub(said).text == "PMID 33301246 and SNOMED 22298006, mail [email]"


def test_names_within_a_quotation_are_masked() -> None:
    assert mask_names("so I told Martin and Mrs Cole") == "so I told [name] and [name] [name]"
    assert mask_names("Martin told me") == "Martin told me"  # it cannot be told from the first word of a sentence


def test_eight_words_in_a_row_survive_and_are_found() -> None:
    thread = ["They put my dad on insulin at Easter, and by August the leg was off."]
    published = {
        "seven": "they put my dad on insulin at",
        "eight": "They PUT my dad -- on insulin, at easter!",
        "none": "His father had an amputation.",
    }
    assert survivors(published, thread) == ["eight"]
    assert len(words(published["eight"])) == SPAN


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from("abcd"), max_size=14), st.lists(st.sampled_from("abcd"), max_size=14), st.integers(1, 5)
)
def test_shared_spans_are_those_of_a_naive_search(one: list[str], other: list[str], length: int) -> None:
    runs = {tuple(one[i : i + length]) for i in range(len(one) - length + 1)}
    naive = any(tuple(other[i : i + length]) in runs for i in range(len(other) - length + 1))
    assert shares_span(" ".join(one), [" ".join(other)], length) == naive
    assert spans(" ".join(one), length) == runs
