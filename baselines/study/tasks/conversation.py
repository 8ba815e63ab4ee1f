"""Talks with the reserved patient, by MedConceal's protocol (Section 3, Appendix D): both of its tasks.

The page is built from the chart. What a person submits after a confirmation is read here; the talk itself is
`baselines.study.seat`. The sheet is the file that `bedside run confirmation --transcripts` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.medconceal.clinician import LONGEST_FINDING, MOST_FINDINGS
from baselines.medconceal.transcripts import written_lines
from baselines.medconceal.untrusted import heard
from baselines.results.sheets import write_new
from baselines.study.design import TaskName
from baselines.study.tasks.forms import drawn, rows_of
from baselines.study.tasks.task import Form, FormError, Item, Response, Source
from loaders.medconceal import AIMS, CATEGORIES, Task, cases, chart
from loaders.spans import words

ROWS = 3
"""Number of findings that the form initially has room for."""


@dataclass(frozen=True, slots=True)
class Conversation:
    name: TaskName
    task: Task
    title: str = "Conversation"

    def items(self, source: Source) -> tuple[Item, ...]:
        """The cases of MedConceal, or as many of them as the design says, drawn by seed."""
        profiles = sorted(cases(rows_of(source, "medconceal", self.name)), key=lambda profile: profile.case_id)
        return tuple(
            Item(profile.case_id, self.name, profile.case_id, {"lines": chart(profile, self.task).lines()})
            for profile in drawn(source.design, profiles)
        )

    def page(self, item: Item) -> Mapping[str, Any]:
        """The chart, and the categories of findings. Beside a talk, the goal comes first, so that it stays visible on a
        phone, which shows only the beginning of the chart."""
        lines = item.payload["lines"]
        beside = sorted(lines, key=lambda line: line[0] not in AIMS)
        return {"lines": lines, "beside": beside, "categories": CATEGORIES, "task": self.name}

    def practice(self) -> Item:
        lines = [
            ("Patient", "52 years, female. Works in a bakery."),
            ("Reason for the encounter", "Follow-up after a new diagnosis of high blood pressure."),
            ("Medical and surgical history", "None reported."),
        ]
        if self.task == "intervention":
            lines += [
                ("What the patient wants at first", "To wait and see, without tablets."),
                ("Target plan", "Start one tablet a day and measure at home."),
            ]
        return Item("practice", self.name, "practice", {"lines": lines})

    def feedback(self, item: Item, given: Mapping[str, Any]) -> str:
        told = (
            "In a real conversation the patient now answers, and the clock stands still until the answer is there. "
            "Patients seldom say at once what troubles them: open questions and an answer to what they feel help."
        )
        if self.task == "intervention":
            return f"{told} The conversation ends when the patient accepts the plan, or when the time is up."
        return f"{told} Afterwards you are asked what the patient was worried about but did not say outright."

    def read(self, item: Item, form: Form) -> Mapping[str, Any]:
        """The findings: category, description, and the patient's words that show it, if they were picked.

        An empty row is ignored. Raises FormError for one that is half filled in, and for words that the patient
        did not say (`form["said"]` holds what was said); its field is named with the number of the row, from 0.
        """
        found = []
        said = [" ".join(words(text)) for text in form.get("said", ())]
        columns = [form.get(name, ()) for name in ("category", "description", "quote")]
        for at in range(min(MOST_FINDINGS, max(map(len, columns), default=0))):
            category, description, quote = (column[at].strip() if at < len(column) else "" for column in columns)
            if not (category or description or quote):
                continue
            if category not in CATEGORIES:
                raise FormError(f"category{at}", f"Finding {at + 1}: choose one of the four categories.")
            if not heard(description):  # also one of signs that nobody sees
                raise FormError(
                    f"description{at}", f"Finding {at + 1}: say in a few words what the patient is worried about."
                )
            if len(description) > LONGEST_FINDING:
                raise FormError(f"description{at}", f"Finding {at + 1}: at most {LONGEST_FINDING} characters.")
            picked = " ".join(words(quote))
            if quote and not any(picked and picked in text for text in said):
                raise FormError(
                    f"quote{at}",
                    f"Finding {at + 1}: these are not the patient's own words. Pick them again, or leave it empty.",
                )
            one = {"category": category, "description": heard(description, LONGEST_FINDING)}
            found.append(one | ({"quote": quote} if quote else {}))
        return {"findings": found}

    def sheet(self, responses: Sequence[Response], folder: Path, of: Sequence[str], stand_in: str | None) -> list[Path]:
        """The dialogues in the format of `--transcripts`; each response is a line (`transcripts.line_of`)."""
        lines = [dict(one.given) | ({"stand_in": stand_in} if stand_in else {}) for one in responses]
        return write_new({folder / f"{self.name}.jsonl": written_lines(lines)}) if lines else []


CONFIRMATION = Conversation("confirmation", "confirmation")
INTERVENTION = Conversation("intervention", "intervention")
