"""Stacks in files: what a stack knows beside its members."""

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.ensembles.combining.combination import Combination
from spinney.ensembles.combining.final_state import final_from_state, final_state
from spinney.ensembles.combining.members import METHODS
from spinney.ensembles.combining.prefit import known_classes
from spinney.ensembles.combining.state import (
    check_members_tell_codes,
    column_counts,
    expect_facts,
)
from spinney.errors import CannotSave, InvalidModel
from spinney.model.model import State
from spinney.typing import AnyArray


class FiledStack(Combination):
    """A committee with a final estimator, as far as files know it."""

    passthrough: Any
    final_estimator_: Any
    stack_method_: list[str]
    _many: Any
    _member_classes: AnyArray | None
    _n_feature_outs: list[int]

    @abc.abstractmethod
    def _make_final(self, n_members: int) -> Any:
        """Make the estimator that combines, not fitted yet."""

    @abc.abstractmethod
    def _is_prefit(self) -> bool:
        """Tell whether members were fitted elsewhere, on labels of the user."""

    def _n_classes(self) -> int:
        """Count the classes; 0: numbers."""
        return len(self.classes_) if self._task == "classification" else 0

    def _facts(self) -> tuple[list[Any], State]:
        counts = column_counts(self.stack_method_, self._n_classes())
        if counts != self._n_feature_outs:
            raise CannotSave(
                f"Members of this {type(self).__name__} give {self._n_feature_outs} columns, and "
                f"a file could tell of {counts} alone. Keep it with pickle or joblib."
            )
        parts, (meta, arrays) = final_state(self.final_estimator_)
        meta["methods"] = list(self.stack_method_)
        own, own_arrays = self._stack_facts()
        return parts, ({**meta, **own}, {**arrays, **own_arrays})

    def _stack_facts(self) -> State:
        """Give what one kind of stack knows beside others."""
        return {}, {}

    def _adopt_facts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        methods, form = meta.get("methods"), meta.get("final")
        self._check_methods(methods)
        self.stack_method_ = list(methods or ())
        n_classes = self._n_classes()
        self._many = None
        self._member_classes = None
        if n_classes and self._is_prefit():
            named = list(self.named_estimators_.items())
            self._member_classes = known_classes(named, np.asarray(self.classes_))
        elif n_classes:
            self._member_classes = np.arange(n_classes)
            tells = [m for m in self.estimators_ if hasattr(m, "classes_")]
            check_members_tell_codes(tells, n_classes)
        self._n_feature_outs = column_counts(self.stack_method_, n_classes)
        n_columns = sum(self._n_feature_outs)
        n_columns += self.n_features_in_ if self.passthrough else 0
        prefix = "final/"
        own = {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}
        made = self._make_final(len(self.estimators_))
        self.final_estimator_ = final_from_state(made, parts, form, own, (n_columns, n_classes))
        self._adopt_stack_facts(
            {key: value for key, value in meta.items() if key not in ("final", "methods")},
            {key: array for key, array in arrays.items() if not key.startswith(prefix)},
        )

    def _check_methods(self, methods: Any) -> None:
        if not isinstance(methods, list) or len(methods) != len(self.estimators_):
            raise InvalidModel("what members of the stack are asked is missing")
        for member, method in zip(self.estimators_, methods, strict=True):
            if method not in METHODS or not hasattr(member, method):
                raise InvalidModel(f"a {type(member).__name__} cannot be asked to {method!r}")

    def _adopt_stack_facts(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take back what ``_stack_facts`` gave."""
        expect_facts(meta, arrays, set(), set())
