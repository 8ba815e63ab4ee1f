"""Lay vocabularies: each format, each reason to set a pair aside, each way a file can be broken."""

import itertools
import time
import zipfile
from dataclasses import fields, replace
from pathlib import Path

import pytest

from builders.medlaybench_v import vocabulary as module
from builders.medlaybench_v.vocabulary import Vocabulary, combine, in_turn, read_vocabulary
from builders.medlaybench_v.words.terms import KINDS, POS, Term, english, plural_forms, terms_digest
from loaders.errors import InputError
from tests.parts.places import SHARED


@pytest.fixture(autouse=True)
def _no_review(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The package's own review file must not decide what these tests see."""
    monkeypatch.setattr(module, "REVIEW", tmp_path / "no_review.csv")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def pairs(vocabulary: Vocabulary) -> dict[str, str]:
    return {term.expert: term.lay for term in vocabulary.terms}


def reasons(vocabulary: Vocabulary) -> dict[str, str]:
    return {pair.expert: pair.reason for pair in vocabulary.rejected}


def term(expert: str, lay: str, *, pos: str = "noun", expert_plural: str = "", lay_plural: str = "") -> Term:
    return Term(expert, lay, None, "finding", pos, expert_plural, lay_plural, "", False, "test", "CC0-1.0")


# --- CSV --------------------------------------------------------------------------------------------------------------


def test_csv_by_any_of_its_column_names(tmp_path: Path) -> None:
    path = write(
        tmp_path / "v.csv",
        "CUI,Expert term,lay_term,source,Licence,semtype\n"
        "C0020538,hypertension,high blood pressure,Some list,CC BY 4.0,T047\n",
    )
    vocabulary = read_vocabulary(path)
    assert vocabulary.terms == (
        Term(
            "hypertension",
            "high blood pressure",
            "C0020538",
            "disease",
            "noun",
            "",
            "",
            "",
            False,
            "Some list",
            "CC BY 4.0",
        ),
    )
    assert vocabulary.sources[0].licences == ("CC-BY-4.0",)
    assert (vocabulary.sources[0].name, vocabulary.sources[0].pairs, vocabulary.sources[0].used) == ("v.csv", 1, 1)


def test_curated_columns_are_taken_as_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / "v.csv",
        "expert,lay,kind,pos,expert_plural,lay_plural,site,gloss\n"
        "hepatic,liver,anatomy,adjective,-,-,the liver,\n"
        "abscess,pocket of pus,finding,noun,,,in,yes\n",
    )
    abscess, hepatic = read_vocabulary(path).terms
    assert (abscess.site, abscess.gloss, abscess.source, abscess.licence) == ("in", True, "v.csv", "")
    assert (hepatic.pos, hepatic.site, hepatic.expert_plural, hepatic.gloss) == ("adjective", "the liver", "-", False)


def test_a_list_of_synonyms_loses_only_the_capitals_of_headwords(tmp_path: Path) -> None:
    path = write(
        tmp_path / "v.csv",
        "term,lay\n"
        "Pulmonary edema,Wet lung\n"
        "Carsickness,Motion Sickness\n"
        "Trisomy,Down syndrome\n"
        "Nephroblastoma,Wilms tumor\n"
        "Embryonal tumor of kidney,tumor that Wilms described\n"
        "Nuclear magnetic resonance,MRI scan\n",
    )
    assert set(pairs(read_vocabulary(path)).values()) == {
        "wet lung",
        "motion sickness",
        "Down syndrome",
        "Wilms tumor",
        "tumor that Wilms described",
        "MRI scan",
    }


