"""Resamples that are not rows of all arrays together: of each by itself, weighed, simulated."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from spinney._native import _ext
from spinney.errors import InvalidInput
from spinney.randomness import Stream, random_bits, table_of_bits
from spinney.resampling.resamples import Arrays, Resamples, RowResamples, Sample, Units
from spinney.typing import AnyArray, FloatArray


class SeparateResamples(Resamples):
    """Every array is a sample of its own and drawn by itself."""

    def __init__(self, arrays: Arrays, seed: int) -> None:
        super().__init__(arrays)
        seeds = [random_bits(seed, Stream.ROWS, place) for place in range(len(arrays))]
        self._parts = [RowResamples((a,), None, s) for a, s in zip(arrays, seeds, strict=True)]

    @property
    def units(self) -> Sequence[Units]:
        """The rows of each array."""
        return [Units((place,), np.arange(len(array))) for place, array in enumerate(self.arrays)]

    def again(self, sample: Sample, seed: int) -> Resamples | None:
        """Draw from each of its arrays."""
        return SeparateResamples(sample.arrays, seed)

    def samples(self, numbers: range) -> Iterator[Sample]:
        """Give some resamples one after the other."""
        for parts in zip(*(part.samples(numbers) for part in self._parts), strict=True):
            yield Sample(tuple(part.arrays[0] for part in parts))

    def stacked(self, numbers: range) -> Sample:
        """Give some resamples along a new first axis."""
        drawn = [part.indices(numbers) for part in self._parts]
        return Sample(tuple(a[index] for a, index in zip(self.arrays, drawn, strict=True)))


class WeightResamples(Resamples):
    """The data as it is, with weights from the uniform Dirichlet distribution, n in all."""

    def __init__(self, arrays: Arrays, seed: int) -> None:
        super().__init__(arrays)
        self._seed = seed

    @property
    def whole(self) -> Sample:
        """The data, every row with the weight 1."""
        return Sample(self.arrays, np.ones(len(self.arrays[0])))

    def samples(self, numbers: range) -> Iterator[Sample]:
        """Give the arrays with one set of weights after the other."""
        for weights in self.weights(numbers):
            yield Sample(self.arrays, weights)

    def stacked(self, numbers: range) -> Sample:
        """Give the arrays as often as there are sets of weights, without copying them."""
        repeated = tuple(np.broadcast_to(a, (len(numbers), *a.shape)) for a in self.arrays)
        return Sample(repeated, self.weights(numbers))

    def weights(self, numbers: range) -> FloatArray:
        """Draw the weights; (resamples, rows)."""
        n = len(self.arrays[0])
        bits = table_of_bits(self._seed, Stream.ROWS, numbers, n) >> np.uint64(11)
        uniform = (bits.astype(np.float64) + 0.5) * 2.0**-53
        # The logarithm is our own, and sums go one after the other: the same on every machine.
        shares: FloatArray = -_ext.exact_log_of(uniform.reshape(-1)).reshape(uniform.shape)
        return shares * (n / np.cumsum(shares, axis=1)[:, -1:])


class SimulatedResamples(Resamples):
    """Samples from a model of the data."""

    def __init__(self, arrays: Arrays, sampler: Callable[..., Any], seed: int) -> None:
        super().__init__(arrays)
        self._sampler, self._seed = sampler, seed

    def samples(self, numbers: range) -> Iterator[Sample]:
        """Ask the sampler, each time with a generator of its own."""
        for number in numbers:
            generator = np.random.default_rng(random_bits(self._seed, Stream.ROWS, number))
            drawn = self._sampler(generator)
            arrays = drawn if isinstance(drawn, tuple) else (drawn,)
            yield Sample(tuple(self._checked(array) for array in arrays))

    def stacked(self, numbers: range) -> Sample | None:
        """Give some samples along a new first axis; None if they differ in length."""
        drawn = [sample.arrays for sample in self.samples(numbers)]
        if len({tuple(array.shape for array in arrays) for arrays in drawn}) > 1:
            return None
        return Sample(tuple(np.stack(arrays) for arrays in zip(*drawn, strict=True)))

    @staticmethod
    def _checked(array: Any) -> AnyArray:
        known = np.asarray(array)
        if known.ndim == 0:
            raise InvalidInput(
                f"The sampler gave {array!r}: expected an array of rows, or a tuple of arrays."
            )
        return known
