"""Ensembles as sequences of their members."""

import abc
from collections.abc import Iterator
from typing import Any

from spinney.ensembles.estimator import Estimator


class MemberSequence(Estimator):
    """An ensemble that has a length, and members by number; true, also before it is fitted."""

    def __len__(self) -> int:
        return len(self.model_) if hasattr(self, "model_") else 0

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    @abc.abstractmethod
    def estimators_(self) -> Any:
        """The members."""