def test_pairs_that_cannot_be_substituted_are_kept_with_their_reason(tmp_path: Path) -> None:
    path = write(
        tmp_path / "v.csv",
        "expert,lay,substitute,why_not,semtype\n"
        "ascites,a build-up of too much fluid inside the belly area,,,\n"
        "brachymetatarsia,short 4th toe bone,,,\n"
        "edema,,,,\n"
        "RA,joint disease,,,\n"
        "stridor,Stridor,,,\n"
        "lead,lead poisoning,,,\n"
        "retinal,vitamin A,,,\n"
        "adhesions,pelvic adhesions,,,\n"
        "silicosis,acute lung scarring,,,\n"
        "vaping,how smoking goes electric,,,\n"
        "chills@en,shivers,,,\n"
        "left-sided pneumonia,lung infection,,,\n"
        "angina,chest pain,no,ambiguous,\n"
        "emesis,throwing up,,,T184\n",
    )
    vocabulary = read_vocabulary(path)
    assert pairs(vocabulary) == {"emesis": "throwing up"}
    assert reasons(vocabulary) == {
        "ascites": "lay side longer than 8 words",
        "brachymetatarsia": "lay side adds, loses or changes a fact",
        "edema": "one side is empty",
        "RA": "expert side shorter than 3 letters",
        "stridor": "both sides are the same",
        "lead": "expert side is a common English word",
        "retinal": "expert side is an adjective, the lay side may not be one",
        "adhesions": "lay side only adds words to the expert side",
        "silicosis": "lay side adds 'acute'",
        "vaping": "lay side is a page title",
        "chills@en": "a side holds characters that are not part of a phrase",
        "left-sided pneumonia": "lay side adds, loses or changes a fact",
        "angina": "its own source says no: ambiguous",
    }
    assert vocabulary.sources[0].pairs == len(vocabulary.terms) + len(vocabulary.rejected) == 14
    assert sum(vocabulary.reasons.values()) == 13


def test_one_lay_phrase_for_each_expert_form(tmp_path: Path) -> None:
    path = write(
        tmp_path / "v.csv",
        "expert,lay,source\n"
        "cardiomegaly,increased size of the heart,First\n"
        "cardiomegaly,enlarged heart,First\n"
        "Cardiomegaly,big heart,Second\n"
        "splenomegaly,enlarged spleen,First\n"
        "splenomegaly,bloated spleen,First\n"
        "emesis,vomit,First\n"
        "emesis,puking,First\n"
        "emesis,Puking,Second\n",
    )
    vocabulary = read_vocabulary(path)
    # The first source, then fewer words, then the words that the list uses most ("enlarged"), then the alphabet.
    assert pairs(vocabulary) == {
        "cardiomegaly": "enlarged heart",
        "splenomegaly": "enlarged spleen",
        "emesis": "puking",
    }
    assert vocabulary.reasons == {"ambiguous: another lay phrase was chosen": 4, "the same pair twice": 1}


def test_of_a_pair_written_twice_the_row_that_names_its_concept_is_kept(tmp_path: Path) -> None:
    rows = ["edema,swelling,,other\n", "edema,swelling,C0013604,finding\n"]
    for number, order in enumerate((rows, rows[::-1])):
        (term,) = read_vocabulary(write(tmp_path / f"{number}.csv", "expert,lay,cui,kind\n" + "".join(order))).terms
        assert (term.cui, term.kind) == ("C0013604", "finding")


def test_review_decides_pairs_whatever_their_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(
        tmp_path / "v.csv",
        "expert,lay\nhernia,rupture of the wall\nhernia,groin bulge\nstroke,brain attack\npolio,limp\n",
    )
    ours = write(
        tmp_path / "package.csv", "expert,lay,verdict,reason\nPolio,Limp,reject,wrong\nstroke,Brain attack,reject,\n"
    )
    theirs = write(
        tmp_path / "mine.csv",
        "expert,lay,verdict,reason\nhernia,rupture of the wall,accept,\nSTROKE,brain attack,accept,\n",
    )
    monkeypatch.setattr(module, "REVIEW", ours)
    assert pairs(read_vocabulary(path)) == {"hernia": "groin bulge"}
    assert reasons(read_vocabulary(path))["polio"] == "rejected by review: wrong"
    # An accepted pair also passes the rules for doubtful pairs, and wins over a shorter phrase.
    assert pairs(read_vocabulary(path, review=theirs)) == {"hernia": "rupture of the wall", "stroke": "brain attack"}


def test_earlier_vocabulary_wins(tmp_path: Path) -> None:
    first = read_vocabulary(write(tmp_path / "a.csv", "expert,lay\nEdema,swelling of tissue\n"))
    second = read_vocabulary(
        write(tmp_path / "b.csv", "expert,lay\nedema,water retention\nascites,fluid in the belly\n")
    )
    both = combine([first, second])
    assert pairs(both) == {"Edema": "swelling of tissue", "ascites": "fluid in the belly"}
    assert reasons(both) == {"edema": "an earlier vocabulary has the term"}
    assert [source.name for source in both.sources] == ["a.csv", "b.csv"]
    assert pairs(combine([second, first]))["edema"] == "water retention"


