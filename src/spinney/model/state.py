"""From the plain text and arrays of a file back to a model; everything is checked on the way.

What comes in here may have been written by an attacker who knows how to make checksums: nothing is
used before its type and range are known, and every refusal is an ``InvalidModel``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.stored_derivation import read_derivation
from spinney.data.table import Kind
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model import sections
from spinney.model.committee import MAX_MEMBERS, MAX_NESTING, Committee
from spinney.model.componentwise import COMPONENTWISE_ARRAYS, ComponentwiseSum
from spinney.model.derived import DerivedForest
from spinney.model.forest import NODE_ARRAYS, OTHER_ARRAYS, Output, TreeForest
from spinney.model.isolation import IsolationPlanes, IsolationTrees
from spinney.model.leaf_rows import LEAF_ROW_ARRAYS, LeafRowForest
from spinney.model.links import classes_of_labels, n_predicted
from spinney.model.median import MedianForest
from spinney.model.model import Model, Policy
from spinney.model.packed import FULL, PackedArrays, is_packed
from spinney.model.program import BranchingProgram
from spinney.model.projection import PLANE_ARRAYS, TABLES, PlaneForest
from spinney.model.spline_sum import SPLINE_ARRAYS, SplineSum
from spinney.model.versions import LEVELS_ON_PLANES, has_levels_on_planes
from spinney.typing import AnyArray, FloatArray

Arrays = Mapping[str, AnyArray]


def model_from_bytes(data: bytes) -> Model:
    """Inverse of ``Model.to_bytes``."""
    contents = sections.unpack(data)
    if not has_levels_on_planes(contents.arrays):
        refuse_packed(contents)
    refuse_levels_on_planes(contents)
    return model_from_state(contents.meta, contents.arrays)


def refuse_levels_on_planes(contents: sections.Contents) -> None:
    """Refuse planes that cut categories where none may be, and a version for nothing else."""
    is_new = contents.format_version == LEVELS_ON_PLANES
    if is_new != has_levels_on_planes(contents.arrays):
        raise InvalidModel(
            f"the format version is {contents.format_version}, but planes that cut categories are "
            f"those of version {LEVELS_ON_PLANES}"
        )


def refuse_packed(contents: sections.Contents) -> None:
    """Refuse packed nodes where none may be: the first format does not know them."""
    if contents.format_version != 1 or any(is_packed(name) for name in contents.arrays):
        raise InvalidModel("nodes are packed in a format that has no packed nodes")


def model_from_state(meta: Mapping[str, Any], arrays: Arrays, *, nesting: int = 0) -> Model:
    """Inverse of ``Model.to_state``."""
    kind = meta.get("kind")
    if kind == TreeForest.kind:
        return _forest(meta, arrays)
    if kind == Committee.kind:
        return _committee(meta, arrays, nesting)
    if kind == MedianForest.kind:
        _expect_keys(meta, {"kind", "trees"})
        trees = model_from_state(_part(meta, "trees"), arrays, nesting=MAX_NESTING)
        if not isinstance(trees, TreeForest):
            raise InvalidModel("a median needs trees")
        return MedianForest(trees)
    readers = {
        ComponentwiseSum.kind: _componentwise,
        SplineSum.kind: _splines,
        BranchingProgram.kind: _program,
        IsolationTrees.kind: _isolation_trees,
        IsolationPlanes.kind: _isolation_planes,
        LeafRowForest.kind: _leaf_rows,
        PlaneForest.kind: _plane_forest,
        DerivedForest.kind: _derived_forest,
    }
    if isinstance(kind, str) and kind in readers:
        return readers[kind](meta, arrays)
    raise InvalidModel(f"unknown kind of model: {kind!r}")


def _forest(meta: Mapping[str, Any], arrays: Arrays) -> TreeForest:
    _expect_keys(meta, {"kind", "schema", "target", "output", "policy"})
    _expect_prefixes(arrays, {"schema/", "target/", "forest/", "nodes/"})
    schema = FeatureSchema.from_state(_part(meta, "schema"), below(arrays, "schema/"))
    return _trees(meta, arrays, schema)


def _derived_forest(meta: Mapping[str, Any], arrays: Arrays) -> DerivedForest:
    _expect_keys(meta, {"kind", "schema", "target", "output", "policy"})
    _expect_prefixes(arrays, {"schema/", "derivation/", "target/", "forest/", "nodes/"})
    parts = _part(meta, "schema"), below(arrays, "schema/")
    schema = FeatureSchema.from_state(*parts, may_have_texts=True)
    derivation = read_derivation(schema, below(arrays, "derivation/"))
    return DerivedForest(derivation, _trees(meta, arrays, derivation.schema))


def _trees(meta: Mapping[str, Any], arrays: Arrays, schema: FeatureSchema) -> TreeForest:
    """Read the trees of a forest that split on the features of a schema."""
    target = Target.from_state(_part(meta, "target"), below(arrays, "target/"))
    found = below(arrays, "forest/")
    packed = below(arrays, "nodes/")
    expected = _expected_arrays(found, is_packed=bool(packed))
    _expect_keys(found, set(expected))
    for name, kind in expected.items():
        shape = {"values": 2, "category_sets": 2}.get(name, 1)
        if found[name].dtype != kind or found[name].ndim != shape:
            raise InvalidModel(f"the array {name!r} of the forest has another type than {kind}")
    if found["category_sets"].shape[1] != 32:
        raise InvalidModel("category sets must have 32 bytes each")
    forest = TreeForest(
        schema,
        target,
        PackedArrays(found, packed) if packed else found,
        output=Output(**_texts(meta, "output", {"link", "aggregate"})),
        policy=_policy(meta),
    )
    _check_agreement(forest)
    return forest


def _expected_arrays(found: Arrays, *, is_packed: bool) -> dict[str, str]:
    """Name the arrays a forest must have, and their types; packed nodes may have some in full."""
    if is_packed:
        return {name: NODE_ARRAYS[name] for name in FULL if name in found} | dict(OTHER_ARRAYS)
    narrow = found.get("threshold", np.empty(0)).dtype == "<f4"
    return {**NODE_ARRAYS, **OTHER_ARRAYS, "threshold": "<f4" if narrow else "<f8"}


def _check_agreement(forest: TreeForest) -> None:
    """Refuse a forest whose schema, target and arrays tell different stories."""
    is_category = [kind is Kind.CATEGORICAL for kind in forest.schema.kinds]
    n_levels = [0 if levels is None else len(levels) for levels in forest.schema.levels]
    if not np.array_equal(forest.arrays["categorical"], is_category) or not np.array_equal(
        np.diff(forest.arrays["category_start"]), n_levels
    ):
        raise InvalidModel("the categories of the schema are not those of the forest")
    link, several = forest.output.link, forest.target.label_classes
    if n_predicted(link, len(forest.arrays["baseline"])) != forest.target.n_outputs:
        raise InvalidModel("the forest has another number of outputs than its target")
    labels = classes_of_labels(link)
    if labels is not None and (several is None or labels != tuple(map(len, several))):
        raise InvalidModel("the link of the forest is for other labels than its target has")
    total = forest.arrays["tree_weight"].sum()
    if forest.output.aggregate == "mean" and len(forest) and not total > 0:
        raise InvalidModel("a mean needs trees of positive weight")


def _committee(meta: Mapping[str, Any], arrays: Arrays, nesting: int) -> Committee:
    _expect_keys(meta, {"kind", "members", "combine", "policy"})
    members = meta["members"]
    if nesting >= MAX_NESTING or not isinstance(members, list) or len(members) > MAX_MEMBERS:
        raise InvalidModel(f"a committee has at most {MAX_MEMBERS} members, {MAX_NESTING} deep")
    _expect_prefixes(arrays, {f"member/{i}/" for i in range(len(members))} | {"committee/"})
    weights: FloatArray = below(arrays, "committee/").get("weights", np.empty(0))
    if weights.dtype != "<f8" or weights.ndim != 1:
        raise InvalidModel("the weights of the committee have the wrong type")
    return Committee(
        [
            model_from_state(
                member if isinstance(member, dict) else {},
                below(arrays, f"member/{i}/"),
                nesting=nesting + 1,
            )
            for i, member in enumerate(members)
        ],
        weights,
        combine=str(meta["combine"]),
        policy=_policy(meta),
    )


def _componentwise(meta: Mapping[str, Any], arrays: Arrays) -> ComponentwiseSum:
    _expect_prefixes(arrays, {"schema/", "target/", "linear/"})
    found = below(arrays, "linear/")
    _expect_arrays(found, COMPONENTWISE_ARRAYS, frozenset())
    schema, target = _schema_and_target(meta, arrays)
    return ComponentwiseSum(schema, target, found, policy=_policy(meta))


def _splines(meta: Mapping[str, Any], arrays: Arrays) -> SplineSum:
    _expect_prefixes(arrays, {"schema/", "target/", "splines/"})
    found = below(arrays, "splines/")
    _expect_arrays(found, SPLINE_ARRAYS, frozenset())
    schema, target = _schema_and_target(meta, arrays)
    return SplineSum(schema, target, found, policy=_policy(meta))


def _schema_and_target(meta: Mapping[str, Any], arrays: Arrays) -> tuple[FeatureSchema, Target]:
    """Read what a model has that consists of nothing else but arrays."""
    _expect_keys(meta, {"kind", "schema", "target", "policy"})
    schema = FeatureSchema.from_state(_part(meta, "schema"), below(arrays, "schema/"))
    return schema, Target.from_state(_part(meta, "target"), below(arrays, "target/"))


_NODE_FACTS = {"answers": "|i1", "edges": "<f8", "shares": "<f8"}
"""Arrays of a program with a number for each node."""


def _program(meta: Mapping[str, Any], arrays: Arrays) -> BranchingProgram:
    _expect_keys(meta, {"kind", "members"})
    _expect_prefixes(arrays, {"members/", "program/"})
    facts = below(arrays, "program/")
    _expect_keys(facts, set(_NODE_FACTS))
    if any(
        facts[name].dtype != kind or facts[name].ndim != 1 for name, kind in _NODE_FACTS.items()
    ):
        raise InvalidModel("an array of the program has the wrong type")
    members = _part(meta, "members")
    if members.get("kind") != TreeForest.kind:
        raise InvalidModel("the members of a program must be a forest")
    forest = _forest(members, below(arrays, "members/"))
    output = forest.output
    if (output.link, output.aggregate) != ("double_logistic", "sum"):
        raise InvalidModel("the trees of a program have another output than a vote")
    return BranchingProgram(forest, facts["answers"], edges=facts["edges"], shares=facts["shares"])


def _isolation_trees(meta: Mapping[str, Any], arrays: Arrays) -> IsolationTrees:
    _expect_keys(meta, {"kind", "trees", "sample_size"})
    return IsolationTrees(_forest(_forest_part(meta), arrays), meta["sample_size"])


def _isolation_planes(meta: Mapping[str, Any], arrays: Arrays) -> IsolationPlanes:
    _expect_keys(meta, {"kind", "schema", "policy", "sample_size"})
    _expect_prefixes(arrays, {"schema/", "planes/"})
    schema, found = _planes(meta, arrays)
    return IsolationPlanes(schema, found, meta["sample_size"], policy=_policy(meta))


def _plane_forest(meta: Mapping[str, Any], arrays: Arrays) -> PlaneForest:
    _expect_keys(meta, {"kind", "schema", "policy", "target"})
    _expect_prefixes(arrays, {"schema/", "planes/", "target/"})
    target = Target.from_state(_part(meta, "target"), below(arrays, "target/"))
    schema, found = _planes(meta, arrays)
    return PlaneForest(schema, target, found, policy=_policy(meta))


def _planes(meta: Mapping[str, Any], arrays: Arrays) -> tuple[FeatureSchema, Arrays]:
    found = below(arrays, "planes/")
    _expect_arrays(found, PLANE_ARRAYS, TABLES)
    return FeatureSchema.from_state(_part(meta, "schema"), below(arrays, "schema/")), found


def _leaf_rows(meta: Mapping[str, Any], arrays: Arrays) -> LeafRowForest:
    _expect_keys(meta, {"kind", "trees"})
    _expect_prefixes(arrays, {"trees/", "rows/"})
    found = below(arrays, "rows/")
    _expect_arrays(found, LEAF_ROW_ARRAYS, frozenset())
    return LeafRowForest(_forest(_forest_part(meta), below(arrays, "trees/")), found)


def _forest_part(meta: Mapping[str, Any]) -> dict[str, Any]:
    part = _part(meta, "trees")
    if part.get("kind") != TreeForest.kind:
        raise InvalidModel("the trees of the model must be a forest")
    return part


def _expect_arrays(found: Arrays, types: Mapping[str, str], tables: frozenset[str]) -> None:
    """Refuse arrays of another type, or with other than one dimension (tables: two)."""
    _expect_keys(found, set(types))
    for name, kind in types.items():
        if found[name].dtype != kind or found[name].ndim != (2 if name in tables else 1):
            raise InvalidModel(f"the array {name!r} of the model has another type than {kind}")


def below(arrays: Arrays, prefix: str) -> dict[str, AnyArray]:
    """Arrays whose names start with a prefix, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _policy(meta: Mapping[str, Any]) -> Policy:
    return Policy(**_texts(meta, "policy", {"unseen", "extra"}))


def _part(meta: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = meta[key]
    if not isinstance(part, dict):
        raise InvalidModel(f"the part {key!r} of the model is missing")
    return part


def _texts(meta: Mapping[str, Any], key: str, names: set[str]) -> dict[str, str]:
    part = _part(meta, key)
    _expect_keys(part, names)
    if not all(isinstance(text, str) for text in part.values()):
        raise InvalidModel(f"the part {key!r} of the model must hold texts")
    return part


def _expect_keys(found: Mapping[str, Any], expected: set[str]) -> None:
    if set(found) != expected:
        odd = sorted(set(found) ^ expected)
        raise InvalidModel(f"parts of the model are missing or unknown: {odd[:5]}")


def _expect_prefixes(arrays: Arrays, prefixes: set[str]) -> None:
    stray = [name for name in arrays if not name.startswith(tuple(prefixes))]
    if stray:
        raise InvalidModel(f"arrays that belong to no part of the model: {stray[:5]}")
