"""Statistics of a release, measured from its rows: the card prints them and `bedside verify` measures them again."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from builders.licences import read_licence
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import GATES, JUDGE, OUTCOMES, STYLE, Verdict, check
from builders.medlaybench_v.steps import context_of, how_it_reads, in_other_words, licence_with
from builders.medlaybench_v.words.reads_well import READS_WELL, unexplained_words
from builders.pipeline.rows import Row
from builders.release.counted import Counted
from builders.steps import unclean
from loaders.imaging import BY_CUI, BY_NOTHING, BY_TEXT, method_of
from loaders.medlaybench_v import MODALITIES

RULES = 46
"""The version of what `check_row` requires and `measure` counts; 1 covers everything before versions were numbered."""

_STUMBLES = ("repeats", "hyphens", "stacks", "unexplained", "unexplained_by_experts")
_SHARED = ("pictures", "articles", "captions")
STATUSES = ("accepted", "repaired", "judged", "fallback", "ungated")


class Tally:
    """Counts by split, modality, status, refiner, licence and gate; mean lengths in words."""

    def __init__(self) -> None:
        self.by: dict[str, Counter[Any]] = defaultdict(Counter)
        self.shown: dict[tuple[str, str], array[int]] = defaultdict(partial(array, "Q"))

    def add(self, row: Row) -> None:
        """Count a row."""
        by, reads = self.by, row["reads_well"]
        by["modality"][row["split"], row["modality"]] += 1
        by["modality_source"][row["modality_source"]] += 1
        by["status"][row["split"], row["status"]] += 1
        by["refiner"][row["refiner"]] += 1
        by["licence"][read_licence(row["licence"]).id] += 1
        for licence in {read_licence(licence).id for licence in row["phrase_licences"] if licence}:
            by["phrases"][licence] += 1
        by["score"][reads["score"]] += 1
        stumbles, gates = by["stumbles"], by["gates"]
        for kind in ("repeats", "hyphens", "stacks"):
            stumbles[kind] += reads[kind]
        stumbles["unexplained"] += len(reads["unexplained"])
        stumbles["unexplained_by_experts"] += len(unexplained_words(row["expert_caption"]))
        for stored in row["gates"]:
            passed = stored["passed"] and not stored["reason"]  # most gates of most rows
            gates[stored["gate"], "passed" if passed else Verdict(**stored).outcome] += 1
        count = by["count"]
        count["rows"] += 1
        count["with_lay_phrase"] += any(map(in_other_words, row["concepts"]))
        count["with_image"] += row["image"] is not None
        count["expert_words"] += len(row["expert_caption"].split())
        count["layman_words"] += len(row["layman_caption"].split())
        for kind, shown in _shown_by(row):
            digest = hashlib.blake2b(shown, digest_size=8).digest()  # 8 bytes a row: there may be millions
            self.shown[kind, row["split"]].append(int.from_bytes(digest, "big"))

    def merge(self, other: Tally) -> None:
        """Add the counts of other rows."""
        for name, counts in other.by.items():
            self.by[name].update(counts)
        for key, digests in other.shown.items():
            self.shown[key].extend(digests)

    def statistics(self) -> JsonValue:
        """The counts by name."""
        by, count = self.by, self.by["count"]
        total, scores = count["rows"], by["score"]
        splits = sorted({split for split, _ in by["modality"]})
        score = math.fsum(score * captions for score, captions in scores.items())
        return {
            "modality_by_split": {
                m.code: {split: by["modality"][split, m.code] for split in splits} for m in MODALITIES
            },
            "modality_source": {source: by["modality_source"][source] for source in (BY_CUI, BY_TEXT, BY_NOTHING)},
            "status_by_split": {
                name: {split: by["status"][split, name] for split in splits}
                for name in STATUSES
                if any(by["status"][split, name] for split in splits)
            },
            "refiner": dict(sorted(by["refiner"].items())),
            "licence": dict(sorted(by["licence"].items())),
            "licence_of_phrases": dict(sorted(by["phrases"].items())),
            "reads_well": {
                "captions": sum(captions for score, captions in scores.items() if score >= READS_WELL),
                "score": round(score / total, 3) if total else 0.0,
                **{kind: by["stumbles"][kind] for kind in _STUMBLES},
            },
            "gates": {
                gate: {outcome: by["gates"][gate, outcome] for outcome in OUTCOMES}
                for gate in (*GATES, JUDGE)
                if gate in GATES or any(by["gates"][gate, outcome] for outcome in OUTCOMES)
            },
            "across_splits": {kind: self._across(kind) for kind in _SHARED},
            "with_lay_phrase": count["with_lay_phrase"],
            "with_image": count["with_image"],
            "expert_words": round(count["expert_words"] / total, 2) if total else 0.0,
            "layman_words": round(count["layman_words"] / total, 2) if total else 0.0,
        }

    def _across(self, kind: str) -> int:
        """How many different pictures, articles or captions are in more than one split."""
        of_kind = [digests for (of, _), digests in self.shown.items() if of == kind]
        each = np.concatenate([_distinct(np.frombuffer(digests, np.uint64)) for digests in of_kind] or [np.empty(0)])
        each.sort()
        return len(_distinct(each[1:][each[1:] == each[:-1]]))


def _distinct(digests: NDArray[Any]) -> NDArray[Any]:
    """Sorts the digests, in place as there may be millions, and returns each once."""
    digests.sort()
    new = np.append(True, digests[1:] != digests[:-1])
    return np.compress(new[: len(digests)], digests)


def _shown_by(row: Row) -> Iterator[tuple[str, bytes]]:
    """What a row has that no other split should share: its picture, article and expert caption."""
    image = row["image"] or {}
    if image.get("bytes"):
        yield "pictures", image["bytes"]
    if row["article_id"]:
        yield "articles", row["article_id"].encode()
    yield "captions", row["expert_caption"].encode()


measure = Counted(Tally)


def check_row(row: dict[str, Any]) -> list[str]:
    """What is wrong with a row of a release: its spans, imaging method, or verdicts that the gates no longer give."""
    problems = unclean(row)
    caption = row["expert_caption"]
    for name in ("concepts", "protected"):
        text = "surface" if name == "concepts" else "text"
        for span in row[name]:
            if span["start"] >= 0 and (not span[text] or caption[span["start"] : span["end"]] != span[text]):
                problems.append(f"{name}: {span[text]!r} is not at {span['start']}-{span['end']} of the expert caption")
    problems += check_licence(row)
    method = method_of(row["cuis"], caption)
    if row["modality_source"] is not None and (row["modality"], row["modality_source"]) != method:
        problems.append(
            f"modality {row['modality']} by {row['modality_source']}, found {method.code} by {method.source}"
        )
    reads = row["reads_well"]
    if reads is not None and not _same_reading(reads, how_it_reads(row["layman_caption"])):
        problems.append(f"reads_well {reads}, found {how_it_reads(row['layman_caption'])}")
    if row["status"] not in STATUSES:
        problems.append(f"status {row['status']!r}, expected one of {', '.join(STATUSES)}")
    recorded = {v["gate"]: (v["passed"], v["reason"]) for v in row["gates"]}
    verdicts = check(read(row["expert_caption"]), read(row["layman_caption"]), context_of(row))
    for verdict in verdicts:
        if recorded.get(verdict.gate) != (verdict.passed, verdict.reason):
            problems.append(
                f"gate {verdict.gate}: recorded {recorded.get(verdict.gate)}, found {(verdict.passed, verdict.reason)}"
            )
        by_facts = verdict.gate not in STYLE
        if not verdict.passed and (
            row["status"] in ("accepted", "repaired") or (row["status"] == "judged" and not by_facts)
        ):
            problems.append(f"status {row['status']}, but gate {verdict.gate} fails: {verdict.reason}")
    if len(recorded) < len(row["gates"]) or recorded.keys() - {JUDGE, *(verdict.gate for verdict in verdicts)}:
        problems.append(f"gates {[v['gate'] for v in row['gates']]}, expected each once, and no others")
    if row["status"] == "judged" and recorded.get(JUDGE) != (True, ""):
        problems.append(f"status judged, but the judge did not find every fact kept: {recorded.get(JUDGE)}")
    return problems


def _same_reading(stated: dict[str, Any], found: dict[str, Any]) -> bool:
    """Equal except for what a float loses on its way through a file."""
    return abs(stated["score"] - found["score"]) < 1e-3 and {**stated, "score": 0} == {**found, "score": 0}


def check_licence(row: dict[str, Any]) -> list[str]:
    """A lay phrase without a licence, and a row whose licence asks for less than its caption's and phrases' do."""
    if row["caption_licence"] is None:  # of a version that did not record it
        return []
    phrases, licences = [concept["lay"] for concept in row["concepts"]], row["phrase_licences"]
    if list(map(bool, phrases)) != list(map(bool, licences)):
        return [f"phrase_licences {licences}, expected one for each lay phrase of {phrases}"]
    found = licence_with(row["caption_licence"], licences)
    if found == row["licence"]:
        return []
    return [f"licence {row['licence']!r}, but its caption and lay phrases make it {found!r}"]