def test_what_an_earlier_vocabulary_has_does_not_count_as_used(tmp_path: Path) -> None:
    rows = "expert,lay,licence\nedema,swelling,CC0\nascites,fluid in the belly,CC-BY\n"
    first = read_vocabulary(write(tmp_path / "a.csv", rows))
    second = read_vocabulary(write(tmp_path / "b.csv", rows + "emesis,throwing up,CC-BY-SA\n"))
    counted = [(source.name, source.pairs, source.used, source.licences) for source in combine([first, second]).sources]
    assert counted == [("a.csv", 2, 2, ("CC-BY", "CC0-1.0")), ("b.csv", 3, 1, ("CC-BY-SA",))]
    assert combine([second, first]).sources[1].licences == ("none used",)
    late = in_turn([first, second])[1]
    assert late.reasons == {"an earlier vocabulary has the term": 2} and pairs(late) == {"emesis": "throwing up"}


def test_a_pair_that_is_both_accepted_and_rejected_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "v.csv", "expert,lay\nhernia,groin bulge\n")
    verdicts = "expert,lay,verdict,reason\nhernia,groin bulge,reject,no\n"
    review = write(tmp_path / "r.csv", verdicts + "Hernia,Groin bulge,accept,\n")
    with pytest.raises(InputError, match="one verdict for each pair") as error:
        read_vocabulary(path, review=review)
    assert error.value.where == f"{review}:3"
    write(review, verdicts + "hernia,groin bulge,reject,again\nhernia,rupture,accept,\n")
    with pytest.raises(InputError, match="no usable line"):
        read_vocabulary(path, review=review)


