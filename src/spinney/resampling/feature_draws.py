"""Which features each member of an ensemble sees."""

from dataclasses import dataclass

import numpy as np

from spinney.randomness import RowBits, Stream, random_bits
from spinney.typing import AnyArray


@dataclass(frozen=True, slots=True)
class FeatureDraws:
    """Draws features for each member, as a function of the seed and its number alone.

    Examples
    --------
    >>> draws = FeatureDraws(n_features=6, n_drawn=3, seed=0)
    >>> draws.draw(0).tolist(), draws.draw(1).tolist()
    ([0, 1, 3], [0, 1, 2])
    """

    n_features: int
    n_drawn: int
    seed: int
    replace: bool = False
    """Whether a feature can be drawn again."""

    @property
    def takes_all(self) -> bool:
        """Whether every member sees every feature once."""
        return self.n_drawn == self.n_features and not self.replace

    def draw(self, member: int) -> AnyArray:
        """Give the features of one member, in order; as often as they were drawn."""
        n = self.n_features
        if self.takes_all:
            return np.arange(n)
        key = random_bits(self.seed, Stream.FEATURES, member)
        if self.replace:
            high = RowBits(self.n_drawn)(key, Stream.FEATURES, range(self.n_drawn)) >> np.uint64(32)
            return np.sort(((high * np.uint64(n)) >> np.uint64(32)).astype(np.int64))
        bits = RowBits(n)(key, Stream.FEATURES, range(n))
        return np.sort(np.argsort(bits, kind="stable")[: self.n_drawn])

    def allowed(self, members: range) -> AnyArray:
        """Mark the features of some members; (n_members, n_features) of 0 and 1, or none for all.

        Examples
        --------
        >>> FeatureDraws(n_features=3, n_drawn=1, seed=0).allowed(range(2)).tolist()
        [[0, 1, 0], [0, 0, 1]]
        """
        if self.takes_all:
            return np.empty((0, self.n_features), np.uint8)
        marks = np.zeros((len(members), self.n_features), np.uint8)
        for place, member in enumerate(members):
            marks[place, self.draw(member)] = 1
        return marks
