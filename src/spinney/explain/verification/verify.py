"""The door: which claims to examine, and about which outputs."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.ensembles.constraints import interaction_groups, monotone_signs
from spinney.errors import InvalidInput, InvalidParameter, shorten
from spinney.explain.choosing import find_place
from spinney.explain.reading import forest_of, model_of, raw_output_names
from spinney.explain.verification.asking import (
    feature_positions,
    groups_of,
    ordered_features,
    read_bounds,
    read_budget,
    restricted,
    rows_within,
)
from spinney.explain.verification.bounds import Scale, check_bound, describe_range
from spinney.explain.verification.cells import CellSpace, Verified
from spinney.explain.verification.claims import Claim, Verification
from spinney.explain.verification.differences import Differences, largest_terms
from spinney.explain.verification.medians import MedianBounds, check_median, describe_medians
from spinney.explain.verification.structure import (
    check_interactions,
    check_monotone,
    check_unused,
    list_unused,
)
from spinney.model.derived import DerivedForest
from spinney.model.leaf_rows import LeafRowForest
from spinney.model.links import classes_of_labels

BUDGET = 10_000
"""Boxes per claim: some seconds for a hundred trees of 31 leaves."""
_MIXING = {"softmax": "before softmax", "increasing": "before those of a row are put in order"}
"""Links whose predictions depend on several raw scores, and what these are."""


def _mixing(link: str) -> str | None:
    """Say what raw scores are, if predictions depend on several, or may; None: if they do not."""
    if classes_of_labels(link) is not None:
        return "before it becomes a probability"
    return _MIXING.get(link)


def verify(
    fitted: Any,
    *,
    monotonic: Any = None,
    interactions: Any = None,
    bounds: tuple[float | None, float | None] | None = None,
    unused: Any = (),
    output: Any = None,
    within: Mapping[Any, Any] | None = None,
    budget: int = BUDGET,
) -> Verification:
    """Prove claims about a fitted model for all rows, or refute them with rows.

    A claim is proved for the numbers that prediction returns, rounding included, and for every row
    that prediction accepts: any numbers, categories and missing values. What refutes a claim is a
    row, or a few, that were put through the model. A claim is undecided only when the budget is
    spent, or when rounding alone could break it.

    Without claims, those that the estimator was fitted with are examined (``monotonic_cst`` and
    ``interaction_cst``), the features that no tree uses are named, and the range of all
    predictions is given, as narrow as the budget allows.

    Claims are about what ``predict`` and ``predict_proba`` give, with three exceptions, which
    statements name. Of three and more classes they are about raw scores, before softmax: that one
    never falls does not mean that its probability never does. Of quantile forests bounds are those
    of the median; whatever else is claimed is about the mean, and so are bounds with
    ``output="mean"``. Of isolation forests they are about the mean path length.

    Where trees split on features that were derived from those of X, proofs are over the derived
    ones in any combination, so that a claim may stay undecided that is true. That a feature
    is monotone or acts alone can be decided of features that trees know as they are.

    Parameters
    ----------
    fitted : fitted estimator made of trees, or its ``model_``
    monotonic : dict from features to 1 or -1, or one of 1, -1 and 0 per feature
        The raw score, and with it the expected value or the probability of the second of two
        classes, never falls (1) or never rises (-1) as the feature grows. Missing values are not
        compared with numbers.
    interactions : "no_interactions", "pairwise" or groups of features
        The raw score is a sum of functions of one group each. Features in no group form one. Where
        paths leave their groups, effects of up to n features together are examined, 4^n being the
        budget: 6 by default. The evidence says if that is not enough.
    bounds : pair of numbers or None
        No prediction is below the first or above the second: of the expected value, or of the
        probability of the second of two classes. With more classes a probability depends on the
        scores of all of them, and the bounds are those of the raw score of ``output``.
    unused : features
        The raw score does not depend on them.
    output : name or position, optional
        The class or target that claims are about; without it, all of them, but of two classes the
        second where a claim is about the direction or the bounds of a probability.
    within : dict from features to (lower, upper) or to a list of categories, optional
        Speak only about rows whose features are there, and not missing. ``(None, None)``: any
        number. Other features may be anything.
    budget : int
        Boxes that the search for a claim may open before it gives up.

    Returns
    -------
    Verification
        Prints as a table. ``holds`` tells whether all claims are proved, ``claims`` has the
        counter-examples.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRegressor
    >>> from spinney.explain import verify
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 3))
    >>> y = X[:, 0] + np.sin(6 * X[:, 1])
    >>> fitted = GradientBoostingRegressor(max_iter=20, monotonic_cst=[1, 0, 0]).fit(X, y)
    >>> verify(fitted, monotonic={"x0": 1}, bounds=(-5, 5)).holds
    True
    >>> claim = verify(fitted, monotonic={"x1": 1}).claims[0]
    >>> claim.verdict
    'refuted'
    >>> low, high = claim.counter_example
    >>> low["x1"] < high["x1"], claim.predictions[0] > claim.predictions[1]
    (True, True)
    """
    model = _verified(fitted)
    names = raw_output_names(fitted)
    space = restricted(CellSpace.of(model), within)
    asked = _Asked(space, names, output, read_budget(budget))
    signs = _signs(monotonic, model.schema)
    groups = groups_of(interactions, model.schema)
    features = feature_positions(unused, model.schema, "unused")
    nothing = not signs and groups is None and bounds is None and not features
    if nothing:
        signs, groups = _constraints_of(fitted, model.schema)
        signs = {feature: sign * asked.direction for feature, sign in signs.items()}
    claims = [*asked.monotone(signs), *asked.interactions(groups), *asked.unused(features)]
    if bounds is not None:
        claims += asked.bounds(*read_bounds(bounds))
    if nothing:
        claims += [*asked.ranges(), *filter(None, [list_unused(space)])]
    return Verification(tuple(claims), rows_within(space, within))


def _verified(fitted: Any) -> Verified:
    model = model_of(fitted)
    return model if isinstance(model, DerivedForest | LeafRowForest) else forest_of(fitted)


class _Asked:
    """Claims about the chosen outputs."""

    def __init__(self, space: CellSpace, names: tuple[str, ...], output: Any, budget: int) -> None:
        self._space = space
        self._names = names
        self._is_chosen = output is not None
        self._outputs = (
            [find_place(output, names, "output", "raw score")]
            if self._is_chosen
            else range(len(names))
        )
        self._budget = budget
        for k in self._outputs:
            _check_finite(space, k)
        self._differences = [Differences.of(space, k, self._subject(k)) for k in self._outputs]

    @property
    def direction(self) -> int:
        """-1 if the output is the first of two probabilities, which falls as the second rises."""
        return -1 if self._has_shares and self._is_chosen and self._outputs[0] == 0 else 1

    @property
    def _has_shares(self) -> bool:
        """Whether the outputs are the probabilities of two classes."""
        forest = self._space.forest
        is_share = forest.output.link == "identity" and forest.target.classes is not None
        return is_share and len(self._names) == 2

    @property
    def _medians(self) -> MedianBounds | None:
        model = self._space.model
        if isinstance(model, LeafRowForest) and not self._is_chosen:
            return MedianBounds(self._space, model)
        return None

    def monotone(self, signs: Mapping[int, int]) -> Iterable[Claim]:
        for feature, sign in signs.items():
            check = partial(check_monotone, feature=feature, direction=sign)
            if self._has_shares and not self._is_chosen:  # the other falls as this one rises
                yield check(self._differences[1], self._budget)
            else:
                yield self._for_all(check)

    def interactions(self, groups: tuple[tuple[int, ...], ...] | None) -> Iterable[Claim]:
        if groups is not None:
            yield self._for_all(partial(check_interactions, groups=groups))

    def unused(self, features: Iterable[int]) -> Iterable[Claim]:
        for feature in features:
            yield self._for_all(partial(check_unused, feature=feature))

    def bounds(self, low: float | None, high: float | None) -> Iterable[Claim]:
        medians = self._medians
        scale = self._scale(self._bounded_output())
        for side, bound in ((-1, low), (1, high)):
            if bound is not None and medians is not None:
                yield check_median(medians, side, bound, self._budget)
            elif bound is not None:
                yield check_bound(scale, side, bound, self._budget)

    def ranges(self) -> Iterable[Claim]:
        medians = self._medians
        if medians is not None:
            yield describe_medians(medians, self._budget)
        for output in self._outputs:
            yield describe_range(self._scale(output), self._budget // len(self._outputs))

    def _for_all(self, check: Callable[[Differences, int], Claim]) -> Claim:
        """Check one output after the other; the first that is not proved decides."""
        for about in self._differences:
            claim = check(about, self._budget // len(self._differences))
            if claim.verdict != "proved":
                break
        return claim

    def _bounded_output(self) -> int:
        if self._is_chosen or len(self._names) == 1:
            return self._outputs[0]
        if self._has_shares:
            return 1
        link = self._space.forest.output.link
        raise InvalidParameter(
            f"bounds of a model with {len(self._names)} outputs: {shorten(self._names)}. Choose "
            f"one with output={self._names[0]!r}."
            + (" The bounds are then those of its raw score." if _mixing(link) else "")
        )

    def _subject(self, output: int) -> str:
        """Say what a sum of trees is, where it is not plain."""
        if isinstance(self._space.model, LeafRowForest):
            return "the mean of the forest"
        is_one_of_several = self._is_chosen and len(self._names) > 1
        is_named = self._has_shares or is_one_of_several or self._is_length
        return self._named(output) if is_named else "the score"

    @property
    def _is_length(self) -> bool:
        return self._space.forest.target.task == "unsupervised"

    def _named(self, output: int) -> str:
        forest = self._space.forest
        if self._is_length:
            return f"the {self._names[output]}"
        before = _mixing(forest.output.link)
        what = "the prediction" if before is None else "the raw score"
        if forest.target.classes is not None and before is None:
            what = "the probability"
        of = "" if self._names == ("prediction",) else f" of {self._names[output]!r}"
        return what + of if before is None else f"{what}{of}, {before},"

    def _scale(self, output: int) -> Scale:
        is_mean = isinstance(self._space.model, LeafRowForest)
        name = self._subject(output) if is_mean else self._named(output)
        is_raw = _mixing(self._space.forest.output.link) is not None
        return Scale(self._space, output, name, is_raw)


def _signs(monotonic: Any, schema: FeatureSchema) -> dict[int, int]:
    if monotonic is None:
        return {}
    if not isinstance(monotonic, Mapping):
        return _nonzero(monotone_signs(monotonic, schema, "The model"))
    signs = {}
    for key, sign in monotonic.items():
        (feature,) = ordered_features([key], schema, "monotonic")
        if isinstance(sign, bool) or sign not in (-1, 0, 1):
            raise InvalidInput(f"monotonic[{key!r}]={sign!r}: expected 1, -1 or 0.")
        if sign:
            signs[feature] = int(sign)
    return signs


def _nonzero(signs: tuple[int, ...] | None) -> dict[int, int]:
    return {feature: sign for feature, sign in enumerate(signs or ()) if sign}


def _constraints_of(
    fitted: Any, schema: FeatureSchema
) -> tuple[dict[int, int], tuple[tuple[int, ...], ...] | None]:
    """Read the constraints an estimator was fitted with; a bare model does not know them."""
    params = fitted.get_params(deep=False) if hasattr(fitted, "get_params") else {}
    signs = monotone_signs(params.get("monotonic_cst"), schema)
    names = schema.names if schema.names_given else None
    groups = interaction_groups(params.get("interaction_cst"), schema.n_features, names)
    return _nonzero(signs), groups


def _check_finite(space: CellSpace, output: int) -> None:
    """Refuse sums that could leave the numbers: nothing can be said about them."""
    terms = largest_terms(space, space.contributions(output))
    with np.errstate(over="ignore"):
        total = float(terms.sum()) + abs(float(space.forest.arrays["baseline"][output]))
    if not np.isfinite(total) or space.forest.divisor == 0.0:
        raise InvalidInput(
            "The scores of this model overflow, or its tree weights add up to 0, so that its "
            "predictions need not be numbers. Fit it on a target of smaller magnitude."
        )
