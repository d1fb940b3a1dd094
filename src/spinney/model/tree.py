"""One tree: read-only arrays, one entry per node."""

from dataclasses import dataclass

import numpy as np

from spinney.markup import card
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A binary tree, nodes in preorder: the left child of node ``i`` is ``i + 1``.

    A row goes left at a node when ``x <= threshold`` (numeric), when the bin of its category is
    in the node's set (categorical), or when x is missing and ``missing_left`` is 1.
    """

    feature: AnyArray
    """int32; -1 marks a leaf."""
    threshold: AnyArray
    """float32 or float64; +inf: everything that is not missing goes left; 0 where unused."""
    right: AnyArray
    """int32; number of the right child, -1 for a leaf."""
    missing_left: AnyArray
    """uint8; 1 when missing values go left."""
    category_set: AnyArray
    """int32; row of ``category_sets``, -1 unless the split is categorical."""
    category_sets: AnyArray
    """(n_sets, 32) uint8; bit ``b % 8`` of byte ``b // 8``: bin b goes left."""
    values: FloatArray
    """(n_nodes, width) float64; inner nodes have values too."""
    count: AnyArray
    """int64; training rows that reached the node."""
    weight: FloatArray
    """float64; their weight."""
    gain: FloatArray
    """float64; how much weighted loss the split removed, 0 for leaves."""

    def __post_init__(self) -> None:
        # A forest freezes what it joins; here a view that refuses to be written to is enough, and
        # a tree of a boosted sum costs no copies.
        for name in self.__slots__:
            array = getattr(self, name)
            if array.flags.writeable:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.right < 0))

    @property
    def depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        level = np.zeros(len(self), np.int64)
        for node, right in enumerate(self.right):
            if right >= 0:
                level[node + 1] = level[right] = level[node] + 1
        return int(level.max())

    def __repr__(self) -> str:
        return f"Tree({len(self)} nodes, {self.n_leaves} leaves, depth {self.depth})"

    def _repr_html_(self) -> str:
        """Show it in notebooks: questions that fold."""
        from spinney.model.tree_html import TreeNumbers, tree_html  # noqa: PLC0415 - it knows trees

        return card(repr(self), tree_html(TreeNumbers(self)))


def freeze(array: AnyArray) -> AnyArray:
    """Give an array that nobody can make writable again: a view of immutable bytes.

    Native code checks a forest once and trusts it afterwards, so its arrays must not change. An
    array that already is such a view (a slice of a frozen one, one from a file, or one that native
    code gave for reading only) is not copied.
    """
    owner = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    view = owner.obj if isinstance(owner, memoryview) else owner
    if array.flags.c_contiguous and (isinstance(view, bytes) or _is_given_frozen(array, owner)):
        return array
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def _is_given_frozen(array: AnyArray, owner: object) -> bool:
    """Whether memory is native, and native code gave it for reading only."""
    if array.flags.writeable or not (isinstance(owner, memoryview) and owner.readonly):
        return False
    return type(owner.obj).__module__ == "nanobind"
