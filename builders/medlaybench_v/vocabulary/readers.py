"""Reads lay vocabularies as others publish them: CSV, UMLS `MRCONSO.RRF`, MedlinePlus health topics.

Every reader returns candidates, not yet judged fit for substitution, and what the card must say about the source.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from builders.medlaybench_v.words.lists import listed
from builders.medlaybench_v.words.terms import KINDS, POS, Term
from loaders.errors import CHECK_WHOLE, InputError, how_many
from loaders.files.bad_rows import BadRow, check_bad
from loaders.files.cells import cell_text
from loaders.files.opening import blocks_of, digest_of, open_file, read_file
from loaders.files.paths import is_there, name_of
from loaders.files.tables import open_table
from loaders.files.texts import line_text, stream_lines
from loaders.medlaybench_v import CUI

# Sources of lay names inside UMLS; the first one that has a name wins.
LAY_SOURCES = ("MEDLINEPLUS", "CHV")
XML_LIMIT = 256 << 20

# UMLS semantic types that a caption can speak of, and the kind of term that each becomes here.
KIND_OF_TYPE = {
    **dict.fromkeys(("T017", "T018", "T021", "T022", "T023", "T024", "T025", "T029", "T030", "T031"), "anatomy"),
    **dict.fromkeys(("T033", "T034", "T037", "T046", "T184", "T190", "T201"), "finding"),
    **dict.fromkeys(("T019", "T020", "T047", "T048", "T049", "T050", "T191"), "disease"),
    **dict.fromkeys(("T058", "T059", "T060", "T061"), "procedure"),
    **dict.fromkeys(("T074", "T075", "T203"), "device"),
    **dict.fromkeys(("T109", "T121", "T130", "T195", "T200"), "agent"),
}

_MOST_BAD = 1_000_000  # bad rows that are kept for the report
_VALUE = "a cell outside its values"
_OPTIONAL = (
    "cui", "kind", "semtype", "pos", "expert_plural", "lay_plural", "site", "gloss", "substitute", "why_not", "source",
)  # fmt: skip
_YES_NO = ("yes", "no")
_ADJECTIVE = re.compile(r"[a-z-]{3,}(?:al|ic|ous|ar|ary|ory|oid|ive)\Z", re.IGNORECASE)
_NOUN_IN_ADJECTIVE_CLOTHES = listed("nouns that end as adjectives")


@dataclass(frozen=True, slots=True)
class TermCandidate:
    """A term as the source has it, its place there, and whether its author wrote it for substitution."""

    term: Term
    where: str
    curated: bool
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything read from one vocabulary, in its own order, with the SHA-256 of its files.

    `bad` are rows that could not be read.
    """

    candidates: list[TermCandidate]
    digest: str
    bad: list[BadRow]
    running_text: str = ""


def guess_pos(expert: str, lay: str) -> str:
    """Part of speech of a term whose source does not state it.

    >>> guess_pos("hepatic", "liver"), guess_pos("lymph node", "gland"), guess_pos("seizures, focal", "fits")
    ('adjective', 'noun', 'phrase')
    """
    if _ADJECTIVE.match(expert) and expert.casefold() not in _NOUN_IN_ADJECTIVE_CLOTHES:
        return "adjective"
    return "noun" if all(re.fullmatch(r"[^\W\d_](?:[\w' -]*\w)?", side) for side in (expert, lay)) else "phrase"


def read_csv(path: Path, origin: str = "", licence: str = "") -> Reading:
    """A table of expert and lay terms: columns `expert` (or expert_term, term) and `lay` (or lay_term, layman_term,
    consumer_term), and any of cui, kind, pos, expert_plural, lay_plural, site, gloss, source, licence.

    A column `substitute` (yes, no) alone decides which rows may be used, with the reason in `why_not`; a column
    `semtype` (TUIs joined by semicolons) determines the kind. A list with a column `kind` counts as one for
    substitution. `origin` and `licence` are those of rows that state none.

    Raises: InputError as `loaders.files.tables.open_table`, or too many rows that cannot be read, such as for a cell
    outside its allowed values.
    """
    table = open_table(path)
    expert = table.column("expert", "expert_term", "term", needed=True)
    lay = table.column("lay", "lay_term", "layman_term", "consumer_term", needed=True)
    columns = {"expert": expert, "lay": lay, "licence": table.column("licence", "license")}
    columns |= {name: table.column(name) for name in _OPTIONAL}
    absent = {"source": origin or name_of(path), "licence": licence}
    candidates: list[TermCandidate] = []
    bad = list(table.bad)
    for line, row in table.rows:
        where = f"{name_of(path)}:{line}"
        told = {name: text for name, column in columns.items() if column and (text := cell_text(row[column]))}
        try:
            term, refused = _table_term(absent | told, where)
            candidates.append(TermCandidate(term, where, columns["kind"] is not None, refused))
        except BadRow as error:
            bad.append(error)
    check_bad(bad, len(table.rows) + len(table.bad), path)
    return Reading(candidates, table.digest, bad)