def test_identity_follows_the_terms_not_the_file(tmp_path: Path) -> None:
    text = "expert,lay,source\nascites,fluid in the belly,x\nemesis,throwing up,x\n"
    one = read_vocabulary(write(tmp_path / "one.csv", text))
    other = read_vocabulary(
        write(tmp_path / "other.csv", "expert,lay,source\nemesis,throwing up,x\nascites,fluid in the belly,x\n")
    )
    changed = read_vocabulary(write(tmp_path / "changed.csv", text.replace("belly", "tummy")))
    assert one.identity == other.identity != changed.identity
    assert one.sources[0].digest != other.sources[0].digest


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("expert,lay\nedema\n", ":2", "a row of 1 cell"),
        ("expert,lay\nedema,swelling,more\n", ":2", "a row of 3 cells"),
        ('expert,lay\nedema,swelling\nascites,"fluid in\n', ":3", "cannot be read as CSV"),
        ("expert,lay\n", ".csv", "only a header line"),
        ("\n\n", ".csv", "only blank lines"),
        ("expert,other\nedema,x\n", ".csv", "has no column 'lay'"),
        ("expert,lay,lay\nedema,x,y\n", ":1", "column names"),
        ("expert,lay,cui\nedema,swelling,1234\n", ":2", "cui '1234'"),
        ("expert,lay,kind\nedema,swelling,organ\n", ":2", "kind 'organ'"),
        ("expert,lay,substitute\nedema,swelling,maybe\n", ":2", "substitute 'maybe'"),
    ],
)
def test_broken_csv_says_where(tmp_path: Path, text: str, where: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        read_vocabulary(write(tmp_path / "v.csv", text))
    assert f"{where}: " in str(error.value) and found in str(error.value)


WORDS = ["".join(pair) for pair in itertools.product("abcdefghij", repeat=2)]


def test_a_few_bad_rows_are_left_out_and_reported(tmp_path: Path) -> None:
    text = "expert,lay,kind\n" + "".join(f"edema number {word},swelling,finding\n" for word in WORDS)
    vocabulary = read_vocabulary(write(tmp_path / "v.csv", f"{text}edema,swelling,organ\n"))
    assert len(vocabulary.terms) == len(WORDS)
    told = {(row.where, row.reason) for row in vocabulary.rejected}
    assert told == {("v.csv:102", "cannot be read: a cell outside its values")}


def test_files_that_are_no_text(tmp_path: Path) -> None:
    latin = tmp_path / "latin.csv"
    latin.write_bytes("expert,lay\nedema,swelling\nœdème,gonflement\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"latin\.csv:3: character 1 of expert"):
        read_vocabulary(latin)
    marked = tmp_path / "marked.csv"
    marked.write_bytes(b"\xef\xbb\xbfexpert,lay\nedema,swelling\n")
    assert pairs(read_vocabulary(marked)) == {"edema": "swelling"}
    marked.write_bytes(b"\xef\xbb\xbfexpert,lay\nedema,\xff\n")
    with pytest.raises(InputError, match=r":2: character 1 of lay"):
        read_vocabulary(marked)
    empty = tmp_path / "empty.csv"
    empty.touch()
    for path, found in ((empty, "is empty"), (tmp_path / "none.csv", "does not exist"), (tmp_path, "without MRCONSO")):
        with pytest.raises(InputError, match=found):
            read_vocabulary(path)
    with pytest.raises(InputError, match=r"file type \.docx"):
        read_vocabulary(write(tmp_path / "v.docx", "x"))


# --- UMLS -------------------------------------------------------------------------------------------------------------


def atom(cui: str, text: str, sab: str, *, tty: str = "PT", lat: str = "ENG", suppress: str = "N") -> str:
    return f"{cui}|{lat}|P|L1|PF|S1|Y|A1||||{sab}|{tty}|X|{text}|0|{suppress}|256|\n"


ATOMS = [
    atom("C0020538", "Hypertensive disease", "SNOMEDCT_US"),
    atom("C0020538", "hypertension", "MSH"),
    atom("C0020538", "Hypertension", "ICD10"),
    atom("C0020538", "Hipertensión", "MSH", lat="SPA"),
    atom("C0020538", "HBP syndrome", "MSH", suppress="O"),
    atom("C0020538", "bp high", "CHV", tty="SY"),
    atom("C0020538", "High Blood Pressure", "MEDLINEPLUS"),
    atom("C0027051", "myocardial infarction", "CHV", tty="SY"),
    atom("C0027051", "heart attack", "CHV"),
    atom("C0027051", "infarctus", "MSH", lat="FRE"),
    atom("C0004057", "Aspirin tablet", "CHV"),
    atom("C0004057", "acetylsalicylic acid", "MSH"),
    atom("C9999999", "nobody says this plainly", "MSH"),
]
TYPES = "C0020538|T047|B2.2.1.2.1|Disease or Syndrome|AT1|256|\nC0027051|T047|B|D|AT2||\nC0004057|T999|A|X|AT3||\n"


def umls(folder: Path, atoms: list[str] = ATOMS, types: str | None = TYPES) -> Path:
    meta = folder / "META"
    meta.mkdir()
    write(meta / "MRCONSO.RRF", "".join(atoms))
    if types is not None:
        write(meta / "MRSTY.RRF", types)
    return meta


def test_umls_consumer_names_for_every_other_english_atom(tmp_path: Path) -> None:
    meta = umls(tmp_path)
    vocabulary = read_vocabulary(meta)
    assert pairs(vocabulary) == {
        "Hypertensive disease": "high blood pressure",
        "hypertension": "high blood pressure",
        "bp high": "high blood pressure",
        "myocardial infarction": "heart attack",
    }
    assert {term.source for term in vocabulary.terms} == {"MRCONSO/MEDLINEPLUS", "MRCONSO/CHV"}
    assert {term.kind for term in vocabulary.terms} == {"disease"}
    assert reasons(vocabulary) == {"acetylsalicylic acid": "semantic type not asked for"}
    assert read_vocabulary(meta / "MRCONSO.RRF").identity == read_vocabulary(tmp_path).identity == vocabulary.identity


def test_umls_consumer_names_are_english_and_in_use(tmp_path: Path) -> None:
    more = [
        atom("C0027051", "ataque cardíaco", "MEDLINEPLUS", lat="SPA"),
        atom("C0027051", "heart trouble", "MEDLINEPLUS", suppress="O"),
    ]
    assert pairs(read_vocabulary(umls(tmp_path, [*ATOMS, *more])))["myocardial infarction"] == "heart attack"


def test_umls_does_not_lean_on_the_order_of_lines(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    # "Hypertension" and "hypertension" are one form; which of the two is kept follows the file, all else does not.
    atoms = [a for a in ATOMS if "|Hypertension|" not in a]
    one = read_vocabulary(umls(tmp_path / "a", atoms))
    other = read_vocabulary(umls(tmp_path / "b", atoms[::-1]))
    assert one.identity == other.identity


def test_umls_without_semantic_types(tmp_path: Path) -> None:
    meta = umls(tmp_path, types=None)
    assert pairs(read_vocabulary(meta))["acetylsalicylic acid"] == "aspirin tablet"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("C0000005|ENG|P|L1\n", "3 cells, the first is 'C0000005'"),
        (atom("", "x", "CHV"), "18 cells, the first is ''"),
        (ATOMS[0].rstrip("|\n"), "17 cells"),
    ],
)
def test_malformed_umls_line_says_where(tmp_path: Path, line: str, found: str) -> None:
    meta = umls(tmp_path, [*ATOMS, line])
    with pytest.raises(InputError) as error:
        read_vocabulary(meta)
    assert f"MRCONSO.RRF:{len(ATOMS) + 1}: {found}" in str(error.value)
    assert "18 cells" in str(error.value)


def test_bad_lines_of_umls_count_against_their_own_file(tmp_path: Path) -> None:
    meta = umls(tmp_path, [*ATOMS * 10, "C0000005|ENG|P|L1\n"])
    unread = [one.where for one in read_vocabulary(meta).rejected if one.reason.startswith("cannot be read")]
    assert unread == ["MRCONSO.RRF:131"]  # one of 131 lines, though one for the three of MRSTY


def test_umls_without_a_licence_asks_for_no_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="because: licence unknown: UMLS") as error:
        read_vocabulary(umls(tmp_path), allowed=frozenset())
    assert error.value.do == "Let it in by name with --allow-licence"


