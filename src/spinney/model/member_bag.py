"""A committee of fitted estimators that are no trees of ours, each on features of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing

from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import CannotSave, InvalidInput
from spinney.model.answers import as_members_take, check_rows, member_answers
from spinney.model.median import weighted_medians
from spinney.model.model import Model, Policy, State
from spinney.typing import AnyArray, FloatArray, TableLike

FORMS = {"soft": "shares", "hard": "one_hot"}
"""How members are asked for classes: probabilities, or labels where there are none; labels."""


class MemberBag(Model):
    """Members whose answers are averaged, or of which the median counts.

    They see tables as the user gives them. A bag of them lives in memory and in pickles only,
    because a file of ours holds no foreign code.
    """

    kind: ClassVar[str] = "member_bag"
    passes_tables_on = True

    def __init__(
        self,
        members: Sequence[Any],
        features: Sequence[AnyArray | None],
        *,
        aggregation: str,
        schema: FeatureSchema,
        target: Target,
    ) -> None:
        self.members = tuple(members)
        self.features = tuple(features)
        """By member: the columns it sees; None: all."""
        self.aggregation = aggregation
        self.schema, self.target, self.policy = schema, target, Policy()

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _restored(self.members[index], self.features[index], *self._frame())
        return self.members[index]

    def __repr__(self) -> str:
        return f"MemberBag({len(self)} members, aggregation={self.aggregation!r})"

    def _frame(self) -> tuple[Any, ...]:
        return self.aggregation, self.schema, self.target

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Shares of classes (n_rows, n_classes), or numbers (n_rows, n_outputs)."""
        del n_threads, estimator_name  # members have their own
        asked = zip(self.members, self.features, strict=True)
        answers = [ask_member(one, X, own, self.question()) for one, own in asked]
        return combined(answers, self.aggregation)

    def question(self, given: Mapping[str, Any] | None = None) -> "Question":
        """Say what members are asked; ``given`` goes to the method that is asked."""
        return Question(self.target, self.aggregation, given or {})

    def to_state(self) -> State:
        """Refuse: foreign members have no safe form in a file."""
        raise CannotSave(
            f"The members are {type(self.members[0]).__name__} objects fitted one by one, which "
            "have no safe form in a file. Spinney's own trees have one if they grow as a forest: "
            "without class_weight, which RandomForestClassifier takes, and with limits that are "
            "numbers of rows, not shares, where bags differ in size. Or keep this model with "
            "pickle or joblib."
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.members, self.features, *self._frame())


def _restored(*parts: Any) -> MemberBag:
    members, features, aggregation, schema, target = parts
    return MemberBag(members, features, aggregation=aggregation, schema=schema, target=target)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What members are asked about rows."""

    target: Target
    aggregation: str
    given: Mapping[str, Any] = field(default_factory=dict)
    """What the method that is asked takes beside the rows."""


def ask_member(
    member: Any, X: TableLike, features: AnyArray | None, question: Question
) -> FloatArray:
    """Ask one member about rows; (n_rows, n_outputs)."""
    own, target = columns_of(as_members_take(X), features), question.target
    if target.classes is not None:
        form = FORMS[question.aggregation]
        said = member_answers(member, own, target.classes, form, question.given)
        check_rows(member, said, own)
        return said
    numbers = np.atleast_1d(np.asarray(member.predict(own, **question.given), np.float64))
    check_rows(member, numbers, own)
    numbers = numbers.reshape(len(numbers), -1)
    if numbers.shape[1] != target.n_outputs or not np.isfinite(numbers).all():
        raise InvalidInput(
            f"{type(member).__name__}.predict gave an array of shape {numbers.shape} with "
            f"{np.count_nonzero(~np.isfinite(numbers))} numbers that are not finite; expected "
            f"{target.n_outputs} finite number(s) per row."
        )
    return numbers


def columns_of(X: TableLike, features: AnyArray | None) -> TableLike:
    """Give some columns of a table; None: all."""
    return X if features is None else _safe_indexing(X, features, axis=1)


def combined(answers: Sequence[FloatArray], aggregation: str) -> FloatArray:
    """Average what members say, one after the other, or take the lower median.

    Examples
    --------
    >>> combined([np.array([[1.0]]), np.array([[2.0]]), np.array([[9.0]])], "mean")
    array([[4.]])
    >>> combined([np.array([[1.0]]), np.array([[2.0]]), np.array([[9.0]])], "median")
    array([[2.]])
    """
    if aggregation == "median":
        return weighted_medians(np.hstack(answers), np.ones(len(answers)))[:, np.newaxis]
    total = np.zeros_like(answers[0])
    for one in answers:
        total += one
    return total / len(answers)
