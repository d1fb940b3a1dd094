"""Stacking: a final estimator learns how to combine answers out of fold."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spinney.ensembles.combining.stack import STACK_RULES, ClassStack, NumberStack
from spinney.ensembles.parameters import Choice, Rule

STACK_METHODS = Choice(("auto", "predict_proba", "decision_function", "predict"))


class StackingClassifier(ClassStack):
    """A classifier that learns from what other classifiers say of rows they have not seen.

    A drop-in for scikit-learn's ``StackingClassifier``. Members of ours share one binned table: a
    fold is a list of row numbers, not a copy. Rows that no split asks about (the first ones under
    ``TimeSeriesSplit``) are left out of the final fit. Stacks may be members of stacks.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    final_estimator : classifier, "simplex", "nonnegative", "best" or None
        None: ``LogisticRegression()``. A word: one weight per member for its probabilities, such
        that Brier's score out of fold is least; weights that sum to 1, or need not, or all for
        the best.
    cv : int, splitter, iterable of (train, test), "prefit" or None
        None: five folds, classes in their shares. *prefit*: the members are fitted already, and
        answer for all rows given to ``fit``, which they should not have seen.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    passthrough : bool
        Whether the final estimator sees X too.
    verbose : int
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.

    Attributes
    ----------
    estimators_, named_estimators_ : fitted on all rows, on labels as codes
    final_estimator_ : estimator
    stack_method_ : list of str
    classes_ : array

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5. Ting and Witten (1999), Issues in
    stacked generalization, JAIR 10.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spinney import RandomForestClassifier, StackingClassifier
    >>> from spinney.datasets import make_twonorm
    >>> data = make_twonorm(300, random_state=0)
    >>> forest = RandomForestClassifier(30, random_state=0)
    >>> stack = StackingClassifier([("forest", forest), ("linear", LogisticRegression())])
    >>> bool(stack.fit(data.X, data.y).score(data.X, data.y) > 0.97)
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **STACK_RULES,
        "stack_method": STACK_METHODS,
    }

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        repeated: str = "error",
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.repeated = repeated


class StackingRegressor(NumberStack):
    """A regressor that learns from what other regressors say of rows they have not seen.

    A drop-in for scikit-learn's ``StackingRegressor``; see ``StackingClassifier``.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    final_estimator : regressor, "simplex", "nonnegative", "best" or None
        None: ``RidgeCV()``. A word: one weight per member, such that the squared error out of fold
        is least; weights that sum to 1, or need not (Breiman's stacked regressions), or all for
        the best.
    cv : int, splitter, iterable of (train, test), "prefit" or None
        None: five folds, of neighbouring rows as scikit-learn makes them.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    passthrough : bool
        Whether the final estimator sees X too.
    verbose : int
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.

    Attributes
    ----------
    estimators_, named_estimators_ : fitted on all rows
    final_estimator_ : estimator
    stack_method_ : list of str

    References
    ----------
    Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import RandomForestRegressor, StackingRegressor
    >>> from spinney.datasets import make_friedman
    >>> data = make_friedman(1, 300, random_state=0)
    >>> forest = RandomForestRegressor(30, random_state=0)
    >>> members = [("forest", forest), ("linear", LinearRegression())]
    >>> stack = StackingRegressor(members, final_estimator="simplex").fit(data.X, data.y)
    >>> round(float(stack.final_estimator_.weights_.sum()), 12)
    1.0
    """

    _rules: ClassVar[Mapping[str, Rule]] = STACK_RULES

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        repeated: str = "error",
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.repeated = repeated