def _table_term(told: dict[str, str], where: str) -> tuple[Term, str]:
    """The term of a row, from its cells that are not empty, and why it must not be used, if so. Raises: BadRow for a
    cell outside its allowed values."""
    expert, lay, cui = told.get("expert", ""), told.get("lay", ""), told.get("cui")
    if cui and not CUI.fullmatch(cui):
        raise BadRow(where, reason=_VALUE, found=f"cui {cui!r}", expected="C and seven digits, or an empty cell")
    kind = _one_of(told, "kind", KINDS, where) or _kind(told.get("semtype", ""))
    pos = _one_of(told, "pos", POS, where) or guess_pos(expert, lay)
    refused = ""
    if _one_of(told, "substitute", _YES_NO, where) == "no":
        refused = f"its own source says no: {told.get('why_not') or 'no reason given'}"
    term = Term(
        expert=" ".join(expert.split()),
        lay=" ".join(lay.split()),
        cui=cui,
        kind=kind,
        pos=pos,
        expert_plural=told.get("expert_plural", ""),
        lay_plural=told.get("lay_plural", ""),
        site=told.get("site", ""),
        gloss=_one_of(told, "gloss", _YES_NO, where) == "yes",
        source=told["source"],
        licence=told["licence"],
    )
    return term, refused


def _one_of(told: dict[str, str], name: str, allowed: tuple[str, ...], where: str) -> str:
    """The value of a cell in lower case, "" for an empty one. Raises: BadRow for any but the allowed ones."""
    value = told.get(name, "").casefold()
    if value and value not in allowed:
        raise BadRow(where, reason=_VALUE, found=f"{name} {value!r}", expected="one of " + ", ".join(allowed))
    return value


def _kind(semtypes: str) -> str:
    return next((KIND_OF_TYPE[code] for code in semtypes.split(";") if code in KIND_OF_TYPE), "other")


# --- UMLS -------------------------------------------------------------------------------------------------------------


def read_umls(path: Path) -> Reading:
    """Expert forms and consumer names of a UMLS release (`MRCONSO.RRF`, or the META folder that holds it).

    The lay side is the preferred name in MEDLINEPLUS, else in CHV; the expert side is every other English atom of the
    concept that is not suppressed. `MRSTY.RRF` beside it limits the concepts to `KIND_OF_TYPE`.
    Both passes stream: only one name per concept with a consumer name is held in memory.

    Raises: InputError if a file is missing or empty, or too many lines are not UTF-8, cut off, or not of the layout.
    """
    bad: list[BadRow] = []
    consumer_names, digest = _consumer_names(path, bad), digest_of(path)
    semantics = path.with_name("MRSTY.RRF")
    kinds: dict[str, str] | None = None
    if is_there(semantics):
        kinds = _semantic_types(semantics, consumer_names.keys(), bad)
        digest = hashlib.sha256((digest + digest_of(semantics)).encode()).hexdigest()
    candidates: list[TermCandidate] = []
    seen: set[tuple[str, str]] = set()
    for line, cells in _rrf(path, 18):
        cui, text = cells[0], cells[14].strip()
        if cells[1] != "ENG" or cells[16] != "N" or cui not in consumer_names or (cui, text.casefold()) in seen:
            continue
        _, _, _, lay, source = consumer_names[cui]
        if text.casefold() == lay.casefold():
            continue
        seen.add((cui, text.casefold()))
        refused = "" if kinds is None or cui in kinds else "semantic type not asked for"
        kind = "other" if kinds is None else kinds.get(cui, "other")
        term = Term(text, lay, cui, kind, guess_pos(text, lay), "", "", "", False, f"MRCONSO/{source}", "UMLS")
        candidates.append(TermCandidate(term, f"{path.name}:{line}", False, refused))
    return Reading(candidates, digest, bad)


def _consumer_names(path: Path, bad: list[BadRow]) -> dict[str, tuple[int, int, int, str, str]]:
    """The best consumer name of each concept."""
    best: dict[str, tuple[int, int, int, str, str]] = {}
    for _, cells in _rrf(path, 18, bad):
        source = cells[11]
        if source not in LAY_SOURCES or cells[1] != "ENG" or cells[16] != "N":
            continue
        text = cells[14].strip()
        # Order: source, its preferred term, the shorter name, the alphabet.
        rank = (LAY_SOURCES.index(source), int(cells[12] != "PT"), len(text.split()), text, source)
        if text and rank < best.get(cells[0], (len(LAY_SOURCES), 0, 0, "", "")):
            best[cells[0]] = rank
    return best


