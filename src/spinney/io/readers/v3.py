"""Format 3: a committee, whose members are parts of the file, each with a model or parts again."""

from collections.abc import Mapping
from typing import Any

from spinney.errors import InvalidFile, InvalidInput, InvalidParameter
from spinney.io.readers.v1 import adopt_model, expect_parts, make_estimator
from spinney.model.sections import Contents
from spinney.model.state import below
from spinney.typing import AnyArray

MAX_PARTS = 10_000


def read_v3(contents: Contents) -> Any:
    """Rebuild the fitted committee; a single model would be format 1 or 2."""
    meta = dict(contents.meta)
    if not isinstance(meta.pop("library", None), str) or "parts" not in meta:
        raise InvalidFile("The file is not a saved committee: parts of its header are missing.")
    return _read_part(meta, contents.arrays, str(contents.meta["library"]))


def _read_part(meta: Any, arrays: Mapping[str, AnyArray], library: str) -> Any:
    is_committee = isinstance(meta, dict) and "parts" in meta
    own = "parts" if is_committee else "model"
    expect_parts(meta, {"estimator": str, "parameters": dict, own: list if is_committee else dict})
    estimator = make_estimator(meta["estimator"], meta["parameters"], library)
    if not is_committee:
        adopt_model(estimator, meta, arrays)
        return estimator
    if not hasattr(estimator, "_adopt_parts") or len(meta["parts"]) > MAX_PARTS:
        raise InvalidFile(f"The file holds a {meta['estimator']!r} with parts, which has none.")
    prefixes = tuple(f"parts/{place}/" for place in range(len(meta["parts"])))
    stray = [name for name in arrays if not name.startswith((*prefixes, "attributes/"))]
    if stray:
        raise InvalidFile(f"The file has sections that belong to nothing: {stray[:5]}")
    parts = [
        _read_part(part, below(arrays, prefix), library)
        for part, prefix in zip(meta["parts"], prefixes, strict=True)
    ]
    try:
        estimator._adopt_parts(  # noqa: SLF001 - the one door back into a committee
            parts, meta.get("attributes", {}), below(arrays, "attributes/")
        )
    except (InvalidParameter, InvalidInput) as error:
        raise InvalidFile(f"The committee in the file contradicts itself: {error}") from error
    return estimator
