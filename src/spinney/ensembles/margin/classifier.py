"""Boosters that maximise margins, as an estimator."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import _safe_indexing

from spinney.ensembles.adaptive.vote_booster import BOOSTER_RULES, Preparation, VoteBooster
from spinney.ensembles.margin.boosting import boost_margins
from spinney.ensembles.margin.certificate import MarginCertificate
from spinney.ensembles.margin.settings import ALGORITHMS, MarginSettings
from spinney.ensembles.parameters import Boolean, Choice, Real, Rule
from spinney.ensembles.weak.base_trees import exact_tree_plan, most_leaves
from spinney.ensembles.weak.learners import SumOutput
from spinney.errors import InvalidModel
from spinney.model import TreeForest
from spinney.model.model import State
from spinney.progress import at_least
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_PROOF_ARRAYS = ("weights", "distribution", "caps")
_PROOF_NUMBERS = {"primal": float, "dual": float, "rounds": int}


class MarginBoostClassifier(VoteBooster):
    """Boosting for large margins, with a certificate of how large they could be; two classes.

    Parameters
    ----------
    estimator : classifier or None
        Who is asked in each round; None for the decision stump with the highest edge, for which
        the certificates are proofs. Any classifier of scikit-learn will do.
    n_estimators : int
        Most rounds.
    algorithm : str
        Votes, added round by round: "arc_gv" (Breiman 1999), "adaboost_rho" and "adaboost_star"
        (Rätsch and Warmuth 2005), "adaboost_reg" (Rätsch, Onoda and Müller 2001). Programs, which
        weigh all votes anew: "lpboost" (Demiriz, Bennett and Shawe-Taylor 2002), "totalboost",
        "softboost" and "erlpboost" (Warmuth and others, 2006 to 2008), "corrective_erlpboost"
        (Shalev-Shwartz and Singer 2010).
    nu : float
        Share of the rows that may lie below the margin; for "lpboost", "softboost" and both forms
        of "erlpboost". Smaller than the share of any row: none may.
    target_margin : float
        The margin "adaboost_rho" aims at.
    precision : float
        How far from the best margin the answer may be.
    regularisation : float
        How much "adaboost_reg" distrusts rows that are often hard, in multiples of their number.
    tol : float
        An edge that is higher by no more than this is not higher; for "lpboost".
    store_weights : bool
        Whether ``trace_.distributions`` keeps the weights of rows in all rounds.
    mode, categorical_features, unseen, extra_columns, verbose, random_state, n_jobs
        As in :class:`AdaBoostClassifier`.

    Attributes
    ----------
    certificate_ : MarginCertificate
        The margin that was reached, the one that cannot be exceeded, and what proves both.
    alphas_ : ndarray
        Weights of the members; of programs their sum is 1.
    trace_ : Trace
        What each round did.

    Examples
    --------
    >>> from spinney import MarginBoostClassifier
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 1, 0, 0]
    >>> booster = MarginBoostClassifier(algorithm="lpboost", nu=0.01).fit(X, y)
    >>> print(booster.certificate_.title())
    The best margin lies between 0.333333 and 0.333333
    >>> booster.certificate_.holds
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **BOOSTER_RULES,
        "algorithm": Choice(ALGORITHMS),
        "nu": Real(0.0, 1.0, above=True),
        "target_margin": Real(-1.0, 1.0, above=True, below=True),
        "precision": Real(0.0, 1.0, above=True, below=True),
        "regularisation": Real(0.0),
        "tol": Real(0.0, 0.1, above=True),
        "store_weights": Boolean(),
    }
    _stump_criterion = "error"
    certificate_: MarginCertificate | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        algorithm: str = "erlpboost",
        nu: float = 0.1,
        target_margin: float = 0.0,
        precision: float = 0.05,
        regularisation: float = 0.1,
        tol: float = 1e-6,
        store_weights: bool = False,
        mode: str = "reweight",
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.algorithm = algorithm
        self.nu = nu
        self.target_margin = target_margin
        self.precision = precision
        self.regularisation = regularisation
        self.tol = tol
        self.store_weights = store_weights
        self.mode = mode
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of n rows
        y : n labels of two classes
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        prepared = self._prepare(X, y, sample_weight)
        if self._is_single(prepared):
            self.certificate_ = None
            return self
        with at_least(self.verbose):
            boosted = boost_margins(
                self._ask(prepared),
                prepared.rows.signs,
                self._settings(),
                prepared.rows.counts.weights,
            )
        output = SumOutput("double_logistic", np.zeros(1))
        self._become(prepared, boosted.members, boosted.weights, output, boosted.trace)
        self.certificate_ = self._of_learner(boosted.certificate)
        # Programs weigh all votes anew at the end: the last margin is that of the model.
        least = self.trace_.min_margins.copy()
        least[-1] = self._least_margin(prepared, X)
        self.trace_ = dataclasses.replace(self.trace_, min_margins=least)
        return self

    def _of_learner(self, proof: MarginCertificate) -> MarginCertificate:
        """Say whether the proof speaks of all hypotheses: it does for stumps of least error."""
        plan = exact_tree_plan(self.estimator)
        criterion = self._stump_criterion if self.estimator is None else plan and plan[1]
        is_best = (
            most_leaves(self.estimator) == 2 and criterion == "error" and self.mode == "reweight"
        )
        return dataclasses.replace(proof, finds_best=is_best)

    def _least_margin(self, prepared: Preparation, X: TableLike) -> float:
        """Give the least margin of the training rows."""
        model, reading = self.model_, prepared.reading
        if isinstance(model, TreeForest):
            scores = model.raw_scores(reading.table, n_threads=self._n_threads())
        else:
            scores = model.raw_scores(
                X if reading.kept is None else _safe_indexing(X, reading.kept)
            )
        margins = prepared.rows.signs * scores[:, 0] / self.alphas_.sum()
        return float(margins.min())

    def _settings(self) -> MarginSettings:
        return MarginSettings(
            algorithm=self.algorithm,  # type: ignore[arg-type]  # checked as one of them
            n_rounds=self.n_estimators,
            nu=self.nu,
            target_margin=self.target_margin,
            precision=self.precision,
            regularisation=self.regularisation,
            tol=self.tol,
            keep_distributions=self.store_weights,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def alphas_(self) -> FloatArray:
        """Weights of the members."""
        self._check_fitted()
        return self._member_weights()

    def _attributes(self) -> State:
        meta, arrays = super()._attributes()
        proof = self.certificate_
        if proof is None:
            return meta, arrays
        numbers = {name: getattr(proof, name) for name in (*_PROOF_NUMBERS, "promise")}
        meta["certificate"] = numbers
        arrays |= {f"certificate_{name}": np.array(getattr(proof, name)) for name in _PROOF_ARRAYS}
        return meta, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        parts = {f"certificate_{name}": name for name in _PROOF_ARRAYS}
        others = {name: array for name, array in arrays.items() if name not in parts}
        rest = {name: value for name, value in meta.items() if name != "certificate"}
        super()._adopt_attributes(rest, others)
        self.certificate_ = None
        if "certificate" in meta or len(others) < len(arrays):
            proofs = {parts[name]: array for name, array in arrays.items() if name in parts}
            self.certificate_ = self._of_learner(_read_proof(meta.get("certificate"), proofs))
            if len(self.certificate_.weights) != len(self.model_):
                raise InvalidModel("the certificate is that of another number of members")


def _read_proof(numbers: Any, arrays: Mapping[str, AnyArray]) -> MarginCertificate:
    """Make a certificate of what a file says, believing nothing."""
    fits = (
        isinstance(numbers, dict)
        and set(numbers) == {*_PROOF_NUMBERS, "promise"}
        and all(type(numbers[name]) is kind for name, kind in _PROOF_NUMBERS.items())
        and (numbers["promise"] is None or type(numbers["promise"]) is float)
        and set(arrays) == set(_PROOF_ARRAYS)
        and all(array.dtype == "<f8" and array.ndim == 1 for array in arrays.values())
        and len(arrays["distribution"]) == len(arrays["caps"])
    )
    if not fits:
        raise InvalidModel("the certificate of the booster is missing parts")
    parts: dict[str, Any] = {**numbers, **{name: array.copy() for name, array in arrays.items()}}
    return MarginCertificate(**parts)
