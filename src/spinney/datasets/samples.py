"""Small samples on which resampling was explained."""

import numpy as np

from spinney.datasets.dataset import Sample

_SOURCE = "Efron and Tibshirani, An Introduction to the Bootstrap (1993)"


def load_law_school() -> Sample:
    """Mean admission test (LSAT) and mean grade (GPA) of the entering classes of 15 law schools.

    Their correlation is 0.776; its standard error is 0.143 by the jackknife and about 0.13 by the
    bootstrap.

    Examples
    --------
    >>> lsat, gpa = load_law_school().arrays
    >>> round(float(np.corrcoef(lsat, gpa)[0, 1]), 3)
    0.776
    """
    lsat = "576 635 558 578 666 580 555 661 651 605 653 575 545 572 594"
    gpa = "3.39 3.30 2.81 3.03 3.44 3.07 3.00 3.43 3.36 3.13 3.12 2.74 2.76 2.88 2.96"
    return Sample("law school", ("LSAT", "GPA"), (_read(lsat), _read(gpa)), _SOURCE)


def load_spatial_test() -> Sample:
    """Scores of 26 children in test A of spatial perception.

    The variance with divisor 26 is 171.5; 90 % intervals for it differ much by method.

    Examples
    --------
    >>> round(float(np.var(load_spatial_test()["A"])), 1)
    171.5
    """
    scores = "48 36 20 29 42 42 20 42 22 41 45 14 6 0 33 28 34 4 32 24 47 41 24 26 30 41"
    return Sample("spatial test", ("A",), (_read(scores),), _SOURCE)


def load_mouse_survival() -> Sample:
    """Days that 16 mice survived an operation: 7 with the treatment, 9 without.

    Examples
    --------
    >>> days, group = load_mouse_survival().arrays
    >>> round(float(days[group == "treatment"].mean() - days[group == "control"].mean()), 2)
    30.63
    """
    days = _read("94 197 16 38 99 141 23   52 104 146 10 51 30 40 27 46")
    group = np.repeat(["treatment", "control"], [7, 9])
    return Sample("mouse survival", ("days", "group"), (days, group), _SOURCE)


def _read(numbers: str) -> np.ndarray:
    return np.array([float(number) for number in numbers.split()])
