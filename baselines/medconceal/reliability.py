"""The reliability plot of a fitted policy, predicted against observed, drawn without any library."""

from __future__ import annotations

from collections.abc import Mapping

from baselines.medconceal.fitting import Quality

_SIZE, _EDGE = 220, 34


def plot(quality: Mapping[str, Quality]) -> str:
    """SVG with a panel a kind: mean label over mean prediction by tenths, on the cases held out; areas are counts."""
    panels = "".join(_panel(kind, found, number) for number, (kind, found) in enumerate(quality.items()))
    width = (_SIZE + 2 * _EDGE) * max(1, len(quality))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_SIZE + 2 * _EDGE}" font-family="sans-serif"'
    return f'{head} font-size="11">{panels}</svg>\n'


def _panel(kind: str, quality: Quality, number: int) -> str:
    left, most = (_SIZE + 2 * _EDGE) * number + _EDGE, max((n for *_, n in quality.reliability), default=1)

    def at(p: float, y: float) -> tuple[str, str]:
        return f"{left + _SIZE * p:.1f}", f"{_EDGE + _SIZE * (1 - y):.1f}"

    points = [(*at(p, y), 2 + 8 * (n / most) ** 0.5) for p, y, n in quality.reliability]
    line = " ".join(f"{x},{y}" for x, y, _ in points)
    (x0, y0), (x1, y1) = at(0, 0), at(1, 1)
    return (
        f'<rect x="{left}" y="{_EDGE}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#999"/>'
        f'<path d="M{x0} {y0}L{x1} {y1}" stroke="#999" stroke-dasharray="4 3"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f5fa8"/>'
        + "".join(f'<circle cx="{x}" cy="{y}" r="{r:.1f}" fill="#1f5fa8"/>' for x, y, r in points)
        + f'<text x="{left}" y="{_EDGE - 10}">{kind}: {quality.n} turns of {quality.cases} cases held out</text>'
        f'<text x="{left}" y="{_EDGE + _SIZE + 16}">predicted 0 to 1, labelled 0 to 1 upwards</text>'
    )
