"""What a question is about: features and outputs, by name or by position."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spinney.data.table import Table
from spinney.errors import InvalidParameter, nearest_names, shorten
from spinney.explain.reading import Askable, label_names, raw_output_names
from spinney.model import TreeForest
from spinney.model.links import BINARY_LINKS, apply_link, classes_of_labels
from spinney.typing import FloatArray

SCALES = ("raw", "prediction")
"""Raw scores, which trees add up to; predictions, which the link makes of them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The one number per row that is explained."""

    name: str
    position: int
    """Among the raw scores, or among the predictions."""
    scale: str
    is_sum: bool
    """Whether it is a raw score, so that trees add up to it."""

    def of_rows(self, forest: Askable, table: Table, n_threads: int) -> FloatArray:
        """Ask the model; (n_rows,). The table must conform."""
        scores = forest.raw_scores(table, n_threads=n_threads)
        if not self.is_sum:
            scores = apply_link(forest.output.link, scores, n_threads=n_threads)
        numbers_of_rows: FloatArray = scores[:, self.position]
        return numbers_of_rows


def choose_answer(forest: Askable, output: Any, scale: str = "raw", *, of: Any = None) -> Answer:
    """Find the output that is asked for; None is the only one, or the second of two classes.

    ``of`` is whose names outputs have: the estimator, where it knows more than its trees.

    Examples
    --------
    >>> from spinney import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0]], ["no", "yes"]).model_
    >>> choose_answer(model, "yes").position
    1
    """
    if not isinstance(scale, str) or scale not in SCALES:
        hint = nearest_names(scale, SCALES) if isinstance(scale, str) else ""
        raise InvalidParameter(f"scale={scale!r}: expected 'raw' or 'prediction'.{hint}")
    names, default = _outputs(forest, scale, forest if of is None else of)
    is_sum = scale == "raw" or forest.output.link == "identity"
    if output is None and default is None:
        raise InvalidParameter(
            f"output=None: the model has {len(names)} outputs, {shorten(names)}. Choose one of "
            "them by its name or its position."
        )
    place = default if output is None else find_place(output, names, "output", "raw score")
    if place is None:
        raise AssertionError("a default was checked above")
    return Answer(names[place], place, scale, is_sum)


def _outputs(forest: Askable, scale: str, of: Any) -> tuple[tuple[str, ...], int | None]:
    """Name the outputs, and give the place of the one that needs no choice."""
    classes = forest.target.classes
    if scale == "prediction" and classes_of_labels(forest.output.link) is not None:
        return label_names(forest.target), None
    if scale == "prediction" and classes is not None and forest.output.link in BINARY_LINKS:
        return tuple(map(str, classes)), len(classes) - 1
    names = raw_output_names(of)
    is_binary = classes is not None and len(classes) == 2
    return names, len(names) - 1 if len(names) == 1 or is_binary else None


def choose_feature(forest: Askable, feature: Any) -> int:
    """Find the position of a feature given by its name or its position."""
    return find_place(feature, forest.schema.names, "features")


def choose_features(forest: Askable, features: Any, most: int) -> tuple[int, ...]:
    """Find the positions of one feature or of several different ones, at most ``most``."""
    is_table = len(getattr(features, "shape", ())) > 1  # where the features belong
    alone = is_table or isinstance(features, str | numbers.Integral)
    several = [features] if alone else _listed(features, "features")
    places = tuple(choose_feature(forest, feature) for feature in several)
    if not 1 <= len(places) <= most or len(set(places)) < len(places):
        raise InvalidParameter(
            f"features={features!r}: expected "
            f"{'one feature' if most == 1 else f'1 to {most} different features'}, each by its "
            "name or its position."
        )
    return places


def used_features(forest: TreeForest) -> tuple[int, ...]:
    """Find the features that some split looks at, in the order of the schema."""
    features = forest.arrays["feature"]
    return tuple(sorted({int(f) for f in features.tolist() if f >= 0}))


def unused_name(wanted: str, taken: Sequence[str]) -> str:
    """Give a column a name that no feature has.

    Examples
    --------
    >>> unused_name("effect", ["age", "effect"])
    'effect_'
    """
    while wanted in taken:
        wanted += "_"
    return wanted


def _listed(features: Any, what: str) -> list[Any]:
    try:
        return list(features)
    except TypeError:
        raise InvalidParameter(
            f"{what}={features!r}: expected names or positions of features."
        ) from None


def find_place(wanted: Any, names: Sequence[str], where: str, what: str = "feature") -> int:
    """Find a feature, or an output, by its name or its position; ``where`` names the parameter.

    Examples
    --------
    >>> find_place("age", ("height", "age"), "features"), find_place(0, ("height", "age"), "unused")
    (1, 0)
    """
    if isinstance(wanted, str):
        if wanted in names:
            return names.index(wanted)
        hint = nearest_names(wanted, names) or f" There are {shorten(names)}."
        raise InvalidParameter(f"{where}: the model has no {what} {wanted!r}.{hint}")
    is_position = isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool)
    if is_position and 0 <= int(wanted) < len(names):
        return int(wanted)
    said = f"a {type(wanted).__name__}" if getattr(wanted, "shape", ()) else repr(wanted)
    raise InvalidParameter(
        f"{where}: {said} is neither the name nor the position of a {what}. Expected one of "
        f"{shorten(names)}, or a position from 0 to {len(names) - 1}."
    )
