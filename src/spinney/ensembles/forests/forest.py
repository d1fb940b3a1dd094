"""What all forests share: growing, asking, and what is known of trees and their rows."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.fitting import IntakeSettings
from spinney.ensembles.forests.bag_keeper import BagKeeper
from spinney.ensembles.forests.growing import (
    Grower,
    join_grown,
    make_grower,
    parts_of,
    portions,
)
from spinney.ensembles.forests.importances import mean_gain_shares
from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.forests.out_of_bag import OutOfBag
from spinney.ensembles.forests.paths import PassedNodes
from spinney.ensembles.forests.rows import ForestRows, keys_of_sampler, read_forest_rows
from spinney.ensembles.forests.tree_views import TreeViews
from spinney.ensembles.forests.warm_start import check_goes_on
from spinney.ensembles.trees.several_labels import SeveralLabels
from spinney.ensembles.uncertain.out_of_bag import OutOfBagCalibration
from spinney.errors import InvalidParameter
from spinney.model import Model, TreeForest
from spinney.progress import Progress
from spinney.randomness import seed_from
from spinney.typing import FloatArray, TableLike

AUTO_STEP, AUTO_MOST = 50, 2000
"""Trees that ``n_estimators="auto"`` grows between two looks at the curve, and at most."""
_OOB_NEEDS_BAGS = (
    "Out of bag estimation only available if bootstrap=True, or with a sampler that leaves rows "
    "out of bags. Set one of them, or oob_score=False and a number for n_estimators."
)


class Forest(OutOfBagCalibration, PassedNodes, BagKeeper):
    """Trees grown on rows and features of their own, whose answers are averaged."""

    _model_class: ClassVar[type[Model]] = TreeForest
    model_: TreeForest
    verbose: int
    _shares: FloatArray | None = None
    """Of the classes in each node, where the values of the model are votes."""

    def _keys_wanted(self) -> tuple[str, ...]:
        return keys_of_sampler(self.get_params(deep=False).get("sampler"))

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers, or several of each row: (n, n_outputs)
        sample_weight : n numbers, optional
            Rows of weight 0 are as if absent. A whole weight of k counts as the row k times where
            trees see all rows or draw by "bootstrap", "poisson" or "group" (a group with all its
            rows). A bootstrap draws rows by their weights: as many as the weights add up to if they
            are whole numbers (of a mean up to 100), else as many as there are rows. The samplers
            "subsample", "balanced", "stratified" and "block" draw a row of weight k as one row,
            which then weighs k, so that its k copies are drawn together and not one by one;
            "bayesian" weighs it by one random number times k. Where no rows are drawn,
            ``class_weight`` makes weights that are not whole; ``search="adaptive"`` then counts
            rows, and may search nodes of a few hundred rows another way than those of repeated
            ones.
        groups : n labels, optional
            For ``sampler="group"``: rows of a group are drawn together.
        time : n sortable keys, optional
            For ``sampler="block"``: blocks are of consecutive times, each with all its rows, and
            ``block_length`` counts times. Without it rows stand in the order of time.

        Returns
        -------
        self
        """
        self._check_parameters()
        params = self.get_params(deep=False)
        goes_on = bool(params["warm_start"]) and hasattr(self, "model_")
        if goes_on and params["n_estimators"] == len(self.model_):
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=2,
            )
        seed = self._known.recipe.seed if goes_on else seed_from(params["random_state"])
        rows = read_forest_rows((X, y, sample_weight, groups, time), self._intake(), params, seed)
        grower = make_grower(rows, params, self._n_threads())
        if goes_on:
            self._check_same(rows, params)
        watch = self._watch(grower, params)
        model = self._grown(grower, watch, goes_on=goes_on)
        self._adopt(model)
        self._learn(rows, watch)
        return self

    def _intake(self) -> IntakeSettings:
        params = self.get_params(deep=False)
        return IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=params["categorical_features"],
            class_weight=params.get("class_weight"),
            max_bins=params.get("max_bins", 255),
            n_threads=self._n_threads(),
            several_labels=self._several_labels,
            keeps_classes=True,
        )

    def _check_same(self, rows: ForestRows, params: Mapping[str, Any]) -> None:
        """Refuse to go on with fewer trees, or with a forest of other data."""
        wanted, there = params["n_estimators"], len(self.model_)
        if wanted != "auto" and wanted < there:
            raise InvalidParameter(
                f"n_estimators={wanted} must be larger or equal to len(estimators_)={there} when "
                "warm_start==True. Ask for more trees, or set warm_start=False to begin anew."
            )
        check_goes_on(self.model_, self._known, rows)

    def _watch(self, grower: Grower, params: Mapping[str, Any]) -> OutOfBag | None:
        """Make the judge of rows out of bags, if one is needed."""
        if not params["oob_score"] and params["n_estimators"] != "auto":
            return None
        if not grower.bags.leaves_rows_out:
            raise InvalidParameter(_OOB_NEEDS_BAGS)
        return OutOfBag(grower.rows.reading, grower.rows.row_weights)

    def _grown(self, grower: Grower, watch: OutOfBag | None, *, goes_on: bool) -> TreeForest:
        """Grow the trees that are wanted, behind those there are."""
        wanted = self.get_params(deep=False)["n_estimators"]
        parts: list[Any] = []
        n_grown = 0
        if goes_on:
            parts.append(parts_of(self.model_, self._shares))
            n_grown = len(self.model_)
            if watch is not None:
                watch.add(grower.freeze(parts[0]), grower.bags, 0, grower.n_threads)
        last = AUTO_MOST if wanted == "auto" else wanted
        part = None
        with Progress(last, "tree", first=n_grown, verbose=self.verbose) as progress:
            step = self._step(grower, wanted, is_shown=progress.is_shown)
            for some in portions(range(n_grown, last), step):
                if wanted == "auto" and watch is not None and n_grown and watch.is_flat():
                    break
                arrays = grower.grow(some)
                parts.append(arrays)
                n_grown = some.stop
                if watch is not None:
                    part = grower.freeze(arrays)
                    watch.add(part, grower.bags, some.start, grower.n_threads)
                progress.show(n_grown)
        if len(parts) > 1:
            part = None
        whole = join_grown(parts)
        self._shares = whole["values"] if grower.votes_hard else None
        return part or grower.freeze(whole)

    def _step(self, grower: Grower, wanted: int | str, *, is_shown: bool) -> int:
        """Count the trees grown at a time; it changes no tree."""
        if isinstance(wanted, str):
            return AUTO_STEP
        few = max(grower.n_threads, -(-wanted // 50)) if is_shown else wanted
        return min(few, grower.at_once()) if grower.knows_counts else few

    def _learn(self, rows: ForestRows, watch: OutOfBag | None) -> None:
        """Keep what is known beside the model."""
        self._known = Knowledge.of(rows)
        self._forget_out_of_bag()
        scoring = self.get_params(deep=False)["oob_score"]
        if watch is None or not scoring:
            return
        if not watch.asked.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                "to compute any reliable OOB estimates: grow more.",
                UserWarning,
                stacklevel=3,
            )
        own = self._scored(scoring, watch.answers(), rows) if callable(scoring) else None
        self._keep_out_of_bag(watch, own)
        answers = self._known.spread(watch.answers())
        self._calibrate_with(answers, rows.reading.y, rows.row_weights)

    def _scored(self, scoring: Any, answers: FloatArray, rows: ForestRows) -> float:
        """Ask the user's own score, of the rows that some tree did not see."""
        known = ~np.isnan(answers[:, 0])
        y, classes = rows.reading.y, self.model_.target.classes
        if isinstance(self, SeveralLabels) and classes is None:
            right, said = (self._likeliest(self._by_label(shares)) for shares in (y, answers))
        elif classes is not None:
            right, said = classes[y.astype(np.int64)], classes[answers.argmax(axis=1)]
        else:
            right, said = (a[:, 0] if y.shape[1] == 1 else a for a in (y, answers))
        score = scoring(right[known], said[known])
        try:
            return float(score)
        except (TypeError, ValueError):
            raise InvalidParameter(
                f"oob_score={scoring!r} gave {score!r}: expected a function of what is right and "
                "what is predicted that returns one number."
            ) from None

    # What is known of the trees

    @property
    def estimators_(self) -> TreeViews:
        """The trees as fitted estimators, made when they are asked for.

        They give shares of classes where they vote too. Impurities of trees of numbers are NaN:
        they need the training rows.
        """
        check_is_fitted(self)
        seed = self._known.recipe.seed
        return TreeViews(self.model_, self.get_params(deep=False), seed, self._shares)

    @property
    def n_outputs_(self) -> int:
        """Outputs of y: 1, or as many numbers as a row has."""
        check_is_fitted(self)
        return self.model_.target.n_targets

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean over trees of each feature's share in the tree's gain; sums to 1 if any splits."""
        check_is_fitted(self)
        return mean_gain_shares(self.model_)

    def proximities(self, X: TableLike, *, out_of_bag: bool = False) -> FloatArray:
        """Give the share of trees in which two rows fall into the same leaf; (n_rows, n_rows).

        Parameters
        ----------
        X : table
        out_of_bag : bool
            For the rows the forest was fitted on: of the trees that saw neither row only; NaN
            where there is none.
        """
        leaves = self.apply(X)
        unseen = self.out_of_bag(X) if out_of_bag else np.ones(leaves.shape, bool)
        nodes = leaves + self.model_.arrays["tree_start"][:-1]
        places = np.nonzero(unseen)
        shape = (len(leaves), len(self.model_.arrays["feature"]))
        met = sparse.csr_array(
            (np.ones(len(places[0]), np.float32), (places[0], nodes[places])), shape=shape
        )
        meetings: FloatArray = (met @ met.T).toarray().astype(np.float64)
        if not out_of_bag:
            meetings /= len(self.model_)
            return meetings
        asked = unseen.astype(np.float64)
        with np.errstate(invalid="ignore"):
            shares: FloatArray = meetings / (asked @ asked.T)
        return shares
