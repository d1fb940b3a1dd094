"""Who measures how well an estimator does: its own score, a scorer by name, or a function."""

from collections.abc import Callable
from typing import Any

from sklearn.base import is_classifier, is_regressor

from spinney.data.sources.vector import read_vector
from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.model import Model


def scorer_of(fitted: Any, scoring: Any) -> Callable[..., Any]:
    """Read ``scoring`` of a fitted estimator."""
    from sklearn.metrics import check_scoring, get_scorer_names  # noqa: PLC0415 - 0.1 s, for few

    if isinstance(scoring, str) and scoring not in get_scorer_names():
        hint = nearest_names(scoring, get_scorer_names())
        raise InvalidParameter(
            f"scoring={scoring!r}: no scorer has that name.{hint} "
            "sklearn.metrics.get_scorer_names() lists them all."
        )
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise InvalidParameter(
            f"scoring={scoring!r}: expected None, the name of one scorer, or a callable "
            "(estimator, X, y)."
        )
    if scoring is None and not hasattr(fitted, "score"):
        raise InvalidParameter(
            f"scoring=None: {type(fitted).__name__} has no score of its own that could fall. Give "
            "a callable (estimator, X, y), or the name of a scorer that compares what it says with "
            "y, such as scoring='roc_auc' of an anomaly detector where y is 1 for usual rows."
        )
    scorer: Callable[..., Any] = check_scoring(fitted, scoring)
    return scorer


def sees_only_predictions(scorer: Any) -> bool:
    """Tell whether a scorer is one of scikit-learn's, which pass the table to the estimator."""
    return type(scorer).__module__.startswith("sklearn.")


def check_target(fitted: Any, y: Any, scoring: Any, n_rows: int) -> None:
    """Refuse a target of other rows, or none where the score compares with it."""
    if y is None:
        has_target = isinstance(fitted, Model) or is_classifier(fitted) or is_regressor(fitted)
        if (scoring is None and has_target) or (scoring is not None and _compares(scoring)):
            raise InvalidInput(
                f"y=None, but the score of this {type(fitted).__name__} compares predictions with "
                "a target. Give y, one target per row of X, or a callable scoring that needs none."
            )
        return
    n_targets = len(read_vector(y, "y"))
    if n_targets != n_rows:
        raise InvalidInput(
            "Found input variables with inconsistent numbers of samples: "
            f"{[n_rows, n_targets]}. Give one target per row of X."
        )


def _compares(scoring: Any) -> bool:
    return not callable(scoring) or sees_only_predictions(scoring)
