"""Cubic splines of one feature."""

import numpy as np

from spinney.typing import FloatArray

Knotwise = tuple[FloatArray, FloatArray, FloatArray]
"""Levels, slopes and second derivatives at all knots."""


class NaturalSplines:
    """Cubic splines with the same knots, which go on as straight lines beyond the outer ones.

    A spline has as many coefficients as there are knots: level and slope at the middle knot, then
    the second derivative at each inner one; that at the outer ones is 0. They are those of a
    feature which was shifted to be 0 at the middle knot, and scaled so that the knots cover a
    length of 1. Values at the knots would say the same, but lose their digits where knots lie
    close together.
    """

    def __init__(self, knots: FloatArray) -> None:
        self.knots = knots
        self._middle = len(knots) // 2
        self.places = self._scaled(knots)
        self.gaps = np.diff(self.places)

    @property
    def are_proper(self) -> bool:
        """Whether there are two knots or more, and each lies visibly above the one before."""
        return bool(self.knots[0] < self.knots[-1] and (self.gaps > 0).all())

    def _scaled(self, x: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):  # knots of a file may be anything
            length = self.knots[-1] - self.knots[0]
            places: FloatArray = (x - self.knots[self._middle]) / length
        return places

    def values(self, coefficients: FloatArray, x: FloatArray) -> FloatArray:
        """Evaluate splines, of which each is a column of coefficients; (n_rows, n_splines).

        Missing values give 0.
        """
        levels, slopes, bends = self._at_knots(coefficients)
        known = ~np.isnan(x)
        place = np.where(known, self._scaled(x), 0.0)
        inside = np.clip(place, self.places[0], self.places[-1])
        piece = np.searchsorted(self.places[1:-1], inside, side="right")
        way = (inside - self.places[piece])[:, np.newaxis]
        share = way / self.gaps[piece][:, np.newaxis]
        beyond = (place - inside)[:, np.newaxis]
        with np.errstate(over="ignore", invalid="ignore"):  # infinities may meet
            turns = bends[piece] / 2 + share * (np.diff(bends, axis=0)[piece] / 6)
            values = levels[piece] + way * (slopes[piece] + way * turns)
            values += np.where(
                beyond == 0, 0.0, beyond * np.where(beyond < 0, slopes[0], slopes[-1])
            )
        return np.where(known[:, np.newaxis], values, 0.0)

    def _at_knots(self, coefficients: FloatArray) -> Knotwise:
        """Go from the middle knot to both ends, so that far ends cost no digits."""
        middle, last = self._middle, len(self.knots) - 1
        levels, slopes, bends = (np.zeros_like(coefficients) for _ in range(3))
        levels[middle], slopes[middle] = coefficients[:2]
        bends[1:last] = coefficients[2:]
        ways = [(k, k + 1, self.gaps[k]) for k in range(middle, last)]
        ways += [(k, k - 1, -self.gaps[k - 1]) for k in range(middle, 0, -1)]
        with np.errstate(over="ignore", invalid="ignore"):
            for here, there, way in ways:
                slopes[there] = slopes[here] + way * (bends[here] + bends[there]) / 2
                turn = (2 * bends[here] + bends[there]) / 6
                levels[there] = levels[here] + way * (slopes[here] + way * turn)
        return levels, slopes, bends

    def roughness(self) -> FloatArray:
        """Give the matrix of the integral of the squared second derivative, as a quadratic form.

        Of the second derivatives at the inner knots, which are linear in between.
        """
        gaps = self.gaps
        matrix = np.diag((gaps[:-1] + gaps[1:]) / 3)
        matrix += np.diag(gaps[1:-1] / 6, 1) + np.diag(gaps[1:-1] / 6, -1)
        return matrix
