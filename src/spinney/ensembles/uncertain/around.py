"""What estimators around another estimator share."""

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted

from spinney.data.row_keys import KEYS
from spinney.data.sources.vector import read_vector
from spinney.ensembles.compiling import Compilable
from spinney.ensembles.estimator import Learner
from spinney.ensembles.parameters import Checked, Fraction, Integer, Nothing, either
from spinney.ensembles.uncertain.calibrating import codes_of
from spinney.ensembles.uncertain.rows import GivenRows, as_table, read_given
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model.answers import check_width
from spinney.typing import AnyArray, TableLike

FOLDS = Checked(
    "a number of folds, a share of the rows, a splitter, pairs of rows to learn from and rows to "
    "judge, 'prefit', or None for the default"
)


class Around(Compilable, Learner):
    """An estimator that fits clones of another one, of ours or foreign.

    It holds fitted estimators and is no model of ours: it goes into pickles, not into files.
    """

    _task: ClassVar[str]
    estimator: Any
    cv: Any
    n_features_in_: int

    def _base(self) -> Any:
        """Give the estimator that is cloned."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = self._base()
        if hasattr(base, "__sklearn_tags__"):
            tags.input_tags = get_tags(base).input_tags
        return tags

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _check_base(self, base: Any) -> None:
        needed = ("fit", "predict", "get_params")
        if isinstance(base, type) or not all(callable(getattr(base, n, None)) for n in needed):
            raise InvalidParameter(
                f"estimator={base!r} of {type(self).__name__}: expected None for the default, or "
                "an estimator with fit, predict and get_params."
            )
        wanted = is_classifier if self._task == "classification" else is_regressor
        other = is_regressor if self._task == "classification" else is_classifier
        if hasattr(base, "__sklearn_tags__") and other(base) and not wanted(base):
            kind = "classifier" if self._task == "classification" else "regressor"
            raise InvalidParameter(
                f"estimator={base!r} of {type(self).__name__}: expected a {kind}."
            )

    def _read(self, given: tuple[TableLike, Any, Any], keys: tuple[Any, Any]) -> GivenRows:
        rows = read_given(given, keys, task=self._task, owner=type(self).__name__)
        self.n_features_in_ = rows.n_features
        self.__dict__.pop("feature_names_in_", None)
        if rows.names is not None:
            self.feature_names_in_ = rows.names
        return rows

    def _folds_wanted(self, default: Any) -> Any:
        """Read ``cv``: None is the default, a number or a share must be one."""
        cv = default if self.cv is None else self.cv
        is_number = isinstance(cv, int | float | np.number | bool | np.bool_)
        rule = either(Integer(2), Fraction(below_one=True), Nothing("the default"))
        if is_number and not rule.accepts(cv):
            raise InvalidParameter(
                f"cv={cv!r} of {type(self).__name__}: expected {rule.describe()}, a splitter, "
                "pairs of rows to learn from and rows to judge, or 'prefit'."
            )
        if isinstance(cv, str) and cv != "prefit":
            raise InvalidParameter(
                f"cv={cv!r} of {type(self).__name__}: of words only 'prefit' is known, for an "
                "estimator that is fitted already."
            )
        if not is_number and not isinstance(cv, str):
            iterable = hasattr(cv, "split") or hasattr(cv, "__iter__")
            if not iterable:
                raise InvalidParameter(
                    f"cv={cv!r} of {type(self).__name__}: expected {FOLDS.describe()}."
                )
        return cv

    def _classes_of_fitted(self, base: Any, rows: GivenRows) -> AnyArray:
        """Give the classes of a classifier that is fitted; rows of others are refused."""
        known = getattr(base, "classes_", None)
        if known is None:
            raise InvalidInput(
                f"cv='prefit', but {type(base).__name__} has no classes_: expected a classifier "
                "that is fitted already."
            )
        codes_of(rows.y, np.asarray(known))
        return np.asarray(known)

    def _asked(self, X: TableLike) -> TableLike:
        """Check a table at predict, and give it as members take it."""
        check_is_fitted(self)
        given = as_table(X)
        check_width(given, self.n_features_in_, type(self).__name__)
        return given


def groups_by(conditional_on: Any, X: TableLike) -> AnyArray:
    """Give the group of each row: the value of a column, or what a function says of the table."""
    if callable(conditional_on):
        labels = read_vector(conditional_on(X), "conditional_on")
    else:
        try:
            is_arrow = hasattr(X, "num_rows")
            column = X.column(conditional_on) if is_arrow else _column(X, conditional_on)
            labels = read_vector(column, "conditional_on")
        except (ValueError, KeyError, IndexError, TypeError) as problem:
            raise InvalidParameter(
                f"conditional_on={conditional_on!r}: expected 'class', the name or number of a "
                f"column of X, or a function from X to a label for each row. ({problem})"
            ) from problem
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if labels.shape != (n_rows,):
        raise InvalidInput(
            f"conditional_on gave labels of the shape {labels.shape}: expected ({n_rows},)."
        )
    return labels


def _column(X: TableLike, which: Any) -> Any:
    column = _safe_indexing(X, which, axis=1)
    return column.toarray()[:, 0] if issparse(column) else column
