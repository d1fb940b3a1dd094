"""What ensembles of bags keep beside their model: how rows were drawn, and scores out of bag."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.forests.member_sequence import MemberSequence
from spinney.ensembles.forests.out_of_bag import Tally
from spinney.errors import InvalidInput, InvalidModel
from spinney.model import TreeForest
from spinney.model.model import State
from spinney.typing import AnyArray, FloatArray, TableLike

_SCORES = ("oob_curve", "oob_answers")


class BagKeeper(MemberSequence):
    """An ensemble whose members draw rows."""

    _oob_name: ClassVar[str]
    """Attribute that holds answers out of bag."""
    _known: Knowledge
    oob_score_: float
    oob_curve_: FloatArray

    @property
    def estimators_samples_(self) -> list[AnyArray]:
        """Rows each member was fitted on, by their numbers, as often as it counts them."""
        check_is_fitted(self)
        if not hasattr(self, "_known"):
            raise AttributeError("which rows members saw is not kept by partial_fit; use fit")
        return self._known.samples(len(self.model_))

    def out_of_bag(self, X: TableLike) -> AnyArray:
        """Say which members did not see which rows: booleans (n_rows, n_members).

        X must be the table ``fit`` was given; only its number of rows is looked at.
        """
        self._check_fitted()
        if not hasattr(self, "_known"):
            raise InvalidInput(
                "Which rows members saw is not kept by partial_fit. Use fit to ask about it."
            )
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        if n_rows != self._known.n_given:
            raise InvalidInput(
                f"X has {n_rows} rows, but the ensemble was fitted on {self._known.n_given}: which "
                "members did not see a row is known for those alone. Give the same table."
            )
        return self._known.unseen(len(self.model_))

    def _forget_out_of_bag(self) -> None:
        for name in ("oob_score_", "oob_curve_", self._oob_name):
            self.__dict__.pop(name, None)

    def _keep_out_of_bag(self, tally: Tally, score: float | None = None) -> None:
        """Keep scores and answers; the score is the last of the curve if none is given."""
        self.oob_curve_ = np.array(tally.curve)
        self.oob_score_ = float(tally.curve[-1]) if score is None else score
        spread = self._known.spread(tally.answers())
        setattr(self, self._oob_name, self._shaped(spread[:, 0] if self._oob_flat() else spread))

    def _shaped(self, answers: FloatArray) -> FloatArray:
        """Give answers out of bag as users see them."""
        return answers

    def _flat(self, answers: FloatArray) -> FloatArray:
        """Give them as a file has them."""
        return answers

    def _oob_flat(self) -> bool:
        """Tell whether answers out of bag are one number per row."""
        return self._task == "regression" and self.model_.target.n_outputs == 1

    # Files

    def _forest(self) -> TreeForest:
        """Give the trees of the model, for what is checked when it comes from a file."""
        if isinstance(self.model_, TreeForest):
            return self.model_
        raise InvalidModel("the members are no trees")

    def _attributes(self) -> State:
        meta, arrays = self._known.to_state()
        if hasattr(self, "oob_score_"):
            meta["oob_score"] = self.oob_score_
            answers = self._flat(getattr(self, self._oob_name))
            arrays |= {"oob_curve": self.oob_curve_, "oob_answers": answers}
        return meta, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        own = {name: arrays[name] for name in _SCORES if name in arrays}
        others = {name: array for name, array in arrays.items() if name not in _SCORES}
        known = Knowledge.from_state(meta, others, self._forest())
        n_outputs = self.model_.target.n_outputs
        shapes = [(known.n_given, n_outputs), (known.n_given,) if self._oob_flat() else ()]
        if set(meta) - {"oob_score", "rows"} != {"bags", "n_given"} or (
            (own or "oob_score" in meta)
            and (
                len(own) != 2
                or type(meta.get("oob_score")) is not float
                or any(array.dtype != "<f8" for array in own.values())
                or own["oob_curve"].shape != (len(self.model_),)
                or own["oob_answers"].shape not in shapes
            )
        ):
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        self._known = known
        if own:
            self.oob_score_ = meta["oob_score"]
            self.oob_curve_ = own["oob_curve"].copy()
            setattr(self, self._oob_name, self._shaped(own["oob_answers"].copy()))
