"""The frozen model of dynamic selection: a pool, and what it got right where."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.ensembles.selecting.competence import METHODS, Local, shares_of_votes
from spinney.ensembles.selecting.pool import Pool
from spinney.ensembles.selecting.space import Neighbourhood, Space, blocks
from spinney.errors import CannotSave
from spinney.model.model import Model, Policy, State
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True, eq=False)
class KnownRows:
    """The rows that competence is judged on."""

    space: Space
    points: FloatArray
    """Where they are in the space."""
    codes: AnyArray
    """Their classes."""
    answers: AnyArray
    """(n_rows, n_members): what the pool says of them."""
    weights: FloatArray | None


class LocalVote(Model):
    """A vote of a pool in which members count by what they got right in the neighbourhood.

    It lives in memory and in pickles only, because a file of ours holds no foreign code.
    """

    kind: ClassVar[str] = "local_vote"
    passes_tables_on = True

    def __init__(
        self,
        pool: Pool,
        known: KnownRows,
        *,
        method: str,
        k: int,
        schema: FeatureSchema,
        target: Target,
    ) -> None:
        self.pool = pool
        self.known = known
        self.method = method
        self.k = k
        self.schema = schema
        self.target = target
        self.policy = Policy()
        self._near = Neighbourhood(known.points, known.weights, k)

    def __len__(self) -> int:
        return len(self.pool.members)

    def __getitem__(self, index: Any) -> Any:
        return self.pool.members[index]

    def __repr__(self) -> str:
        n_rows = len(self.known.points)
        return f"LocalVote({len(self)} members, method={self.method!r}, {n_rows} known rows)"

    def votes(self, X: TableLike, estimator_name: str = "this model") -> FloatArray:
        """Say how many votes each member has on each row; (n_rows, n_members)."""
        table = self._conformed(X, estimator_name)
        answers = self.pool.answers(X)
        return self._votes(self.known.space.points(table), answers)

    def predictions(
        self,
        X: TableLike,
        *,
        n_threads: int = 1,  # noqa: ARG002 - members know their own
        estimator_name: str = "this model",
    ) -> FloatArray:
        """Share of each class in the votes; (n_rows, n_classes)."""
        table = self._conformed(X, estimator_name)
        answers = self.pool.answers(X)
        n_classes = self.target.n_outputs
        shares = np.zeros((len(answers), n_classes))
        shares[np.arange(len(answers)), answers[:, 0]] = 1.0
        # Where all agree it does not matter who votes.
        split = np.flatnonzero((answers != answers[:, :1]).any(axis=1))
        if len(split):
            points = self.known.space.points(table.take(split))
            votes = self._votes(points, answers[split])
            shares[split] = shares_of_votes(votes, answers[split], n_classes)
        return shares

    def _conformed(self, X: TableLike, estimator_name: str) -> Table:
        return self.schema.conform(
            X, unseen=self.policy.unseen, extra=self.policy.extra, estimator_name=estimator_name
        )

    def _votes(self, points: FloatArray, answers: AnyArray) -> FloatArray:
        region = self._near.around(points)
        votes = np.empty((len(points), len(self)))
        for part in blocks(len(points), region.rows.shape[1] * len(self)):
            neighbours = region.rows[part]
            said = self.known.answers[neighbours]
            local = Local(
                said == self.known.codes[neighbours][:, :, np.newaxis],
                said == answers[part, np.newaxis],
                region.shares[part],
            )
            votes[part] = METHODS[self.method](local)
        return votes

    def to_state(self) -> State:
        """Refuse: a pool has no safe form in a file."""
        raise CannotSave(
            "A model of dynamic selection holds a pool of estimators, which has no safe form in a "
            "file. Keep it with pickle or joblib."
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        frame = (self.method, self.k, self.schema, self.target)
        return _restored, (self.pool, self.known, *frame)


def _restored(*parts: Any) -> LocalVote:
    pool, known, method, k, schema, target = parts
    return LocalVote(pool, known, method=method, k=k, schema=schema, target=target)
