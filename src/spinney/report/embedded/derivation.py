"""How the features of a reader become those that trees split on, as JSON for the page.

``assets/derivation.js`` is the other half; ``spinney.data.derivation`` is what both do.
"""

from typing import Any

from spinney.data.derivation import Derivation, Rule, part_of
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.report.embedded.model import category_bins, packed


def trees_of_page(model: TreeForest | DerivedForest) -> TreeForest:
    """Give the trees that the page walks down."""
    return model.forest if isinstance(model, DerivedForest) else model


def embed_derivation(model: TreeForest | DerivedForest) -> list[dict[str, Any]]:
    """Describe each feature of the trees: of what, and how it is made.

    ``copy`` of a category has its bins. A ``table`` has a number for each level, or pair of levels,
    then one for unknown ones and one for missing ones; ``keys`` are the known pairs, and
    ``levels`` is how many the second feature has. Everything else is a part of a date or a text,
    ``elapsed`` between two dates, or the count of a ``word``.
    """
    if isinstance(model, TreeForest):
        places = range(model.schema.n_features)
        return [_copied(model, place, place) for place in places]
    derivation, trees = model.derivation, model.forest
    return [
        _copied(trees, number, feature.places[0])
        if feature.rule == Rule.COPY
        else _made(derivation, number)
        for number, feature in enumerate(derivation.features)
    ]


def derivation_bytes(model: TreeForest | DerivedForest) -> int:
    """Estimate what tables of levels take on the page."""
    if isinstance(model, TreeForest):
        return 0
    features = model.derivation.features
    n_numbers = sum(len(feature.table) for feature in features if feature.table is not None)
    n_keys = sum(len(model.derivation.keys.get(feature.places, ())) for feature in features)
    return (n_numbers * 8 + n_keys * 4) * 4 // 3


def _copied(trees: TreeForest, number: int, place: int) -> dict[str, Any]:
    bins = category_bins(trees, number)
    made: dict[str, Any] = {"of": [place], "how": "copy"}
    return made if bins is None else made | {"bins": bins}


def _made(derivation: Derivation, number: int) -> dict[str, Any]:
    feature = derivation.features[number]
    made: dict[str, Any] = {"of": list(feature.places)}
    part = part_of(feature.rule)
    if part is not None:
        return made | {"how": part.name.lower()}
    if feature.rule == Rule.ELAPSED:
        return made | {"how": "elapsed"}
    if feature.table is None:
        return made | {"how": "word", "word": feature.word}
    made |= {"how": "table", "table": packed(feature.table)}
    if len(feature.places) == 1:
        return made
    keys, n_levels = derivation.keys[feature.places], derivation.n_levels(feature.places[1])
    return made | {"keys": packed(keys), "levels": n_levels}
