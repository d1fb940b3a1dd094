"""Labels that several voters give, as numbers of classes."""

from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import AnyArray, IntArray


def label_codes(**arrays: Any) -> tuple[AnyArray, list[IntArray]]:
    """Give the classes that occur, in order, and each array as their numbers.

    Parameters
    ----------
    arrays : labels of any shape, by the names they have in messages

    Returns
    -------
    classes : labels in order
    codes : one array of whole numbers for each array

    Examples
    --------
    >>> classes, (votes, y) = label_codes(votes=[["b", "a"], ["b", "b"]], y=["a", "b"])
    >>> classes.tolist(), votes.tolist(), y.tolist()
    (['a', 'b'], [[1, 0], [1, 1]], [0, 1])
    """
    read = {name: _labels(name, values) for name, values in arrays.items()}
    as_text = {name: labels.dtype.kind in "US" for name, labels in read.items()}
    if len(set(as_text.values())) > 1:
        texts = ", ".join(name for name, text in as_text.items() if text)
        rest = ", ".join(name for name, text in as_text.items() if not text)
        raise InvalidInputType(
            f"{texts} holds text and {rest} numbers, so that no label of one is a label of the "
            "other. Give both as the model was trained on."
        )
    flat = np.concatenate([labels.ravel() for labels in read.values()])
    classes, codes = np.unique(flat, return_inverse=True)
    ends = np.cumsum([labels.size for labels in read.values()])[:-1]
    parts = np.split(codes.reshape(-1).astype(np.int64), ends)
    shaped = [part.reshape(labels.shape) for part, labels in zip(parts, read.values(), strict=True)]
    return classes, shaped


def read_votes(votes: Any, y: Any, *, least: int = 1) -> tuple[AnyArray, IntArray, IntArray]:
    """Read the votes of members, (n_members, n_rows), and the right labels, (n_rows,)."""
    shape = np.shape(votes)
    check_members("votes", shape, least=least)
    if np.shape(y) != shape[1:]:
        raise InvalidInput(
            f"y has the shape {np.shape(y)} and votes {shape}: expected one label in y for each of "
            f"the {shape[1]} columns of votes."
        )
    classes, (said, right) = label_codes(votes=votes, y=y)
    return classes, said, right


def check_members(name: str, shape: tuple[int, ...], *, least: int = 1) -> None:
    """Refuse tables that are not (n_members, n_rows)."""
    if len(shape) != 2 or 0 in shape:
        raise InvalidInput(
            f"{name} has the shape {shape}: expected (n_members, n_rows), none of them 0. Stack "
            "what the members say: np.stack([member.predict(X) for member in members])."
        )
    if shape[0] < least:
        raise InvalidInput(
            f"{name} has {shape[0]} member: expected {least} or more, as one member cannot differ "
            "from itself."
        )


def _labels(name: str, values: Any) -> AnyArray:
    """Read labels: text, numbers or booleans, none of them missing."""
    labels = np.asarray(values)
    if labels.dtype.kind == "O":
        labels = _plain(name, labels)
    if labels.dtype.kind not in "biufUS":
        raise InvalidInputType(
            f"{name} holds {labels.dtype}: expected labels, which are text, numbers or booleans."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        place = tuple(int(axis[0]) for axis in np.nonzero(np.isnan(labels)))
        raise InvalidInput(
            f"{name}[{', '.join(map(str, place))}] is nan: expected a label. Drop the row, or let "
            "the member answer."
        )
    return labels


def _plain(name: str, labels: AnyArray) -> AnyArray:
    """Make an array of objects one of text or of numbers."""
    values = labels.ravel().tolist()
    missing = [place for place, value in enumerate(values) if value is None or value != value]  # noqa: PLR0124 - NaN
    if missing:
        place = ", ".join(str(int(at)) for at in np.unravel_index(missing[0], labels.shape))
        raise InvalidInput(f"{name}[{place}] is {values[missing[0]]}: expected a label.")
    as_text = {isinstance(value, str) for value in values}
    if len(as_text) > 1:
        raise InvalidInputType(f"{name} holds both text and other labels: expected one of them.")
    return np.array(values).reshape(labels.shape)
