"""How soon a report of many dialogues can be used: first paint, a search and a facet in headless Chromium.

    python -m scripts.bench.report    # 10,000 made-up dialogues of 28 utterances, without photos

Each number is the median of five fresh browsers, beside an empty page of the same size. It needs the package
`playwright` and a Chromium (Debian: apt install chromium).
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

REPEATS, LIMIT_MS, LIMIT_BYTES = 5, 300, 30 << 20
_UTTERANCES = 28
_SEARCH, _WORDS = "word", "dizzy warmth"
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
# In the page: from what a reader does to the frame that shows it.
_TIMED = """async act => {
  const shown = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const place = document.querySelector("[data-explored]"), before = place.querySelector(".status-line").textContent;
  const start = performance.now();
  if (act === "search") {
    const field = place.querySelector("input[type=search]");
    field.value = "WORDS"; field.dispatchEvent(new Event("input"));
  } else place.querySelectorAll("fieldset")[2].querySelector("input").click();
  await shown();
  return [performance.now() - start, before, place.querySelector(".status-line").textContent];
}""".replace("WORDS", _WORDS)


def made(cases: int, page: Path) -> float:
    """Writes a report of so many made consultations, their words drawn by seed; the seconds that it took."""
    from baselines.report.page import write_report
    from baselines.results.comparison import read_runs
    from baselines.results.run import write_run
    from baselines.threemdbench.consultation.record import HIGHEST, Assessment, Turn
    from baselines.threemdbench.consultation.tables import results
    from loaders.threemdbench import DIAGNOSES, PERSONALITIES
    from tests.parts.consultations import consultation, record, said, write_dialogues

    draw = random.Random(0)
    letters = "aeiourstnlmdcpbg"
    vocabulary = ["".join(draw.choice(letters) for _ in range(draw.randint(2, 11))) for _ in range(4000)]
    vocabulary += _WORDS.split()
    played = []
    for number in range(cases):
        gold = DIAGNOSES[number % len(DIAGNOSES)]
        named = gold if draw.random() < 0.6 else draw.choice(DIAGNOSES)
        turns = tuple(
            Turn("doctor" if at % 2 else "patient", " ".join(draw.choices(vocabulary, k=draw.randint(8, 26))) + ".")
            for at in range(_UTTERANCES)
        )
        played.append(
            consultation(
                number,
                gold=gold.name,
                temperament=draw.choice(PERSONALITIES),
                turns=turns,
                finished=draw.random() < 0.9,
                extraction=said(named.name),
                assessment=Assessment({item: draw.randint(0, most) for item, most in HIGHEST.items()}, "{}", 1),
            )
        )
    facts = record()
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        write_run(run, facts, results(played[:500], facts, resamples=20))
        write_dialogues(run, played)
        runs = read_runs([run])
        start = time.perf_counter()
        write_report(runs, page)
    return time.perf_counter() - start


def empty(page: Path, size: int) -> None:
    """Writes a page of that many bytes that shows a word and carries the rest as the report does."""
    start, end = b'<!doctype html><title>empty</title><p>empty<script type="application/gzip">', b"</script>"
    page.write_bytes(start + b"A" * (size - len(start) - len(end)) + end)


def measured(page: Path, blank: Path) -> dict[str, float]:
    """Medians in milliseconds: of the first paint of both pages, until all rows are read, of a search, of a facet."""
    from playwright.sync_api import sync_playwright

    numbers: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        for _ in range(REPEATS):
            for path, name in ((blank, "first paint, empty page"), (page, "first paint")):
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                tab = browser.new_page(viewport={"width": 1400, "height": 1000})
                tab.goto(path.resolve().as_uri(), wait_until="commit")
                while not (paint := tab.evaluate(_PAINT)):  # the page's policy lets nothing wait in it
                    time.sleep(0.1)
                numbers.setdefault(name, []).append(paint)
                if path == page:
                    _used(tab, numbers)
                browser.close()
    return {name: statistics.median(values) for name, values in numbers.items()}


def _used(tab: Any, numbers: dict[str, list[float]]) -> None:
    tab.wait_for_selector("html[data-read]", state="attached", timeout=120_000)
    numbers.setdefault("all rows read", []).append(tab.evaluate("performance.now()"))
    for act in ("search", "facet"):
        took, before, after = tab.evaluate(_TIMED, act)
        if before == after:
            raise SystemExit(f"{act}: nothing changed: {after}")
        numbers.setdefault(act, []).append(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page, blank = Path(folder) / "report.html", Path(folder) / "empty.html"
        print(f"written in {made(asked.cases, page):.1f} s")
        size = page.stat().st_size
        print(f"{size / (1 << 20):.1f} MiB (at most {LIMIT_BYTES >> 20})")
        empty(blank, size)
        for name, value in measured(page, blank).items():
            print(f"{name:26}{value:9.0f} ms")
        print(f"limit of first paint, search and facet: {LIMIT_MS} ms")


if __name__ == "__main__":
    main()