def test_umls_not_utf8_or_empty(tmp_path: Path) -> None:
    meta = umls(tmp_path)
    (meta / "MRCONSO.RRF").write_bytes("".join(ATOMS).encode("cp1252"))
    with pytest.raises(InputError, match=r"MRCONSO\.RRF:4: character \d+"):
        read_vocabulary(meta)
    (meta / "MRCONSO.RRF").write_bytes(b"")
    with pytest.raises(InputError, match=r"MRCONSO\.RRF: is empty"):
        read_vocabulary(meta)
    write(meta / "MRCONSO.RRF", "".join(ATOMS))
    write(meta / "MRSTY.RRF", "C0020538|T047|\n")
    with pytest.raises(InputError, match=r"MRSTY\.RRF:1: 2 cells"):
        read_vocabulary(meta)


# --- MedlinePlus ------------------------------------------------------------------------------------------------------

TOPICS = """<?xml version="1.0" encoding="UTF-8"?>
<health-topics total="3" date-generated="01/01/2025 02:30:31">
  <health-topic title="High Blood Pressure" url="https://medlineplus.gov/x.html" id="34" language="English">
    <also-called>HBP disease</also-called><also-called>Hypertension</also-called>
    <full-summary>&lt;p&gt;Your blood pressure is high.&lt;/p&gt;</full-summary>
    <mesh-heading><descriptor id="D006973">Hypertension</descriptor></mesh-heading>
  </health-topic>
  <health-topic title="Kidney Stones" url="https://medlineplus.gov/y.html" id="35" language="English">
    <also-called>Nephrolithiasis</also-called>
    <full-summary>A kidney stone is hard.</full-summary>
    <mesh-heading><descriptor id="D007669">Kidney Calculi</descriptor></mesh-heading>
    <mesh-heading><descriptor id="D052878">Urolithiasis</descriptor></mesh-heading>
  </health-topic>
  <health-topic title="Cálculos renales" url="https://medlineplus.gov/z.html" id="36" language="Spanish">
    <also-called>Nefrolitiasis</also-called>
  </health-topic>
</health-topics>
"""


def test_medlineplus_titles_are_the_lay_side(tmp_path: Path) -> None:
    path = write(tmp_path / "mplus_topics.xml", TOPICS)
    vocabulary = read_vocabulary(path)
    # A MeSH heading stands for the topic only where it is the topic's only one.
    assert pairs(vocabulary) == {
        "HBP disease": "high blood pressure",
        "Hypertension": "high blood pressure",
        "Nephrolithiasis": "kidney stones",
    }
    assert vocabulary.sources[0].licences == ("public-domain",)
    packed = tmp_path / "mplus_topics.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(path, "mplus_topics.xml")
    assert read_vocabulary(packed).identity == vocabulary.identity


