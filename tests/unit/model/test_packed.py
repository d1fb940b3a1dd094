"""Packed nodes come back bit for bit, and no bytes can make them anything but a forest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney
from spinney.data.binning import Binner
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import InvalidFile, InvalidModel
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import Policy, TreeForest, packing, sections
from spinney.model.forest import Output, TreeSum
from spinney.model.packed import FULL, PackedArrays, of_roots
from spinney.model.packing import pack_forests, pack_nodes
from spinney.resampling.bags import Bags, Bootstrap
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings

N_ROWS = 600


@pytest.fixture(autouse=True)
def every_forest_is_large(monkeypatch):
    monkeypatch.setattr(packing, "LEAST_NODES", 1)


def table(seed=0, dtype=np.float32, categories=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_ROWS, 5)).astype(dtype)
    X[rng.random(X.shape) < 0.05] = np.nan
    if categories:
        X[:, 3] = rng.integers(0, 7, N_ROWS)
    return read_table(X), [3] if categories else None


def grown(target, *, bags=None, search="exact", leaf=0, **how):
    """Grow three trees to the end."""
    read, categorical = table(**how)
    schema, read = FeatureSchema.learn(read, categorical or "from_dtype")
    ranked = RankedTable(read, Binner.of_categories(read, None))
    limits = TreeSettings(min_samples_split=0, min_samples_leaf=leaf, max_features=2, seed=1)
    settings_ = ForestSettings(tree=limits, search=search, shuffle=True)
    arrays = ranked.grow(target, settings_, bags or Bootstrap(N_ROWS, N_ROWS, seed=1), range(3))
    return TreeForest.from_trees(
        TreeSum(arrays, np.zeros(target.width)),
        schema,
        Target.regression(target.width),
        ranked.features,
        output=Output(aggregate="mean"),
        policy=Policy(),
    )


def of_classes(n_classes=2, criterion="gini", weights=None, **how):
    codes = np.random.default_rng(2).integers(0, n_classes, N_ROWS)
    target = TreeTarget.of_classes(codes, n_classes, weights, criterion=criterion)
    return grown(target, **how)


def of_numbers(n_outputs=1, scale=1.0, **how):
    numbers = np.random.default_rng(3).standard_normal((N_ROWS, n_outputs)) * scale + 5 * scale
    return grown(TreeTarget.of_numbers(numbers, None, criterion="squared"), **how)


WEIGHTS = np.random.default_rng(4).random(N_ROWS) + 0.1
FORESTS = {
    "two classes": of_classes,
    "two classes, large leaves": lambda: of_classes(leaf=10),
    "three classes": lambda: of_classes(3),
    "weighted classes": lambda: of_classes(2, weights=WEIGHTS),
    "entropy": lambda: of_classes(2, "entropy"),
    "numbers": of_numbers,
    "numbers, every row once": lambda: of_numbers(bags=Bags(N_ROWS)),
    "large numbers": lambda: of_numbers(scale=1e120),
    "several numbers": lambda: of_numbers(3),
    "float64": lambda: of_classes(dtype=np.float64),
    "categories": lambda: of_classes(3, categories=True),
    "bins": lambda: of_numbers(search="histogram"),
    "random cuts": lambda: of_numbers(search="random"),
}


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_every_bit_comes_back(make):
    forest = make()
    plain, coded = pack_nodes(forest.arrays)
    assert coded
    again = PackedArrays(plain, coded)
    assert set(again) == set(forest.arrays)
    assert len(again) == len(forest.arrays)
    for name, array in forest.arrays.items():
        assert again[name].dtype == array.dtype, name
        assert again[name].shape == array.shape, name
        assert again[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_roots_are_known_without_unpacking(make):
    forest = make()
    packed = PackedArrays(*pack_nodes(forest.arrays))
    for name in ("count", "weight"):
        expected = forest.arrays[name][forest.arrays["tree_start"][:-1]]
        assert np.allclose(packed.of_roots(name), expected, rtol=1e-13, atol=0)
        if np.all(expected % 1.0 == 0.0):
            assert np.array_equal(packed.of_roots(name), expected)
        assert np.array_equal(of_roots(forest.arrays, name), expected)
    assert packed._native is not None


def test_roots_of_large_counts_and_of_counts_in_full_are_known():
    arrays = dict(of_classes().arrays)
    arrays["count"] = 200 * arrays["count"]  # some leaves above 254, which have no code
    for more in (0, 1):  # counts that do not add up are in full
        arrays["count"] = arrays["count"] + more
        packed = PackedArrays(*pack_nodes(arrays))
        expected = arrays["count"][arrays["tree_start"][:-1]]
        assert np.array_equal(packed.of_roots("count"), expected)


def test_opening_a_large_forest_unpacks_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)), rng.integers(0, 2, 300)
    forest = spinney.RandomForestClassifier(20, random_state=0, oob_score=True).fit(X, y)
    again = from_bytes(to_bytes(forest))
    assert isinstance(again.model_.arrays, PackedArrays)
    assert again.model_.arrays._native is not None
    assert np.array_equal(again.predict_proba(X), forest.predict_proba(X))
    assert again.model_.arrays._native is None


@pytest.mark.parametrize("name", ["two classes", "three classes", "two classes, large leaves"])
def test_shares_and_gini_gains_follow_from_the_leaves_alone(name):
    plain, coded = pack_nodes(FORESTS[name]().arrays)
    assert not {"value_steps", "gain_steps"} & set(coded)
    assert not set(FULL) & set(plain)


def test_an_array_that_follows_no_rule_is_stored_in_full():
    forest = of_classes()
    arrays = dict(forest.arrays)
    rng = np.random.default_rng(0)
    arrays["gain"] = np.where(arrays["feature"] >= 0, rng.random(len(arrays["gain"])), 0.0)
    arrays["count"] = arrays["count"] + 1
    plain, coded = pack_nodes(arrays)
    assert {"gain", "count"} <= set(plain)
    again = PackedArrays(plain, coded)
    assert np.array_equal(again["gain"], arrays["gain"])
    assert np.array_equal(again["count"], arrays["count"])


def test_a_bit_that_would_be_lost_keeps_the_forest_unpacked():
    arrays = dict(of_classes().arrays)
    leaf_thresholds = np.where(arrays["feature"] < 0, -0.0, arrays["threshold"])
    arrays["threshold"] = leaf_thresholds.astype(arrays["threshold"].dtype)
    plain, coded = pack_nodes(arrays)
    assert not coded
    assert set(plain) == set(arrays)


def test_small_forests_are_left_as_they_are(monkeypatch):
    forest = of_classes()
    monkeypatch.setattr(packing, "LEAST_NODES", len(forest.arrays["feature"]) + 1)
    arrays = {f"forest/{name}": array for name, array in forest.arrays.items()}
    assert pack_forests(arrays) == arrays


def deep_tree():
    rng = np.random.default_rng(5)
    return spinney.DecisionTreeClassifier().fit(rng.random((400, 3)), rng.integers(0, 2, 400))


def test_a_loaded_forest_tells_everything_it_told_before():
    tree = deep_tree()
    data = to_bytes(tree)
    contents = sections.unpack(data)
    assert contents.format_version == 2
    again = from_bytes(data)
    assert again.model_.fingerprint == tree.model_.fingerprint
    assert np.array_equal(again.model_.feature_gains(), tree.model_.feature_gains())
    X = np.random.default_rng(6).random((50, 3))
    assert np.array_equal(again.predict_proba(X), tree.predict_proba(X))
    assert np.array_equal(again.apply(X), tree.apply(X))
    assert to_bytes(again) == data


def test_unpacked_arrays_can_never_be_written():
    arrays = from_bytes(to_bytes(deep_tree())).model_.arrays
    for name, array in arrays.items():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        assert not array.flags.writeable, name


def test_nodes_are_unpacked_when_they_are_first_used():
    model = from_bytes(to_bytes(deep_tree())).model_
    assert "_native" not in vars(model)
    assert len(model) == 1
    model.predictions(np.zeros((1, 3)))
    assert "_native" in vars(model)


def test_a_committee_of_large_forests_is_packed_part_by_part():
    tree = deep_tree().model_
    _, arrays = spinney.model.Committee(
        [tree, tree], np.ones(2), combine="mean", policy=Policy()
    ).to_state()
    result = pack_forests(arrays)
    assert {"member/0/nodes/leaves", "member/1/nodes/leaves"} <= set(result)
    assert not any(name.endswith("forest/right") for name in result)


# Files as an attacker makes them


def repacked(change, version=2):
    contents = sections.unpack(to_bytes(deep_tree()))
    arrays = {name: array.copy() for name, array in contents.arrays.items()}
    change(arrays)
    return sections.pack(contents.meta, arrays, version=version)


def setting(name, place, number):
    def change(arrays):
        arrays[f"model/nodes/{name}"][place] = number

    return change


def replacing(name, array):
    def change(arrays):
        arrays[f"model/{name}"] = array

    return change


def dropping(name):
    def change(arrays):
        del arrays[f"model/{name}"]

    return change


BAD = {
    "a leaf where the tree goes on": setting("leaves", 0, 255),
    "no leaf at the end": setting("leaves", -1, 0),
    "a feature that does not exist": setting("feature", 3, 3),
    "a threshold that is no number": setting("threshold", 0, np.nan),
    "a value that is not in the table": setting("value", 1, 250),
    "a value that is not finite": setting("value_table", (0, 0), np.inf),
    "a rule that does not exist": setting("rules", 1, 3),
    "a count without its number": setting("count", 0, 255),
    "a number without its count": replacing("nodes/count_rest", np.full(9, 300, np.int64)),
    "no leaves": dropping("nodes/leaves"),
    "no rules": dropping("nodes/rules"),
    "no trees": dropping("forest/tree_start"),
    "no values": dropping("nodes/value_table"),
    "too many features": replacing("nodes/feature", np.zeros(10_000, np.uint8)),
    "too few steps": replacing("nodes/value_steps", np.zeros(3, np.int8)),
    "steps without their number": replacing("nodes/gain_steps", np.full(3, -128, np.int8)),
    "trees of no nodes": replacing("forest/tree_start", np.array([0, 0], np.int64)),
    "trees that go backwards": replacing("forest/tree_start", np.array([0, -1], np.int64)),
    "trees beyond memory": replacing("forest/tree_start", np.array([0, 2**62 + 1], np.int64)),
    "features of another type": replacing("nodes/feature", np.zeros(3, np.int8)),
    "nodes in full as well": replacing("forest/right", np.zeros(3, np.int32)),
    "counts in full as well": replacing("forest/count", np.zeros(3, np.int64)),
    "a section of no meaning": replacing("nodes/other", np.zeros(3, np.int64)),
    "nothing where something must be": replacing("nodes/missing_left", np.zeros(0, np.uint8)),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_a_forged_file_is_refused_when_it_is_loaded(change):
    with pytest.raises(InvalidFile):
        from_bytes(repacked(change))


def test_packed_nodes_need_the_second_version_and_it_needs_them():
    with pytest.raises(InvalidFile, match="packed"):
        from_bytes(repacked(lambda _: None, version=1))
    plain = sections.unpack(to_bytes(spinney.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 0])))
    with pytest.raises(InvalidFile, match="packed"):
        from_bytes(sections.pack(plain.meta, plain.arrays, version=2))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_is_accepted_is_a_forest(data):
    """Numbers drawn at random: refused, or unpacked to a forest that native code accepts."""
    forest = of_numbers_once()
    plain, coded = pack_nodes(forest.arrays)
    coded = {name: array.copy() for name, array in coded.items()}
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(coded)))
        flat = coded[name].reshape(-1).view(np.uint8)
        flat[data.draw(st.integers(0, flat.size - 1))] = data.draw(st.integers(0, 255))
    try:
        arrays = PackedArrays(plain, coded)
    except InvalidModel:
        return
    made = TreeForest(
        forest.schema, forest.target, arrays, output=forest.output, policy=forest.policy
    )
    assert np.isfinite(made.arrays["values"]).all()
    assert made.native is not None  # checks every array again


_ONCE = []


def of_numbers_once():
    if not _ONCE:
        _ONCE.append(of_numbers())
    return _ONCE[0]


def test_a_large_file_is_refused_for_a_wrong_digest_too():
    """Its digest is computed on a thread of its own."""
    data = bytearray(sections.pack({}, {"x": np.zeros(1 << 20, np.uint8)}))
    assert sections.unpack(bytes(data)).arrays["x"].sum() == 0
    data[-1] ^= 1
    with pytest.raises(InvalidFile, match="SHA-256"):
        sections.unpack(bytes(data))
