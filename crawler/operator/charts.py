"""Line charts as SVG text, for pages that open offline.  All text is escaped on the way in."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 860, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 190, 12, 30
# Told apart by most eyes: Okabe and Ito's colours.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")


Place = Callable[[float, float], tuple[float, float]]  # data to picture


@dataclass(frozen=True, slots=True)
class Line:
    """One named curve.  Points that are not finite are left out."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


def chart(lines: Sequence[Line], *, title: str, x_label: str) -> str:
    """Curves over a common x, with names beside them; y is a share."""
    points = [(x, y) for line in lines for x, y in _points(line)]
    if not points:
        return f"<figure><figcaption>{escape(title)}: nothing to show</figcaption></figure>"
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = _rounded(min(y for _, y in points), max(y for _, y in points))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - low_x) / ((high_x - low_x) or 1.0)
        up = (y - low_y) / (high_y - low_y)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    parts = [
        _axis_y(low_y + (high_y - low_y) * step / 4, place, low_x, high_x) for step in range(5)
    ]
    parts += [_axis_x(low_x + (high_x - low_x) * step / 6, place, low_y) for step in range(7)]
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        dash = ' stroke-dasharray="6 3"' if number >= len(_COLOURS) else ""
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in _points(line))
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="1.8"{dash} points="{path}"/>'
        )
        top = _TOP + 14 + 17 * number
        parts.append(
            f'<text x="{_WIDTH - _RIGHT + 14}" y="{top}" fill="{colour}">{escape(line.name)}</text>'
        )
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}"
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 2}" text-anchor="middle">'
        f"{escape(x_label)}</text></svg></figure>"
    )


def _points(line: Line) -> list[tuple[float, float]]:
    pairs = zip(line.x, line.y, strict=True)
    return [(x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]


def _rounded(low: float, high: float) -> tuple[float, float]:
    """Twentieths around the data, within 0 and 1 where the data are."""
    low, high = math.floor(low * 20 - 1e-9) / 20, math.ceil(high * 20 + 1e-9) / 20
    return max(0.0, low), high if high > low else low + 0.05


def _axis_y(y: float, place: Place, low_x: float, high_x: float) -> str:
    (left, height), (right, _) = place(low_x, y), place(high_x, y)
    return (
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>'
        f'<text x="{left - 6:.1f}" y="{height + 4:.1f}" text-anchor="end">{y:.3g}</text>'
    )


def _axis_x(x: float, place: Place, low_y: float) -> str:
    across, height = place(x, low_y)
    return f'<text x="{across:.1f}" y="{height + 14:.1f}" text-anchor="middle">{x:.3g}</text>'
