"""A weighted sum of members that are not trees of ours."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import _num_samples

from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import CannotSave
from spinney.model.answers import check_width, member_answers
from spinney.model.links import apply_link
from spinney.model.model import Model, Policy, State
from spinney.model.tree import freeze
from spinney.typing import CodeArray, FloatArray, TableLike


class MemberSum(Model):
    """``raw_scores = baseline + sum over members of weight * answer``, then a link.

    The members are fitted estimators with scikit-learn's methods. They see tables as the user gives
    them. A sum of them lives in memory and in pickles only, because a file of ours holds no foreign
    code.
    """

    kind: ClassVar[str] = "member_sum"
    passes_tables_on = True

    def __init__(
        self,
        members: Sequence[Any],
        weights: FloatArray,
        *,
        form: str,
        link: str,
        baseline: FloatArray,
        schema: FeatureSchema,
        target: Target,
        member_output: CodeArray | None = None,
    ) -> None:
        self.members = tuple(members)
        self.weights = freeze(np.asarray(weights, np.float64))
        self.form = form
        self.link = link
        self.baseline = freeze(np.asarray(baseline, np.float64))
        self.member_output = None if member_output is None else freeze(member_output)
        """The score each member adds to; None: all members add to all."""
        self.schema = schema
        self.target = target
        self.policy = Policy()

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            some = None if self.member_output is None else self.member_output[index]
            parts = (self.members[index], self.weights[index], some)
            return _restored(*parts, *self._frame())
        return self.members[index]

    def __repr__(self) -> str:
        return f"MemberSum({len(self)} members, form={self.form!r}, link={self.link!r})"

    def _frame(self) -> tuple[Any, ...]:
        return self.form, self.link, np.array(self.baseline), self.schema, self.target

    def check_width(self, X: TableLike, estimator_name: str) -> None:
        """Refuse a table with another number of columns; the rest is the members' affair."""
        check_width(X, len(self.schema.names), estimator_name)

    def staged_scores(self, X: TableLike) -> Iterator[FloatArray]:
        """Add the members one by one; (n_rows, n_scores) each."""
        classes = self.target.classes if self.target.classes is not None else np.empty(0)
        scores = self.baseline[np.newaxis]
        for place, (member, weight) in enumerate(zip(self.members, self.weights, strict=True)):
            step = weight * member_answers(member, X, classes, self.form)
            if self.member_output is not None:
                step = step * (np.arange(len(self.baseline)) == self.member_output[place])
            scores = scores + step
            yield scores

    def raw_scores(self, X: TableLike) -> FloatArray:
        """Sum the members; (n_rows, n_scores)."""
        scores = np.tile(self.baseline, (_num_samples(X), 1))
        for stage in self.staged_scores(X):
            scores = stage
        return scores

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Probabilities (n_rows, n_classes), or expected values (n_rows, 1)."""
        self.check_width(X, estimator_name)
        return apply_link(self.link, self.raw_scores(X), n_threads=n_threads)

    def to_state(self) -> State:
        """Refuse: foreign members have no safe form in a file."""
        kind = type(self.members[0]).__name__ if self.members else "member"
        raise CannotSave(
            f"The members are {kind} objects, which have no safe form in a file. Use Spinney's own "
            "trees as members to save the model, or keep this one with pickle or joblib."
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        outputs = None if self.member_output is None else np.array(self.member_output)
        return _restored, (self.members, np.array(self.weights), outputs, *self._frame())


def table_shape(X: TableLike) -> tuple[int, ...]:
    """Give rows and columns of a table that is passed on as it is."""
    shape: tuple[int, ...] = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return shape


def _restored(*parts: Any) -> MemberSum:
    members, weights, outputs, form, link, baseline, schema, target = parts
    return MemberSum(
        members,
        weights,
        form=form,
        link=link,
        baseline=baseline,
        schema=schema,
        target=target,
        member_output=outputs,
    )
