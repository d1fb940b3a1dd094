"""Bagging under its other names: the same estimators with other defaults."""

from typing import Any

from spinney.ensembles.bagging.classifier import BaggingClassifier
from spinney.ensembles.bagging.regressor import BaggingRegressor
from spinney.typing import RandomState


class PastingClassifier(BaggingClassifier):
    """Pasting: bagging without replacement, of half of the rows each.

    The parameters are those of :class:`BaggingClassifier`; only the defaults of ``bootstrap`` and
    ``max_samples`` differ. Half of the rows without replacement behave much like all of them with
    it (Buja and Stuetzle 2006), and trees of them grow faster.

    References
    ----------
    Breiman (1999), Pasting small votes for classification in large databases and on-line, Machine
    Learning 36.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import PastingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(PastingClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = 0.5,
        max_features: float = 1.0,
        bootstrap: bool = False,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "auto",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            sampler=sampler,
            block_length=block_length,
            aggregation=aggregation,
        )


class PastingRegressor(BaggingRegressor):
    """Pasting: bagging without replacement, of half of the rows each.

    The parameters are those of :class:`BaggingRegressor`; only the defaults of ``bootstrap`` and
    ``max_samples`` differ. Half of the rows without replacement behave much like all of them with
    it (Buja and Stuetzle 2006), and trees of them grow faster.

    References
    ----------
    Breiman (1999), Pasting small votes for classification in large databases and on-line, Machine
    Learning 36.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import PastingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(PastingRegressor(random_state=0).fit(X, y).score(X, y) > 0.5)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = 0.5,
        max_features: float = 1.0,
        bootstrap: bool = False,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "mean",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            sampler=sampler,
            block_length=block_length,
            aggregation=aggregation,
        )


class RandomSubspaceClassifier(BaggingClassifier):
    """Random subspaces: every member sees all rows and half of the features.

    The parameters are those of :class:`BaggingClassifier`; only the defaults of ``bootstrap``,
    ``max_features`` and ``n_estimators`` differ: half-blind members should be many.

    References
    ----------
    Ho (1998), The random subspace method for constructing decision forests, IEEE Transactions on
    Pattern Analysis and Machine Intelligence 20.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import RandomSubspaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(RandomSubspaceClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        max_samples: float | None = None,
        max_features: float = 0.5,
        bootstrap: bool = False,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "auto",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            sampler=sampler,
            block_length=block_length,
            aggregation=aggregation,
        )


class RandomSubspaceRegressor(BaggingRegressor):
    """Random subspaces: every member sees all rows and half of the features.

    The parameters are those of :class:`BaggingRegressor`; only the defaults of ``bootstrap``,
    ``max_features`` and ``n_estimators`` differ: half-blind members should be many.

    References
    ----------
    Ho (1998), The random subspace method for constructing decision forests, IEEE Transactions on
    Pattern Analysis and Machine Intelligence 20.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import RandomSubspaceRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(RandomSubspaceRegressor(random_state=0).fit(X, y).score(X, y) > 0.5)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        max_samples: float | None = None,
        max_features: float = 0.5,
        bootstrap: bool = False,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "mean",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            sampler=sampler,
            block_length=block_length,
            aggregation=aggregation,
        )


class RandomPatchesClassifier(BaggingClassifier):
    """Random patches: every member sees half of the rows and half of the features.

    The parameters are those of :class:`BaggingClassifier`; only the defaults of ``bootstrap``,
    ``max_samples``, ``max_features`` and ``n_estimators`` differ: half-blind members should be
    many.

    References
    ----------
    Louppe and Geurts (2012), Ensembles on random patches, ECML PKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import RandomPatchesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(RandomPatchesClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        max_samples: float | None = 0.5,
        max_features: float = 0.5,
        bootstrap: bool = False,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "auto",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            sampler=sampler,
            block_length=block_length,
            aggregation=aggregation,
        )


class RandomPatchesRegressor(BaggingRegressor):
    """Random patches: every member sees half of the rows and half of the features.

    The parameters are those of :class:`BaggingRegressor`; only the defaults of ``bootstrap``,
    ``max_samples``, ``max_features`` and ``n_estimators`` differ: half-blind members should be
    many.

    References
    ----------
    Louppe and Geurts (2012), Ensembles on random patches, ECML PKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import RandomPatchesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(RandomPatchesRegressor(random_state=0).fit(X, y).score(X, y) > 0.5)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        max_samples: float | None = 0.5,
        max_features: float = 0.5,
        bootstrap: bool = False,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "mean",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            sampler=sampler,
            block_length=block_length,
            aggregation=aggregation,
        )