def _semantic_types(path: Path, wanted: Container[str], bad: list[BadRow]) -> dict[str, str]:
    """Kind of every wanted concept that has a type of `KIND_OF_TYPE`."""
    kinds: dict[str, str] = {}
    for _, cells in _rrf(path, 6, bad):
        if cells[1] in KIND_OF_TYPE and cells[0] in wanted:
            kinds.setdefault(cells[0], KIND_OF_TYPE[cells[1]])
    return kinds


def _rrf(path: Path, columns: int, bad: list[BadRow] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Rows of a pipe-separated UMLS file, in which a pipe ends every cell, even the last; others go to `bad`."""
    number = lines = 0
    wrong: list[BadRow] = []  # of this file alone: `bad` may hold those of another
    with open_file(path, expected="a UMLS file") as file:
        for number, raw in stream_lines(blocks_of(file), path):
            lines += 1
            where = f"{name_of(path)}:{number}"
            try:
                cells = line_text(raw, where).split("|")
                if len(cells) != columns + 1 or cells[-1] or not CUI.fullmatch(cells[0]):
                    raise BadRow(
                        where,
                        reason="another number of cells than the layout",
                        found=f"{how_many(len(cells) - 1, 'cell')}, the first is {cells[0][:20]!r}",
                        expected=f"{columns} cells that each end in '|', the first a CUI such as C0000005",
                        do="Fetch the file again if this is its last line: it was cut off",
                    )
            except BadRow as error:
                if len(wrong) <= _MOST_BAD:
                    wrong.append(error)
                continue
            yield number, cells
    if not lines:
        raise InputError(path, found="is empty", expected=f"rows of {columns} cells", do=CHECK_WHOLE)
    if bad is not None:
        check_bad(wrong, lines, path)
        bad += wrong


# --- MedlinePlus ------------------------------------------------------------------------------------------------------


def read_medlineplus(path: Path) -> Reading:
    """Health topics of MedlinePlus (`mplus_topics_*.xml`, or the zip it comes in), English ones only.

    The topic's title is the lay name; its also-called names, and its MeSH heading if there is exactly one, are the
    expert forms. If there are several headings, none of them means the topic as a whole.

    Raises: InputError if the file is empty, cut off, not such a file, or a zip that cannot be read.
    """
    data = read_file(path)
    if not data:
        raise InputError(path, found="is empty", expected="a MedlinePlus health-topic file", do=CHECK_WHOLE)
    source = _unzip(data, path) if zipfile.is_zipfile(io.BytesIO(data)) else data
    candidates: list[TermCandidate] = []
    running: list[str] = []
    topics = 0
    try:
        for _, topic in ElementTree.iterparse(io.BytesIO(source)):
            if topic.tag != "health-topic":
                continue
            topics += 1
            if topic.get("language", "English") == "English":
                title = (topic.get("title") or "").strip()
                running.append(re.sub(r"<[^>]*>", " ", topic.findtext("full-summary") or ""))
                where = f"{path.name}, topic {topic.get('id', topics)}"
                candidates += [TermCandidate(_topic_term(name, title), where, False) for name in _expert_names(topic)]
            topic.clear()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(
            f"{path}:{getattr(error, 'position', (1,))[0]}",
            found=f"is not well-formed XML ({error})",
            expected="a MedlinePlus health-topic file",
            do="Fetch the file again: it may have been cut off",
        ) from None
    if not topics:
        raise InputError(path, found="holds no health-topic element", expected="a MedlinePlus health-topic file")
    return Reading(candidates, hashlib.sha256(data).hexdigest(), [], " ".join(running))


def _topic_term(name: str, title: str) -> Term:
    pos = guess_pos(name, title)
    return Term(name, title, None, "other", pos, "", "", "", False, "MedlinePlus health topics", "public domain")


def _expert_names(topic: ElementTree.Element) -> list[str]:
    headings = [(node.text or "").strip() for node in topic.iterfind("mesh-heading/descriptor")]
    names = [(node.text or "").strip() for node in topic.iterfind("also-called")]
    return [name for name in dict.fromkeys(names + (headings if len(headings) == 1 else [])) if name]


def _unzip(data: bytes, path: Path) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [info for info in archive.infolist() if info.filename.casefold().endswith(".xml")]
            size = sum(member.file_size for member in members)
            # Nothing beyond the size that the archive declares is unpacked.
            unpacked = archive.read(members[0]) if len(members) == 1 and size <= XML_LIMIT else None
    except Exception as error:  # a damaged archive may raise anything
        raise InputError(path, found=f"is a zip that cannot be read ({error})", expected="a whole zip file") from None
    if unpacked is None:
        found = f"is a zip with {len(members)} XML files of {size:,} bytes"
        raise InputError(path, found=found, expected=f"one XML file of at most {XML_LIMIT:,} bytes")
    return unpacked
