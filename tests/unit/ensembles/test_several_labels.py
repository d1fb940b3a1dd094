# ruff: noqa: PD011 - results have values of their own
"""Trees and forests whose rows have several labels, each of classes of its own."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.utils import compute_sample_weight, get_tags

import spinney
from spinney import DecisionTreeClassifier, ExtraTreesClassifier, RandomForestClassifier
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import out_of_bag_importance, permutation_importance, shap_values
from spinney.io.save_load import from_bytes, to_bytes
from spinney.report import write_report

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
Y = np.column_stack([X[:, 0] + RNG.normal(0, 0.5, 240) > 0, np.digitize(X[:, 1], [-1, 0, 1])])
NAMES = pd.DataFrame({"wet": np.where(Y[:, 0] > 0, "yes", "no"), "size": Y[:, 1]})
YES = np.column_stack([Y[:, 0] > 0, Y[:, 1] > 1])
FORESTS = (RandomForestClassifier, ExtraTreesClassifier)


def same_shares(ours, theirs, atol=1e-12):
    assert len(ours) == len(theirs)
    return all(np.allclose(a, b, atol=atol) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_depth": 3},
        {"min_samples_leaf": 7, "min_impurity_decrease": 0.004},
        {"ccp_alpha": 0.006},
        {"class_weight": [{0: 1, 1: 3}, {0: 2, 1: 1, 2: 1, 3: 5}], "max_depth": 4},
        {"class_weight": "balanced", "max_depth": 4},
        {"criterion": "entropy", "max_depth": 4},
        {"criterion": "log_loss", "min_samples_leaf": 6, "ccp_alpha": 0.01},
        {"criterion": "entropy", "max_leaf_nodes": 9},
    ],
)
def test_a_tree_is_that_of_scikit_learn(params):
    ours = DecisionTreeClassifier(**params).fit(X, Y)
    theirs = TheirTree(**params, random_state=0).fit(X, Y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert same_shares(ours.predict_proba(X), theirs.predict_proba(X))
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(np.sort(ours.tree_.impurity), np.sort(theirs.tree_.impurity))
    in_order = "max_leaf_nodes" not in params  # theirs are numbered as they were split
    if in_order and ("max_depth" not in params or params == {"max_depth": 3}):
        same = np.array_equal(ours.tree_.feature, theirs.tree_.feature)
        assert same or not params  # deep down several features cut a few rows alike
        near = np.abs(ours.feature_importances_ - theirs.feature_importances_).max()
        assert near < (1e-6 if same else 0.03)
    assert ours.tree_.value.shape == theirs.tree_.value.shape
    assert ours.tree_.n_classes.tolist() == theirs.tree_.n_classes.tolist() == [2, 4]
    path = ours.cost_complexity_pruning_path(X, Y)
    assert np.allclose(path.impurities[-1], theirs.tree_.impurity[0])


def test_weights_are_repetitions():
    weights = np.arange(240) % 3
    often = np.repeat(np.arange(240), weights)
    weighted = DecisionTreeClassifier(max_depth=5).fit(X, Y, weights)
    repeated = DecisionTreeClassifier(max_depth=5).fit(X[often], Y[often])
    assert same_shares(weighted.predict_proba(X), repeated.predict_proba(X), atol=0)
    for forest in FORESTS:
        one = forest(8, random_state=0, max_depth=4).fit(X, Y, weights)
        two = forest(8, random_state=0, max_depth=4).fit(X[often], Y[often])
        assert same_shares(one.predict_proba(X), two.predict_proba(X), atol=0)


@pytest.mark.parametrize("forest", FORESTS)
def test_forests_do_not_depend_on_threads_and_learn(forest):
    fitted = forest(30, random_state=0, n_jobs=1).fit(X, Y)
    assert fitted.model_ == forest(30, random_state=0, n_jobs=2).fit(X, Y).model_
    assert (fitted.predict(X) == Y).mean() > 0.99
    tree = fitted.estimators_[0]
    assert isinstance(tree, DecisionTreeClassifier)
    assert tree.predict(X).shape == (240, 2)
    mean = np.mean([one.predict_proba(X)[1] for one in fitted.estimators_], axis=0)
    assert np.allclose(mean, fitted.predict_proba(X)[1])
    shares, errors = (
        RandomForestClassifier(30, random_state=0).fit(X, Y).predict_proba(X, return_std=True)
    )
    assert [one.shape for one in errors] == [one.shape for one in shares] == [(240, 2), (240, 4)]


def test_shapes_names_and_types_are_scikit_learns():
    fitted = DecisionTreeClassifier(max_depth=3).fit(X, NAMES)
    assert [of.tolist() for of in fitted.classes_] == [["no", "yes"], [0, 1, 2, 3]]
    assert (fitted.n_classes_, fitted.n_outputs_) == ([2, 4], 2)
    told = fitted.predict(X)
    assert told.shape == (240, 2)
    assert {type(value) for value in told[0]} == {str, int}
    texts = DecisionTreeClassifier(max_depth=3).fit(X, NAMES.astype(str).to_numpy())
    assert texts.predict(X).dtype == object
    assert np.array_equal(texts.predict(X), told.astype(str))
    whole = {"bool": bool, "uint8": np.uint8, "int": np.int64}
    for one, other in combinations(whole, 2):
        both = pd.DataFrame({"a": (Y[:, 0] > 0).astype(one), "b": (Y[:, 1] > 0).astype(other)})
        said = DecisionTreeClassifier().fit(X, both).predict(X)
        assert said.dtype == np.result_type(whole[one], whole[other])
        assert f1_score(both.astype(int), said, average="macro") == 1.0
    far = pd.DataFrame({"a": np.uint64(2**64 - 1) - (Y[:, 0] > 0), "b": Y[:, 1]})
    assert DecisionTreeClassifier().fit(X, far).predict(X).dtype == object  # no float has them
    logs = fitted.predict_log_proba(X)
    assert np.allclose(np.exp(logs[0]), fitted.predict_proba(X)[0])
    assert fitted.to_text(max_depth=1).count("%") >= 4
    for estimator in (fitted, RandomForestClassifier()):
        assert get_tags(estimator).classifier_tags.multi_label
        assert get_tags(estimator).target_tags.multi_output
    assert accuracy_score(YES, DecisionTreeClassifier().fit(X, YES).predict(X)) == 1.0
    assert DecisionTreeClassifier().fit(X, YES).score(X, YES) == 1.0


def test_a_new_fit_forgets_how_many_labels_there_were():
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert isinstance(tree.classes_, list)
    tree.fit(X, Y[:, 1])
    assert tree.classes_.tolist() == [0, 1, 2, 3]
    assert tree.predict_proba(X).shape == (240, 4)
    with pytest.warns(match="column-vector"):
        tree.fit(X, Y[:, :1])
    assert tree.n_classes_ == 2


def test_classes_without_weight_are_as_if_absent():
    weights = np.where(Y[:, 1] == 2, 0.0, 1.0)
    tree = DecisionTreeClassifier().fit(X, Y, weights)
    assert [of.tolist() for of in tree.classes_] == [[0, 1], [0, 1, 3]]
    kept = weights > 0
    other = DecisionTreeClassifier().fit(X[kept], Y[kept])
    assert same_shares(tree.predict_proba(X), other.predict_proba(X), atol=0)


def test_out_of_bag_a_row_is_right_if_all_its_labels_are():
    fitted = RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, Y)
    shares = fitted.oob_decision_function_
    assert shares.shape == (240, 4, 2)
    assert np.all(shares[:, 2:, 0] == 0)
    said = np.column_stack([shares[:, :2, 0].argmax(axis=1), shares[:, :, 1].argmax(axis=1)])
    assert fitted.oob_score_ == pytest.approx((said == Y).all(axis=1).mean())
    theirs = TheirForest(60, random_state=0, oob_score=True).fit(X, YES)
    ours = RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, YES)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.05)
    assert ours.oob_decision_function_.shape == theirs.oob_decision_function_.shape
    own = RandomForestClassifier(
        60, random_state=0, oob_score=lambda y, told: float((y == told).mean())
    ).fit(X, Y)
    assert own.oob_score_ == pytest.approx((said == Y).mean())
    few = RandomForestClassifier("auto", random_state=0).fit(X, Y)
    assert 50 <= len(few) < 2000


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, *FORESTS])
def test_files_and_pickles_keep_everything(kind, tmp_path):
    fitted = kind(**({} if kind is DecisionTreeClassifier else {"n_estimators": 5}))
    fitted.set_params(random_state=0, max_depth=4).fit(X, NAMES)
    spinney.save(fitted, tmp_path / "model.spn")
    for again in (spinney.load(tmp_path / "model.spn"), pickle.loads(pickle.dumps(fitted))):
        assert again.model_ == fitted.model_
        assert again.model_.target.same_as(fitted.model_.target)
        assert [of.tolist() for of in again.classes_] == [of.tolist() for of in fitted.classes_]
        assert np.array_equal(again.predict(X), fitted.predict(X))
    if kind is RandomForestClassifier:
        fitted = kind(5, random_state=0, oob_score=True, max_depth=4)
        with pytest.warns(match="OOB"):
            fitted.fit(X, NAMES)
        spinney.save(fitted, tmp_path / "model.spn")
        told = spinney.load(tmp_path / "model.spn").oob_decision_function_
        assert np.array_equal(told, fitted.oob_decision_function_, equal_nan=True)


def test_warm_starts_go_on_with_the_same_labels():
    grown = RandomForestClassifier(4, random_state=0, warm_start=True).fit(X, Y)
    grown.set_params(n_estimators=9).fit(X, Y)
    assert grown.model_ == RandomForestClassifier(9, random_state=0).fit(X, Y).model_
    with pytest.raises(InvalidInput, match="warm_start=True goes on"):
        grown.set_params(n_estimators=12).fit(X, Y[:, 1])


def test_shapley_values_are_those_of_the_shares():
    fitted = RandomForestClassifier(5, random_state=0, max_depth=3).fit(X, NAMES)
    found = shap_values(fitted, X[:10])
    names = ("y0=no", "y0=yes", "y1=0", "y1=1", "y1=2", "y1=3")
    assert found.output_names == names
    shares = np.hstack(fitted.predict_proba(X[:10]))
    assert np.allclose(found.values.sum(axis=1) + found.base, shares)
    assert np.array_equal(fitted.compile()(X[3]), shares[3])
    assert fitted.model_._repr_html_()
    assert permutation_importance(fitted, X, YES.astype(str), scoring=lambda *_: 0.0)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"criterion": "dkm"}, "criterion='dkm' takes two classes, but column 1 of y has 4"),
        ({"class_weight": {0: 2}}, "Give a list of dicts, one for each column"),
        ({"class_weight": [{0: 2}]}, "number of elements in class_weight should match"),
        ({"class_weight": "balance"}, "Did you mean 'balanced'"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "not supported with multiple outputs: y has 2"),
    ],
)
def test_what_is_about_one_label_is_refused(params, words):
    with pytest.raises((InvalidInput, InvalidParameter), match=words):
        RandomForestClassifier(2, **params).fit(X, Y)
    takes = get_tags(RandomForestClassifier(2, **params)).target_tags.multi_output
    assert takes is ("monotonic_cst" not in params)


@pytest.mark.parametrize("criterion", ["error", "twoing", "gain_ratio", "dkm", "hellinger"])
def test_all_criteria_learn_several_labels(criterion):
    tree = DecisionTreeClassifier(criterion=criterion).fit(X, YES)
    assert np.array_equal(tree.predict(X), YES)
    assert tree.tree_.impurity[0] > 0.3
    assert np.all(tree.tree_.impurity[tree.tree_.children_left < 0] < 1e-12)
    assert 1 < tree.pruned(alpha=0.02).get_n_leaves() < tree.get_n_leaves()
    forest = RandomForestClassifier(20, criterion=criterion, random_state=0).fit(X, YES)
    assert (forest.predict(X) == YES).mean() > 0.97


def test_trees_vote_hard_for_each_label():
    forest = RandomForestClassifier(15, voting="hard", random_state=0, max_depth=3).fit(X, Y)
    votes = [tree.predict(X) for tree in forest.estimators_]
    for label, shares in enumerate(forest.predict_proba(X)):
        counted = [
            [np.mean(own == c) for c in range(shares.shape[1])]
            for own in np.array(votes)[:, :, label].T
        ]
        assert np.allclose(shares, counted)
    again = from_bytes(to_bytes(forest))
    assert again.model_ == forest.model_
    assert same_shares(
        again.estimators_[0].predict_proba(X), forest.estimators_[0].predict_proba(X)
    )


def test_strata_are_rows_with_the_same_labels():
    forest = RandomForestClassifier(5, sampler="stratified", random_state=0).fit(X, Y)
    kinds = Y[:, 0] * 4 + Y[:, 1]
    for rows in forest.estimators_samples_:
        assert np.array_equal(
            np.bincount(kinds[rows], minlength=8), np.bincount(kinds, minlength=8)
        )


def test_every_tree_balances_each_label_by_its_rows(tmp_path):
    params = {"class_weight": "balanced_subsample", "random_state": 0, "max_depth": 4}
    forest = RandomForestClassifier(6, **params).fit(X, NAMES)
    for rows, tree in zip(forest.estimators_samples_, forest.estimators_, strict=True):
        weights = compute_sample_weight("balanced", Y, indices=rows)
        counts = np.bincount(rows, minlength=len(X)) * weights
        leaves = tree.apply(X)
        for leaf in np.unique(leaves[rows]):
            own = counts * (leaves == leaf)
            wanted = np.bincount(Y[:, 1], own, 4) / own.sum()
            assert tree.tree_.value[leaf, 1] == pytest.approx(wanted, abs=1e-3)
    spinney.save(forest, tmp_path / "model.spn")
    again = spinney.load(tmp_path / "model.spn")
    assert again.model_ == forest.model_
    again.set_params(warm_start=True, n_estimators=9).fit(X, NAMES)
    assert again.model_ == RandomForestClassifier(9, **params).fit(X, NAMES).model_
    with pytest.raises(InvalidInput, match="class weights"):
        again.set_params(n_estimators=12).fit(X, NAMES.assign(wet=NAMES["wet"].to_numpy()[::-1]))


def test_bags_that_count_rows_equally_often_know_no_classes():
    forest = RandomForestClassifier(20, sampler="balanced", random_state=0).fit(X, Y)
    counts = [np.bincount(rows, minlength=len(X)) for rows in forest.estimators_samples_[:10]]
    assert set(np.sum(counts, axis=0)) == {10}
    assert get_tags(forest).target_tags.multi_output
    assert np.mean(forest.predict(X) == Y) > 0.8


def test_bad_labels_are_refused_with_their_column():
    missing = NAMES.astype(object)
    missing.loc[3, "wet"] = None
    with pytest.raises(InvalidInput, match=r"y column 0 contains NaN.*row 3"):
        DecisionTreeClassifier().fit(X, missing)
    with pytest.raises(InvalidInput, match=r"In column 0 of y: .*continuous"):
        DecisionTreeClassifier().fit(X, X[:, :2])
    with pytest.raises(InvalidInput, match="inconsistent numbers of samples"):
        DecisionTreeClassifier().fit(X, Y[:5])
    with pytest.raises(InvalidInput, match="sparse multilabel-indicator for y is not supported"):
        RandomForestClassifier().fit(X, sparse.csr_array(YES))


def test_what_knows_one_label_says_so(tmp_path):
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    questions = {
        "A calibration": lambda: forest.calibrate(X, Y),
        "A set of classes": lambda: forest.predict_set(X),
        "The strength": lambda: forest.strength(X, Y),
        "A report": lambda: write_report(forest, X, Y, tmp_path / "page.html"),
        "Importance out of bag": lambda: out_of_bag_importance(forest, X, Y),
        "method='reduced_error'": lambda: (
            DecisionTreeClassifier().fit(X, Y).pruned("reduced_error", X=X, y=Y)
        ),
        "method='mdl'": lambda: DecisionTreeClassifier().fit(X, Y).pruned("mdl"),
    }
    for what, ask in questions.items():
        with pytest.raises(InvalidInput, match=f"{what}.* is about one label per row"):
            ask()
    with pytest.raises(InvalidInput, match="1d array"):
        spinney.HistGradientBoostingClassifier().fit(X, Y)
    with pytest.raises(InvalidInput, match="1d array"):
        spinney.RotationForestClassifier().fit(X, Y)


def test_no_column_is_no_label():
    for kind in (DecisionTreeClassifier, RandomForestClassifier):
        with pytest.raises(InvalidInput, match=r"y has shape \(240, 0\), no target at all"):
            kind().fit(X, Y[:, :0])