def test_broken_medlineplus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cut\.xml:\d+: is not well-formed XML"):
        read_vocabulary(write(tmp_path / "cut.xml", TOPICS[:700]))
    with pytest.raises(InputError, match="holds no health-topic element"):
        read_vocabulary(write(tmp_path / "other.xml", "<html/>"))
    packed = tmp_path / "two.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.xml", TOPICS)
        archive.writestr("b.xml", TOPICS)
    with pytest.raises(InputError, match="is a zip with 2 XML files"):
        read_vocabulary(packed)
    whole = packed.read_bytes()
    packed.write_bytes(whole[:60] + bytes(20) + whole[80:])
    with pytest.raises(InputError):
        read_vocabulary(packed)


def test_an_entity_bomb_does_not_go_off(tmp_path: Path) -> None:
    bomb = (
        '<!DOCTYPE x [<!ENTITY a "'
        + "ha" * 50
        + '">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 20}">' for n in range(9))
    )
    path = write(tmp_path / "bomb.xml", f'{bomb}]><health-topic title="&j;"/>')
    started = time.process_time()
    with pytest.raises(InputError, match="not well-formed"):
        read_vocabulary(path)
    # Expanded it would be 10^13 characters; the parser's own limit is reached in a moment.
    assert time.process_time() - started < 20


# --- Plurals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (term("abscess", "pocket of pus"), ("abscesses", "pockets of pus")),
        (term("metastasis", "spread of the cancer"), ("metastases", "spreads of the cancer")),
        (term("bronchus", "large airway"), ("bronchi", "large airways")),
        (term("diverticulum", "pouch in the wall"), ("diverticula", "pouches in the wall")),
        (term("computed tomography scan", "CT scan"), ("computed tomography scans", "CT scans")),
        (term("phalanx", "finger bone", expert_plural="phalanges"), ("phalanges", "finger bones")),
        (term("effusion", "fluid", lay_plural="-"), ("effusions", "fluid")),
        (term("edema", "swelling", expert_plural="-"), ("", "")),
        (term("hepatic", "liver", pos="adjective"), ("", "")),
        (term("status post", "after", pos="phrase"), ("", "")),
        # Already plural on both sides: there is no further form.
        (term("kidney calculi", "kidney stones"), ("", "")),
    ],
)
def test_plural_forms(entry: Term, expected: tuple[str, str]) -> None:
    assert plural_forms(entry) == expected


# --- Real files -------------------------------------------------------------------------------------------------------


def test_bundled_list_is_whole() -> None:
    vocabulary = read_vocabulary("bundled")
    assert len(vocabulary.terms) >= 400
    assert {term.licence for term in vocabulary.terms} == {"CC0-1.0"}
    assert {term.kind for term in vocabulary.terms} <= set(KINDS)
    assert {term.pos for term in vocabulary.terms} <= set(POS)
    assert not [pair for pair in vocabulary.rejected if not pair.reason.startswith("rejected by review")]


def test_reads_a_large_public_list() -> None:
    path = SHARED / "data" / "text" / "lay_vocabulary.csv"
    if not path.is_file():
        pytest.skip(f"{path} is not on this machine")
    vocabulary = read_vocabulary(path)
    assert vocabulary.sources[0].pairs == 27_245 == len(vocabulary.terms) + len(vocabulary.rejected)
    assert sum(n for reason, n in vocabulary.reasons.items() if reason.startswith("its own source says no")) == 16_253
    found = pairs(vocabulary)
    assert found["Splenomegaly"] == "increased spleen size"
    assert found["Myocardial infarction"] == "heart attack"
    assert "Retinal" not in found


def test_inflect_is_not_instrumented() -> None:
    """Typeguard would parse it 23 times, 1.7 s of every process; it stays as it is for everybody else."""
    import typeguard

    assert "typeguard" not in str(english().plural_noun.__func__.__code__.co_names + english().a.__code__.co_names)
    assert typeguard.typechecked.__module__.startswith("typeguard")


def test_a_change_of_any_field_is_another_digest() -> None:
    one = term("foo", "bar")
    values = [replace(one, **{field.name: not getattr(one, field.name)}) for field in fields(Term)]
    assert len({terms_digest([each]) for each in (one, *values)}) == 1 + len(fields(Term))
