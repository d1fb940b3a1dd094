"""What both roads of bagging are told, and how a member gets its seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.row_keys import keys_wanted
from spinney.ensembles.forests.rows import check_keys, key_codes, keys_of_sampler
from spinney.errors import InvalidParameter
from spinney.randomness import Stream, random_bits
from spinney.resampling.feature_draws import FeatureDraws
from spinney.typing import AnyArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """An ensemble to be fitted."""

    name: str
    """What the user calls it."""
    task: str
    base: Any
    """The base learner; each member is a clone of it."""
    params: Mapping[str, Any]
    """Of the ensemble."""
    seed: int
    n_threads: int
    given: Mapping[str, Any]
    """What ``fit`` of members takes beside rows, targets and weights."""

    def features(self, n_features: int) -> FeatureDraws:
        """Say how members draw features."""
        wanted = self.params["max_features"]
        is_share = isinstance(wanted, float | np.floating)
        n_drawn = max(1, int(wanted * n_features)) if is_share else int(wanted)
        if n_drawn > n_features:
            raise InvalidParameter(
                f"max_features={wanted!r}: max_features must be <= n_features, and X has "
                f"{n_features}. Ask for fewer, or for a share."
            )
        replace = bool(self.params["bootstrap_features"])
        return FeatureDraws(n_features, n_drawn, self.seed, replace)

    def labels(
        self, sampler: Any, groups: Any, time: Any, classes: AnyArray | None
    ) -> "LabelReader":
        """Give a reader of strata, groups or times."""
        name = sampler if isinstance(sampler, str) else None
        of_members = set(keys_wanted(self.base)) - set(keys_of_sampler(name))
        if groups is not None and "groups" in of_members and self.params.get("oob_score"):
            raise InvalidParameter(
                f"sampler={name!r} divides groups between bags and the rows that are left out of "
                "them, so that what is told out of bag would not hold for new groups. Set "
                "sampler='group', or ask for nothing out of bag."
            )
        groups = None if "groups" in of_members else groups
        time = None if "time" in of_members else time
        check_keys(name, groups, time)
        if name == "stratified" and classes is None:
            raise InvalidParameter(
                "sampler='stratified' draws within classes, and numbers have none. Use 'group' "
                "with groups, or 'bootstrap'."
            )
        return LabelReader(groups, time, classes if name == "stratified" else None)


@dataclass(frozen=True, slots=True, eq=False)
class LabelReader:
    """Strata, groups or times of rows."""

    groups: Any
    time: Any
    classes: AnyArray | None

    def codes(self, n_given: int, kept: AnyArray | None) -> AnyArray | None:
        """Give them as codes of the rows that are kept; classes are those already."""
        if self.classes is not None:
            return self.classes.astype(np.int32)
        return key_codes((self.groups, self.time), n_given, kept)


def member_seed(seed: int, member: int) -> int:
    """Give the ``random_state`` of a member: a function of the ensemble's seed and its number."""
    return random_bits(seed, Stream.FEATURES, member) >> 33
