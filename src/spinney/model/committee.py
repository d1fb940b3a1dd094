"""A weighted committee of models that need not be trees."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from spinney.errors import CannotSave, InvalidModel
from spinney.model.model import Model, Policy, State
from spinney.model.tree import freeze
from spinney.typing import AnyArray, FloatArray, TableLike

MAX_MEMBERS = 10_000
MAX_NESTING = 8
"""Committees inside committees; a file may not ask for more."""


class Committee(Model):
    """Members with weights, combined by ``"mean"`` of predictions or by ``"vote"``.

    A member is a frozen model, or any fitted classifier or regressor with scikit-learn's methods.
    All members must predict the same classes or the same number of outputs. Only committees of
    frozen models can be saved, because a file holds no foreign code.

    ``committee[:k]`` is the committee of the first k members.
    """

    kind: ClassVar[str] = "committee"

    def __init__(
        self, members: Sequence[Any], weights: FloatArray, *, combine: str, policy: Policy
    ) -> None:
        self.members = tuple(members)
        self.weights = freeze(np.asarray(weights, np.float64))
        self.combine = combine
        self.policy = policy
        self._check()
        frozen = [member for member in self.members if isinstance(member, Model)]
        if frozen:
            self.schema, self.target = frozen[0].schema, frozen[0].target

    def _check(self) -> None:
        if not self.members or self.weights.shape != (len(self.members),):
            raise InvalidModel("a committee needs members, and one weight for each")
        if not np.isfinite(self.weights).all() or not np.abs(self.weights).sum() > 0:
            raise InvalidModel("the weights of a committee must be finite and not all zero")
        if self.combine not in ("mean", "vote"):
            raise InvalidModel(f"combine={self.combine!r}: expected 'mean' or 'vote'")
        if self.combine == "mean" and not self.weights.sum() > 0:
            raise InvalidModel("a mean needs weights with a positive sum")
        targets = [member.target for member in self.members if isinstance(member, Model)]
        if not all(target.same_as(targets[0]) for target in targets):
            raise InvalidModel("the members of a committee must predict the same thing")

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Committee(
                self.members[index], self.weights[index], combine=self.combine, policy=self.policy
            )
        return self.members[index]

    def __repr__(self) -> str:
        return f"Committee({len(self)} members, combine={self.combine!r})"

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Weighted mean of the members' predictions, or share of weight behind each class."""
        total: FloatArray = np.zeros(1)
        for member, weight in zip(self.members, self.weights, strict=True):
            part = _member_predictions(member, X, n_threads, estimator_name)
            total = total + weight * (_votes(part) if self.combine == "vote" else part)
        scale = self.weights.sum() if self.combine == "mean" else np.abs(self.weights).sum()
        predicted: FloatArray = total / scale
        return predicted

    def to_state(self) -> State:
        """Take the committee apart; members are numbered parts of it."""
        arrays: dict[str, AnyArray] = {"committee/weights": self.weights}
        metas = []
        for i, member in enumerate(self.members):
            if not isinstance(member, Model):
                raise CannotSave(
                    f"Member {i} is a {type(member).__name__}, which has no safe form in a file. "
                    "Save committees of Spinney's own models, or keep this one in memory."
                )
            meta, parts = member.to_state()
            metas.append(meta)
            arrays |= {f"member/{i}/{name}": part for name, part in parts.items()}
        policy = {"unseen": self.policy.unseen, "extra": self.policy.extra}
        meta = {"kind": self.kind, "members": metas, "combine": self.combine, "policy": policy}
        return meta, arrays


def _member_predictions(
    member: Any, X: TableLike, n_threads: int, estimator_name: str
) -> FloatArray:
    if isinstance(member, Model):
        return member.predictions(X, n_threads=n_threads, estimator_name=estimator_name)
    if hasattr(member, "predict_proba"):
        return np.asarray(member.predict_proba(X), np.float64)
    predicted = np.asarray(member.predict(X), np.float64)
    return predicted.reshape(len(predicted), -1)


def _votes(probabilities: FloatArray) -> FloatArray:
    """One for the likeliest class of each row (ties to the first), zero for the others."""
    votes = np.zeros_like(probabilities)
    votes[np.arange(len(votes)), probabilities.argmax(axis=1)] = 1.0
    return votes
