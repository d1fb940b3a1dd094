"""Random trees embedding: a column per leaf, a 1 per tree."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.ensemble import RandomTreesEmbedding as TheirEmbedding
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from spinney import RandomTreesEmbedding
from spinney.errors import InvalidModel, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes

X = np.random.default_rng(0).standard_normal((200, 4))


def test_every_row_has_a_one_for_each_tree_in_that_trees_columns():
    embedding = RandomTreesEmbedding(n_estimators=20, random_state=0).fit(X)
    leaves = embedding.transform(X)
    assert sparse.issparse(leaves)
    assert leaves.format == "csr"
    assert np.all(leaves.sum(axis=1) == 20)
    assert set(leaves.data) == {1.0}
    n_leaves = [tree.n_leaves for tree in embedding.model_]
    starts = np.cumsum([0, *n_leaves])
    dense = leaves.toarray()
    for first, last in itertools.pairwise(starts):
        assert np.all(dense[:, first:last].sum(axis=1) == 1)
    assert max(n_leaves) <= 32
    assert np.all(dense.sum(axis=0) > 0)  # every leaf has training rows


def test_equal_leaves_are_equal_columns():
    embedding = RandomTreesEmbedding(n_estimators=5, random_state=1).fit(X)
    same = embedding.transform(X) @ embedding.transform(X).T
    leaves = embedding.apply(X)
    expected = (leaves[:, np.newaxis] == leaves[np.newaxis]).sum(axis=2)
    assert np.array_equal(same.toarray(), expected)


def test_names_tell_tree_and_leaf_as_in_scikit_learn():
    embedding = RandomTreesEmbedding(n_estimators=3, max_depth=2, random_state=0).fit(X)
    names = embedding.get_feature_names_out()
    assert len(names) == embedding.transform(X[:1]).shape[1]
    assert names[0].startswith("randomtreesembedding_0_")
    assert len(set(names)) == len(names)
    leaves = embedding.apply(X)
    used = {f"randomtreesembedding_{t}_{leaf}" for t in range(3) for leaf in leaves[:, t]}
    assert used == set(names)
    theirs = TheirEmbedding(n_estimators=3, max_depth=2, random_state=0).fit(X)
    assert theirs.get_feature_names_out()[0].startswith("randomtreesembedding_0_")


def test_dense_output_and_frames():
    dense = RandomTreesEmbedding(n_estimators=4, sparse_output=False, random_state=0)
    assert isinstance(dense.fit_transform(X), np.ndarray)
    frame = dense.set_output(transform="pandas").fit_transform(X)
    assert frame.columns.tolist() == dense.get_feature_names_out().tolist()


def test_a_linear_model_on_leaves_can_bend():
    rings, y = make_circles(600, factor=0.5, noise=0.1, random_state=0)
    bent = make_pipeline(RandomTreesEmbedding(random_state=0), LogisticRegression())
    assert cross_val_score(bent, rings, y).mean() > 0.93
    assert cross_val_score(LogisticRegression(), rings, y).mean() < 0.6


def test_same_bits_for_any_threads_and_weights_are_repetitions():
    models = [RandomTreesEmbedding(random_state=3, n_jobs=n).fit(X).model_ for n in (1, 2)]
    assert models[0] == models[1]
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    embedding = RandomTreesEmbedding(n_estimators=10, random_state=0)
    weighted = embedding.fit(X, sample_weight=weights).transform(X)
    repeated = embedding.fit(np.repeat(X, weights, axis=0)).transform(X)
    assert (weighted != repeated).nnz == 0


def test_warm_start_adds_trees():
    embedding = RandomTreesEmbedding(n_estimators=3, warm_start=True, random_state=0).fit(X)
    embedding.set_params(n_estimators=8).fit(X)
    assert embedding.model_ == RandomTreesEmbedding(n_estimators=8, random_state=0).fit(X).model_
    with pytest.raises(InvalidParameter, match=r"len\(estimators_\)=8"):
        embedding.set_params(n_estimators=2).fit(X)


def test_limits_hold():
    embedding = RandomTreesEmbedding(
        n_estimators=10, max_depth=None, min_samples_leaf=20, random_state=0
    ).fit(X)
    counts = [tree.count[tree.right < 0].min() for tree in embedding.model_]
    assert min(counts) >= 20
    small = RandomTreesEmbedding(n_estimators=10, max_leaf_nodes=4, random_state=0).fit(X)
    assert {tree.n_leaves for tree in small.model_} == {4}


@pytest.mark.parametrize("table", [np.ones((5, 2)), np.full((4, 1), np.nan), np.ones((1, 3))])
def test_tables_without_a_split_have_a_column_per_tree(table):
    leaves = RandomTreesEmbedding(n_estimators=3, random_state=0).fit_transform(table)
    assert leaves.toarray().tolist() == [[1.0, 1.0, 1.0]] * len(table)


def test_categories_and_missing_values_are_taken():
    table = [["red", 1.0], ["blue", None], ["red", 3.0], [None, 4.0]] * 5
    embedding = RandomTreesEmbedding(n_estimators=5, random_state=0).fit(table)
    assert np.all(embedding.transform([["green", None]]).sum(axis=1) == 5)


def test_files_carry_the_embedding_and_a_forged_one_is_refused():
    embedding = RandomTreesEmbedding(n_estimators=3, random_state=0).fit(X)
    again = from_bytes(to_bytes(embedding))
    assert to_bytes(again) == to_bytes(embedding)
    assert (again.transform(X) != embedding.transform(X)).nnz == 0
    with pytest.raises(InvalidModel, match="numbered through"):
        RandomTreesEmbedding()._adopt(embedding.model_[1:])
    with pytest.raises(InvalidModel, match="seed"):
        again._adopt_attributes({"seed": "1"}, {})


def test_trees_are_shown_as_those_of_forests_are():
    embedding = RandomTreesEmbedding(n_estimators=4, max_depth=3, random_state=0)
    assert len(embedding) == 0
    embedding.fit(X)
    assert len(embedding) == len(embedding.estimators_) == 4
    assert embedding.n_outputs_ == 1
    leaves = embedding.apply(X)
    marks = embedding.transform(X)
    for place, tree in enumerate(embedding):
        assert tree.splitter == "random"
        assert np.array_equal(tree.apply(X), leaves[:, place])
        columns = tree.predict(X).astype(int)  # where the row's leaf stands in transform
        assert np.all(np.asarray(marks[np.arange(len(X)), columns]) == 1.0)
    shares = np.mean([tree.feature_importances_ for tree in embedding.estimators_], axis=0)
    assert embedding.feature_importances_ == pytest.approx(shares / shares.sum())
    indicator, starts = embedding.decision_path(X)
    assert indicator.shape == (len(X), starts[-1])
    nodes = leaves + starts[:-1]
    assert np.all(np.asarray(indicator[np.arange(len(X))[:, None], nodes].todense()) == 1)


def test_warm_start_warns_if_there_is_nothing_to_grow():
    embedding = RandomTreesEmbedding(n_estimators=3, warm_start=True, random_state=0).fit(X)
    before = embedding.model_
    with pytest.warns(UserWarning, match="does not fit new trees"):
        embedding.fit(X)
    assert embedding.model_ == before
    with pytest.raises(InvalidParameter, match="larger or equal to len"):
        embedding.set_params(n_estimators=2).fit(X)
