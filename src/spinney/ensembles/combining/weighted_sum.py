"""What weighted votes share: members fitted before or now, weights given or learnt."""

import abc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.combining.combination import MEMBERS_RULE, Combination, Given
from spinney.ensembles.combining.jobs import as_asked, run_jobs
from spinney.ensembles.combining.members import is_fitted, present
from spinney.ensembles.combining.out_of_fold import ask_out_of_fold
from spinney.ensembles.combining.prefit import known_classes
from spinney.ensembles.combining.state import expect_facts, numbers_from_state
from spinney.ensembles.parameters import VERBOSE, Checked, Choice, Jobs, Rule
from spinney.errors import InvalidModel, InvalidParameter
from spinney.model.answers import check_rows, check_width, member_answers
from spinney.model.model import State
from spinney.typing import AnyArray, FloatArray, TableLike

VOTE_RULES: Mapping[str, Rule] = {
    "estimators": MEMBERS_RULE,
    "weights": Checked("None, a number per member, or a word for how they are learnt"),
    "cv": Checked("a number of folds, a splitter, pairs of row numbers, or None"),
    "repeated": Choice(("error", "average")),
    "n_jobs": Jobs(),
    "verbose": VERBOSE,
}


@dataclass(frozen=True, slots=True, eq=False)
class VoteForm:
    """How a member's answer becomes columns."""

    classes: AnyArray
    form: str
    """Of ``spinney.model.answers``."""

    def columns(self, member: Any, method: str, X: Any) -> FloatArray:  # noqa: ARG002 - as Answers
        """Ask a fitted member; (n_rows, n_columns)."""
        said = member_answers(member, as_asked(member, X), self.classes, self.form)
        check_rows(member, said, X)
        return said


class WeightedVote(Combination):
    """Base of the weighted votes."""

    weights: Any
    cv: Any
    repeated: Any
    n_jobs: Any
    weights_: FloatArray
    _words: ClassVar[tuple[str, ...]]
    """What ``weights`` may say."""

    @abc.abstractmethod
    def _form(self, members: list[tuple[str, Any]]) -> VoteForm:
        """Say how answers become columns."""

    @abc.abstractmethod
    def _learnt(self, answers: FloatArray, y: AnyArray, rows: FloatArray | None) -> FloatArray:
        """Learn weights from answers, (n_members, n_rows, n_columns)."""

    def _fit_vote(self, given: Given, members: list[tuple[str, Any]]) -> None:
        """Fit those who are not fitted yet, and learn the weights if they are to be learnt."""
        chosen = present(members)
        fitted = [is_fitted(member) for _, member in chosen]
        new = [pair for pair, known in zip(chosen, fitted, strict=True) if not known]
        form = self._form(members)
        weights, rows, said = self._fixed_weights(len(chosen)), None, None
        if weights is None and new:
            said = ask_out_of_fold(self, given, new, form, ["predict"] * len(new))
            rows = said.rows
        made = iter(run_jobs(self._full_jobs(given, new), self.n_jobs) if new else [])
        voters = [
            member if known else next(made)
            for (_, member), known in zip(chosen, fitted, strict=True)
        ]
        self._keep_members(members, voters)
        if weights is None:
            columns = iter(said.columns if said is not None else [])
            answers = np.array(
                [
                    form.columns(member, "predict", given.rows.X) if known else next(columns)
                    for member, known in zip(voters, fitted, strict=True)
                ]
            )
            weights = self._weights_of(answers, given, rows)
        self.weights_ = weights

    def _weights_of(self, answers: FloatArray, given: Given, rows: AnyArray | None) -> FloatArray:
        """Learn from the rows that all members were asked about."""
        some = np.arange(given.rows.n_rows) if rows is None else rows
        weights = given.rows.weights
        own = None if weights is None else weights[some]
        return self._learnt(answers[:, some], given.rows.y[some], own)

    def _fixed_weights(self, n_members: int) -> FloatArray | None:
        """Give the weights that were given; None: they are to be learnt."""
        if self.weights is None:
            return self._equal(n_members)
        if isinstance(self.weights, str):
            if self.weights not in self._words:
                raise InvalidParameter(
                    f"weights={self.weights!r} of {type(self).__name__}: expected None, a number "
                    f"per member, or one of {', '.join(self._words)}."
                )
            return None
        weights = np.asarray(self.weights, np.float64)
        if weights.shape != (n_members,):
            raise InvalidParameter(
                f"weights of {type(self).__name__} has the shape {weights.shape}: expected "
                f"{n_members} finite numbers, one per member that is not dropped."
            )
        odd = np.flatnonzero(~np.isfinite(weights))
        if len(odd):
            raise InvalidParameter(
                f"weights of {type(self).__name__} has {weights[odd[0]]} for member {odd[0]}: "
                "expected finite numbers. Set the member to 'drop' to leave it out, or give it 0."
            )
        return weights

    def _facts(self) -> tuple[list[Any], State]:
        return [], ({}, {"weights": self.weights_})

    def _adopt_facts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        expect_facts(meta, arrays, set(), {"weights"})
        self.weights_ = numbers_from_state(arrays, "weights", (len(self.estimators_),))
        if parts:
            raise InvalidModel(f"a {type(self).__name__} has members and nobody else")
        if self._task == "classification":
            known_classes(list(self.named_estimators_.items()), np.asarray(self.classes_))
            self._form(list(self.named_estimators_.items()))

    @abc.abstractmethod
    def _equal(self, n_members: int) -> FloatArray:
        """Give the weights of members that count alike."""

    def _followed(self) -> tuple[str, ...]:
        return ("vote",)

    def _panel(self) -> tuple[list[Any], FloatArray]:
        """Give members and weights; a vote of fitted members by given weights needs no ``fit``."""
        if hasattr(self, "estimators_"):
            return self.estimators_, self.weights_
        members = present(self._members_or_default())
        if not all(is_fitted(member) for _, member in members):
            check_is_fitted(self)
        weights = self._fixed_weights(len(members))
        if weights is None:
            check_is_fitted(self)
        return [member for _, member in members], np.asarray(weights)

    def _staged_sums(self, X: TableLike) -> Iterator[FloatArray]:
        """Add the members one by one; (n_rows, n_columns) each."""
        members, weights = self._panel()
        form = self._form(present(self._members_or_default()))
        n_features = getattr(members[0], "n_features_in_", None)
        if n_features is not None and hasattr(X, "shape"):
            check_width(X, n_features, type(self).__name__)
        total: Any = 0.0
        for member, weight in zip(members, weights, strict=True):
            total = total + weight * form.columns(member, "predict", X)
            yield total

    def _sums(self, X: TableLike) -> FloatArray:
        *_, last = self._staged_sums(X)
        return last
