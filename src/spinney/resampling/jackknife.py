"""The jackknife: bias and standard error from the data without some of it."""

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from spinney.errors import InvalidInput, InvalidParameter, refusing
from spinney.randomness import seed_from
from spinney.resampling.bootstrap import BootstrapResult
from spinney.resampling.keys import read_codes
from spinney.resampling.leaving import LeftOut, one_by_one, sampled_sets, variance_without
from spinney.resampling.resamples import Arrays, Sample, Units
from spinney.resampling.statistic import Statistic, check_finite, read_arrays
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray, IntArray, RandomState

_MOST_SETS = 10_000
"""Sets of rows up to which all are left out; of more, some at random."""
_SAMPLED_SETS = 1000
_STEP = 1e-4
"""How far weights are moved to see how a statistic follows; less for many rows."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class JackknifeResult(Result):
    """What a statistic says without some of the data.

    Numbers are floats, or arrays in the shape of the statistic.
    """

    estimate: Any
    """The statistic of the data."""
    bias: Any
    """By how much the statistic is too large on average."""
    standard_error: Any
    low: Any
    """Lower end of the interval: the corrected estimate and Student's t."""
    high: Any
    level: float
    """How often such intervals cover the truth, or should."""
    kind: str
    """What was left out."""
    values: FloatArray | None
    """The statistic without each row, group or set of them, along the first axis."""
    pseudo_values: FloatArray | None
    """Where single rows or groups are left out: numbers whose mean is the corrected estimate and
    whose standard error is that of the statistic."""
    influence: FloatArray | None
    """Of the infinitesimal jackknife: how the statistic follows the weight of each row."""
    sizes: IntArray | None = None
    """Where single rows or groups are left out: how many rows these are."""

    def by_rows(self) -> "JackknifeResult":
        """Give the delete-m jackknife, for groups that are no more than chunks of unlike sizes.

        As it is, the result takes groups for what is drawn: rows of a group may depend on each
        other in any way, and a large group is one draw as a small one is. If *rows* were drawn
        one by one, and groups only say which to leave out together, as blocks of a long series do,
        that error is too large where sizes differ. Then each group counts by its rows (Busing,
        Meijer & van der Leeden 1999): with h = n / m of the group, pseudo-values are
        h t - (h - 1) t_without, the corrected estimate is their mean by size, and the variance the
        mean of (pseudo-value - corrected)² / (h - 1). Of rows that do depend on each other it is
        too small: ask for it only where you know that they do not. Of equal sizes both are one.

        References
        ----------
        Busing, Meijer and van der Leeden (1999), Delete-m jackknife for unequal m, Statistics and
        Computing 9.
        """
        if self.sizes is None or self.values is None:
            raise InvalidInput(
                "by_rows() weighs groups that were left out one at a time by their sizes, and this "
                f"jackknife is another one: {self.kind}. Call jackknife with groups= and delete=1."
            )
        n_units = len(self.sizes)
        estimate, values = np.ravel(self.estimate), self.values.reshape(n_units, -1)
        ratio = self.sizes.sum() / self.sizes[:, np.newaxis]
        pseudo = ratio * estimate - (ratio - 1.0) * values
        corrected = (pseudo / ratio).sum(axis=0)
        variance = (np.square(pseudo - corrected) / (ratio - 1.0)).mean(axis=0)
        return _result(
            np.shape(self.estimate),
            estimate,
            (estimate - corrected, np.sqrt(variance)),
            (self.level, n_units - 1, f"{self.kind}, by rows"),
            values=values,
            pseudo_values=pseudo,
            sizes=self.sizes,
        )

    @property
    def corrected(self) -> Any:
        """The estimate without its bias."""
        return self.estimate - self.bias

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a row per number of the statistic."""
        names = ("estimate", "bias", "corrected", "standard_error", "low", "high")
        values = {n: np.ravel(getattr(self, n)).tolist() for n in names}
        if not np.ndim(self.estimate):
            return values
        places = [str(place)[1:-1].rstrip(",") for place in np.ndindex(np.shape(self.estimate))]
        return {"part": places, **values}

    def title(self) -> str:
        """Say what was left out."""
        return f"Jackknife, {self.kind}; {100 * self.level:g} % interval by Student's t"


@refusing(
    time="Rows that depend on their neighbours are drawn by bootstrap(draw=DrawBlocks(time=...)) "
    "of spinney.resampling; or give groups= of rows that are left out together."
)
def jackknife(
    statistic: Callable[..., Any],
    *rows: Any,
    delete: int = 1,
    groups: Any = None,
    n_subsets: int | None = None,
    infinitesimal: bool = False,
    level: float = 0.95,
    vectorized: bool = False,
    random_state: RandomState = None,
) -> JackknifeResult:
    """Leave rows out, to learn the bias and the standard error of a statistic.

    Parameters
    ----------
    statistic : takes the arrays, gives a number or an array of always the same shape
    rows : arrays of equal length; one entry of each makes a row
    delete : how many rows (or groups) to leave out at a time
        One is right for smooth statistics. The median needs more, at least the root of their
        number.
    groups : one label per row, or None; rows of a group are left out together
        Groups are then what was drawn, large or small: their rows may depend on each other. If
        they do not, and sizes differ, ``by_rows()`` of the result is sharper.
    n_subsets : how many sets of ``delete`` rows to leave out, at random
        None: all of them, if there are no more than 10 000, else 1000 at random.
    infinitesimal : whether to move the weights of rows a little instead of leaving rows out
        For a statistic that takes ``weights`` or ``sample_weight``.
    level : coverage aimed at
    vectorized : whether the statistic takes many samples at once: with rows along axis 1 instead
        of 0, and ``axis=1`` as a keyword
    random_state : decides the sets

    Returns
    -------
    JackknifeResult

    References
    ----------
    Quenouille (1949), Tukey (1958). Shao and Wu (1989), A general theory for jackknife variance
    estimation, Annals of Statistics 17. Jaeckel (1972), The infinitesimal jackknife. MacKinnon,
    Nielsen and Webb (2023), Fast and reliable jackknife and bootstrap methods for cluster-robust
    inference, Journal of Applied Econometrics 38, for groups of unlike sizes.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0, 7.0])
    >>> answer = jackknife(np.var, x)
    >>> print(answer.estimate, round(answer.corrected, 9), round(x.var(ddof=1), 9))
    6.5 8.666666667 8.666666667
    """
    arrays = read_arrays(rows, paired=True, what="A jackknife")
    n_rows = len(arrays[0])
    codes = np.arange(n_rows) if groups is None else read_codes(groups, n_rows, "groups")
    units = Units(tuple(range(len(arrays))), codes)
    _check_numbers(delete, n_subsets, level, units.number)
    function = Statistic(statistic, vectorized=vectorized)
    what = "row" if groups is None else "group"
    if infinitesimal:
        if delete != 1 or n_subsets is not None:
            raise InvalidParameter(
                "infinitesimal=True leaves nothing out: delete and n_subsets have no meaning."
            )
        return _infinitesimal(function, arrays, codes, level)
    estimate = function.of_data(Sample(arrays))
    sets, n_sets, is_all = _sets(units.number, int(delete), n_subsets, random_state)
    values = function.of_all(LeftOut(arrays, units, sets), n_sets)
    check_finite(values, "samples without some rows")
    factor = (units.number - delete) / delete
    deviations = values - values.mean(axis=0)
    # Random sets lose a degree of freedom to their own mean; all sets together do not.
    variance = factor * np.square(deviations).sum(axis=0) / (n_sets if is_all else n_sets - 1)
    pseudo = sizes = None
    if delete == 1 and is_all:
        sizes = np.bincount(codes)
        pseudo = units.number * estimate - (units.number - 1) * values
    kind = (
        f"without each {what}"
        if delete == 1 and is_all
        else (f"without {delete} {what}{'s' * (delete > 1)}, {'all ' * is_all}{n_sets} sets")
    )
    return _result(
        function.shape or (),
        estimate,
        (factor * (values.mean(axis=0) - estimate), np.sqrt(variance)),
        (level, units.number - 1, kind),
        values=values,
        pseudo_values=pseudo,
        sizes=sizes,
    )


def jackknife_after_bootstrap(
    result: BootstrapResult,
    measure: Callable[[FloatArray], Any] | None = None,
    *,
    level: float = 0.95,
) -> JackknifeResult:
    """Tell how far a bootstrap's own answer can be trusted, without drawing anything new.

    Resamples that lack a row are a bootstrap of the data without that row.

    Parameters
    ----------
    result : of ``bootstrap``, with rows or groups drawn
    measure : takes statistics of resamples along the first axis, gives a number or an array; None:
        their standard deviation, so that the answer is the standard error of the standard error
    level : coverage aimed at

    Notes
    -----
    The error includes that of drawing a limited number of resamples: for the mean of resamples it
    adds about 1.7 n / B times their variance to the square of the standard error.

    References
    ----------
    Efron (1992), Jackknife-after-bootstrap standard errors and influence functions, JRSS B 54.

    Examples
    --------
    >>> from spinney.resampling import bootstrap
    >>> answer = bootstrap(np.mean, np.arange(20.0), random_state=0)
    >>> error = jackknife_after_bootstrap(answer)
    >>> error.estimate == answer.standard_error, error.standard_error < 0.3
    (True, True)
    """
    if not isinstance(result, BootstrapResult):
        raise InvalidInput(
            f"result is a {type(result).__name__}: expected what bootstrap() of spinney.resampling "
            "gives."
        )
    _check_level(level)
    lacking = _packed_omissions(result)
    n = len(result.distribution)
    function = Statistic(_spread if measure is None else measure, vectorized=False)
    estimate = function.of_data(Sample((result.distribution,)))
    sizes = [part.number for part in result.resamples.units]
    values = []
    for unit, size in enumerate(np.repeat(sizes, sizes).tolist()):
        if size == 1:  # a stratum of its own: no resample can lack it
            values.append(estimate)
            continue
        without = np.unpackbits(lacking[:, unit], count=n).astype(np.bool_)
        if without.sum() < 2:
            raise InvalidInput(
                f"Only {int(without.sum())} of {n} resamples lack unit {unit}: too few to tell "
                "what a bootstrap without it would say. Draw more resamples."
            )
        values.append(function.of(Sample((result.distribution[without],))))
    strata = _by_stratum(np.stack(values), sizes)
    bias = np.sum([(len(v) - 1) * (v.mean(axis=0) - estimate) for v in strata], axis=0)
    return _result(
        function.shape or (),
        estimate,
        (bias, np.sqrt(variance_without(strata))),
        (level, len(values) - len(strata), "after the bootstrap"),
        values=np.stack(values),
    )


def _spread(values: FloatArray) -> Any:
    return values.std(axis=0, ddof=1)


def _packed_omissions(result: BootstrapResult) -> AnyArray:
    """Give a bit for each resample and unit: whether the resample lacks it; (resamples / 8, n)."""
    n, parts = len(result.distribution), []
    step = max(8, (1 << 20) // result.resamples.size // 8 * 8)
    for start in range(0, n, step):
        lacking = result.resamples.omitted(range(start, min(start + step, n)))
        if lacking is None:
            raise InvalidInput(
                "A jackknife after the bootstrap is for resamples of as many rows or groups as "
                "there are, and these were drawn in another way: fewer rows, blocks, weights, "
                "or simulated ones. Use draw='rows', 'balanced', DrawRows or DrawGroups."
            )
        parts.append(np.packbits(lacking, axis=0))
    return np.concatenate(parts)


def _by_stratum(values: FloatArray, sizes: list[int]) -> list[FloatArray]:
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [part for part in parts if len(part) > 1]


def _infinitesimal(
    statistic: Statistic, arrays: Arrays, codes: IntArray, level: float
) -> JackknifeResult:
    """Differentiate along the weight of each row: the rest keeps its proportions."""
    n = len(codes)
    step = min(_STEP, 0.5 / n)
    estimate = statistic.of_data(Sample(arrays, np.ones(n)))

    def moved(row: int, by: float) -> FloatArray:
        weights = np.full(n, 1 - by)
        weights[row] += n * by
        return statistic.of(Sample(arrays, weights))

    up, down = (np.stack([moved(row, by) for row in range(n)]) for by in (step, -step))
    check_finite(np.concatenate([up, down]), "samples with the weight of a row moved")
    influence = (up - down) / (2 * step)
    curvature = (up + down - 2 * estimate) / step**2
    of_units = np.zeros((int(codes.max()) + 1, influence.shape[1]))
    np.add.at(of_units, codes, influence)
    shape = statistic.shape or ()
    return _result(
        shape,
        estimate,
        (curvature.sum(axis=0) / (2 * n**2), np.sqrt(np.square(of_units).sum(axis=0)) / n),
        (level, len(of_units) - 1, "infinitesimal"),
        influence=influence,
    )


def _sets(
    n_units: int, size: int, n_subsets: int | None, random_state: RandomState
) -> tuple[Callable[[range], IntArray], int, bool]:
    """Give what to leave out, how many sets there are, and whether these are all."""
    n_all = math.comb(n_units, size)
    if size == 1 and (n_subsets is None or n_subsets >= n_all):
        return one_by_one, n_units, True
    if n_all <= max(_MOST_SETS, n_subsets or 0) and (n_subsets is None or n_subsets >= n_all):
        every = np.array(list(combinations(range(n_units), size)))
        return (lambda numbers: every[numbers.start : numbers.stop]), n_all, True
    n_sets = _SAMPLED_SETS if n_subsets is None else int(n_subsets)
    return sampled_sets(n_units, size, seed_from(random_state)), n_sets, False


def _result(
    shape: tuple[int, ...],
    estimate: FloatArray,
    errors: tuple[FloatArray, FloatArray],
    interval: tuple[float, int, str],
    *,
    sizes: IntArray | None = None,
    **arrays: FloatArray | None,
) -> JackknifeResult:
    bias, error = errors
    level, freedom, kind = interval
    reach = error * special.stdtrit(freedom, (1 + level) / 2)

    def shaped(vector: FloatArray) -> Any:
        return read_only(vector.reshape(shape)) if shape else float(vector[0])

    def along(name: str) -> FloatArray | None:
        array = arrays.get(name)
        return None if array is None else read_only(array.reshape(len(array), *shape))

    return JackknifeResult(
        estimate=shaped(estimate),
        bias=shaped(bias),
        standard_error=shaped(error),
        low=shaped(estimate - bias - reach),
        high=shaped(estimate - bias + reach),
        level=float(level),
        kind=kind,
        values=along("values"),
        pseudo_values=along("pseudo_values"),
        influence=along("influence"),
        sizes=None if sizes is None else read_only(sizes),
    )


def _check_level(level: Any) -> None:
    if not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise InvalidParameter(f"level={level!r}: expected a number between 0 and 1, such as 0.95.")


def _check_numbers(delete: Any, n_subsets: Any, level: Any, n_units: int) -> None:
    _check_level(level)
    if n_units < 2:
        raise InvalidInput(
            "All rows are in the same group: nothing would be left without it. Give groups with at "
            "least two labels."
        )
    for name, value, least, most in (
        ("delete", delete, 1, n_units - 1),
        ("n_subsets", 2 if n_subsets is None else n_subsets, 2, 2**31),
    ):
        is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
        if not is_whole or not least <= value <= most:
            raise InvalidParameter(f"{name}={value!r}: expected an integer from {least} to {most}.")
