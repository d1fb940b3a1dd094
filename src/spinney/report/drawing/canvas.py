"""Axes of a small figure: from numbers to places, with ticks that people would choose."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from spinney.report.markup import Html, number, shortened, tag

_RIGHT, _TOP, _BOTTOM = 10.0, 10.0, 38.0


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers of an axis."""

    low: float
    high: float

    @classmethod
    def of(cls, *groups: Sequence[float], margin: float = 0.04) -> "Span":
        """Hold all numbers, with a margin.

        Examples
        --------
        >>> Span.of([0.0, 10.0], margin=0.1)
        Span(low=-1.0, high=11.0)
        """
        there = [x for group in groups for x in group if math.isfinite(x)]
        if not there:
            return cls(0.0, 1.0)
        low, high = min(there), max(there)
        if low == high:
            low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
        room = margin * (high - low)
        return cls(low - room, high + room)

    def share(self, value: float) -> float:
        """Give how far along the axis a number is, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self, about: int = 5) -> list[float]:
        """Choose round numbers within.

        Examples
        --------
        >>> Span(0.0, 1.0).ticks(), Span(11.6, 12.4).ticks()
        ([0.0, 0.5, 1.0], [11.6, 11.8, 12.0, 12.2, 12.4])
        """
        raw = (self.high - self.low) / about
        if not raw > 0 or not math.isfinite(raw):
            return [self.low]
        unit = 10.0 ** math.floor(math.log10(raw))
        ticks: list[float] = []
        for step in (10 * unit, 5 * unit, 2 * unit, unit, unit / 2):
            first = math.ceil(self.low / step - 1e-9)
            last = math.floor(self.high / step + 1e-9)
            ticks = [float(f"{k * step:.12g}") for k in range(first, last + 1)]
            if len(ticks) >= min(3, about):
                break
        return ticks

    def labelled_ticks(self, about: int) -> list[tuple[float, str]]:
        """Choose round numbers, and write them with as many digits as tell them apart."""
        places = self.ticks(about)
        for digits in (3, 4, 5, 6, 8):
            labels = [number(place, digits) for place in places]
            if len(set(labels)) == len(labels):
                break
        return list(zip(places, labels, strict=True))


@dataclass(slots=True)
class Canvas:
    """A figure in the making."""

    x: Span
    y: Span
    width: float = 330.0
    height: float = 220.0
    left: float = 48.0
    parts: list[Html] = field(default_factory=list)

    def across(self, value: float) -> float:
        """Give the place of a number along x."""
        return self.left + self.x.share(value) * (self.width - self.left - _RIGHT)

    def up(self, value: float) -> float:
        """Give the place of a number along y."""
        return self.height - _BOTTOM - self.y.share(value) * (self.height - _TOP - _BOTTOM)

    def axes(
        self,
        x_name: str,
        y_name: str,
        x_ticks: Sequence[tuple[float, str]] | None = None,
        y_ticks: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        """Draw grid, ticks and names."""
        floor, right = self.height - _BOTTOM, self.width - _RIGHT
        for value, label in self.y.labelled_ticks(4) if y_ticks is None else y_ticks:
            at = f"{self.up(value):.1f}"
            self.parts.append(tag("line", x1=self.left, x2=right, y1=at, y2=at, class_="grid"))
            self.text(self.left - 6, float(at) + 3.5, label, anchor="end")
        ticks = self.x.labelled_ticks(4) if x_ticks is None else x_ticks
        for value, label in ticks:
            self.text(self.across(value), floor + 14, label, anchor="middle")
        self.parts.append(tag("line", x1=self.left, x2=right, y1=floor, y2=floor, class_="axis"))
        self.text(
            (self.left + right) / 2,
            self.height - 5,
            shortened(x_name, 48),
            anchor="middle",
            class_="name",
        )
        middle = (_TOP + floor) / 2
        turned = f"rotate(-90 10 {middle:.0f})"
        name = shortened(y_name, 32)
        self.text(10, middle, name, anchor="middle", class_="name", transform=turned)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        class_: str | None = None,
        transform: str | None = None,
    ) -> None:
        """Write text at a place."""
        self.parts.append(
            tag(
                "text",
                text,
                x=f"{x:.1f}",
                y=f"{y:.1f}",
                text_anchor=None if anchor == "start" else anchor,
                class_=class_,
                transform=transform,
            )
        )

    def line(self, x: Sequence[float], y: Sequence[float], class_: str) -> None:
        """Draw a line through points; it stops where a number is not finite."""
        pieces, pen = [], "M"
        for a, b in zip(x, y, strict=True):
            if not (math.isfinite(a) and math.isfinite(b)):
                pen = "M"
                continue
            pieces.append(f"{pen}{self.across(a):.1f} {self.up(b):.1f}")
            pen = "L"
        self.parts.append(tag("path", d="".join(pieces), class_=class_))

    def steps(self, x: Sequence[float], y: Sequence[float], class_: str) -> None:
        """Draw a line that keeps its height until half-way to the next point."""
        xs, ys = [], []
        for k, (a, b) in enumerate(zip(x, y, strict=True)):
            left = a if k == 0 else (x[k - 1] + a) / 2
            right = a if k == len(x) - 1 else (a + x[k + 1]) / 2
            xs += [left, right]
            ys += [b, b]
        self.line(xs, ys, class_)

    def dot(
        self, x: float, y: float, class_: str, radius: float = 3.5, tip: str | None = None
    ) -> None:
        """Draw a point; ``tip`` is told when it is pointed at."""
        if math.isfinite(x) and math.isfinite(y):
            place = {"cx": f"{self.across(x):.1f}", "cy": f"{self.up(y):.1f}"}
            self.parts.append(tag("circle", **place, r=f"{radius:g}", class_=class_, data_tip=tip))

    def box(
        self,
        low: tuple[float, float],
        high: tuple[float, float],
        class_: str,
        tip: str | None = None,
    ) -> None:
        """Draw a rectangle between two corners."""
        left, right = sorted((self.across(low[0]), self.across(high[0])))
        top, floor = sorted((self.up(low[1]), self.up(high[1])))
        place = {"x": f"{left:.1f}", "y": f"{top:.1f}"}
        size = {"width": f"{right - left:.1f}", "height": f"{floor - top:.1f}"}
        self.parts.append(tag("rect", **place, **size, class_=class_, data_tip=tip))

    def figure(self, title: str, says: str, legend: Sequence[tuple[str, str]] = ()) -> Html:
        """Finish: the drawing under its title, with what it says for those who do not see it."""
        drawing = tag(
            "svg",
            *self.parts,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_label=says,
        )
        keys = [tag("span", tag("i", class_=class_), name) for class_, name in legend]
        shown = tag("span", *keys, class_="legend") if keys else None
        return tag("figure", tag("figcaption", tag("b", title), shown), drawing)
