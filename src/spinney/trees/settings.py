"""How one tree may grow."""

from dataclasses import dataclass

from spinney._native import _ext

_MOST = 2**31 - 1
"""More leaves, levels or features than any tree has: a larger limit is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSettings:
    """Limits of one tree; the native grower trusts them.

    ``min_samples_split`` and ``min_samples_leaf`` are weights of rows, not numbers of rows: a
    weight is a repetition.
    """

    max_leaf_nodes: int | None = None
    max_depth: int | None = None
    min_samples_split: float = 2.0
    min_samples_leaf: float = 1.0
    min_gain: float = 0.0
    max_features: int | None = None
    seed: int = 0

    def to_native(self) -> _ext.TreeSettings:
        """Make the native twin, where 0 stands for no limit."""
        native = _ext.TreeSettings()
        native.max_leaf_nodes = min(self.max_leaf_nodes or 0, _MOST)
        native.max_depth = min(self.max_depth or 0, _MOST)
        native.min_samples_split = self.min_samples_split
        native.min_samples_leaf = self.min_samples_leaf
        native.min_gain = self.min_gain
        native.max_features = min(self.max_features or 0, _MOST)
        native.seed = self.seed
        return native
