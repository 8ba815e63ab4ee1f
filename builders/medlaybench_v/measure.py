"""Statistics of a release, measured from its rows: what the card prints and `bedside verify` measures again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pydantic import JsonValue

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import GATES, OUTCOMES, Verdict, check
from builders.medlaybench_v.reads_well import READS_WELL, unexplained_words
from builders.medlaybench_v.steps import context_of, how_it_reads, licence_with
from loaders.imaging import BY_CUI, BY_NOTHING, BY_TEXT, method_of
from loaders.medlaybench_v import MODALITIES

RULES = 6
"""The version of what `check_row` holds rows to and `measure` counts; 1 was all that came before it had a number."""

_STUMBLES = ("repeats", "hyphens", "stacks", "unexplained", "unexplained_by_experts")
STATUSES = ("accepted", "repaired", "fallback", "ungated")


def measure(rows: Iterable[dict[str, Any]]) -> JsonValue:
    """Counts by split, modality, status, refiner, licence and gate; mean lengths in words."""
    modality: dict[str, Counter[str]] = {}
    modality_source: Counter[str] = Counter()
    status: dict[str, Counter[str]] = {}
    refiner: Counter[str] = Counter()
    licence: Counter[str] = Counter()
    phrases: Counter[str] = Counter()
    score, well = 0.0, 0
    stumbles: Counter[str] = Counter()
    gates: dict[str, Counter[str]] = {gate: Counter() for gate in GATES}
    total = with_lay = with_image = expert_words = layman_words = 0
    for row in rows:
        total += 1
        modality.setdefault(row["split"], Counter())[row["modality"]] += 1
        modality_source[row["modality_source"]] += 1
        status.setdefault(row["split"], Counter())[row["status"]] += 1
        refiner[row["refiner"]] += 1
        licence[row["licence"] or "unknown"] += 1
        phrases.update({licence for licence in row["phrase_licences"] if licence})
        reads = row["reads_well"]
        score += reads["score"]
        well += reads["score"] >= READS_WELL
        stumbles.update({kind: reads[kind] for kind in ("repeats", "hyphens", "stacks")})
        stumbles["unexplained"] += len(reads["unexplained"])
        stumbles["unexplained_by_experts"] += len(unexplained_words(row["expert_caption"]))
        for stored in row["gates"]:
            verdict = Verdict(**stored)
            gates.setdefault(verdict.gate, Counter())[verdict.outcome] += 1
        with_lay += any(concept["lay"] and concept["start"] >= 0 for concept in row["concepts"])
        with_image += row["image"] is not None
        expert_words += len(row["expert_caption"].split())
        layman_words += len(row["layman_caption"].split())
    splits = sorted(modality)
    return {
        "modality_by_split": {m.code: {split: modality[split][m.code] for split in splits} for m in MODALITIES},
        "modality_source": {source: modality_source[source] for source in (BY_CUI, BY_TEXT, BY_NOTHING)},
        "status_by_split": {
            name: {split: status[split][name] for split in splits}
            for name in STATUSES
            if any(status[split][name] for split in splits)
        },
        "refiner": dict(sorted(refiner.items())),
        "licence": dict(sorted(licence.items())),
        "licence_of_phrases": dict(sorted(phrases.items())),
        "reads_well": {
            "captions": well,
            "score": round(score / total, 3) if total else 0.0,
            **{
                kind: stumbles[kind]
                for kind in ("repeats", "hyphens", "stacks", "unexplained", "unexplained_by_experts")
            },
        },
        "gates": {gate: {outcome: gates[gate][outcome] for outcome in OUTCOMES} for gate in GATES},
        "with_lay_phrase": with_lay,
        "with_image": with_image,
        "expert_words": round(expert_words / total, 2) if total else 0.0,
        "layman_words": round(layman_words / total, 2) if total else 0.0,
    }


def check_row(row: dict[str, Any]) -> list[str]:
    """What is wrong with a row of a release: its spans, imaging method, or verdicts that the gates no longer give."""
    problems = []
    caption = row["expert_caption"]
    for name in ("concepts", "protected"):
        text = "surface" if name == "concepts" else "text"
        for span in row[name]:
            if span["start"] >= 0 and caption[span["start"] : span["end"]] != span[text]:
                problems.append(f"{name}: {span[text]!r} is not at {span['start']}-{span['end']} of the expert caption")
    if row["caption_licence"] is not None:
        problems += _rights_problems(row)
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
        if not verdict.passed and row["status"] in ("accepted", "repaired"):
            problems.append(f"status {row['status']}, but gate {verdict.gate} fails: {verdict.reason}")
    return problems


def _same_reading(stated: dict[str, Any], found: dict[str, Any]) -> bool:
    """Equal but for what a float loses on its way through a file."""
    return abs(stated["score"] - found["score"]) < 1e-3 and {**stated, "score": 0} == {**found, "score": 0}


def _rights_problems(row: dict[str, Any]) -> list[str]:
    """A lay phrase without a licence, and a row whose licence asks for less than caption and phrases do."""
    phrases, licences = [concept["lay"] for concept in row["concepts"]], row["phrase_licences"]
    if list(map(bool, phrases)) != list(map(bool, licences)):
        return [f"phrase_licences {licences}, expected one for each lay phrase of {phrases}"]
    found = licence_with(row["caption_licence"], licences)
    if found == row["licence"]:
        return []
    return [f"licence {row['licence']!r}, but its caption and lay phrases make it {found!r}"]
