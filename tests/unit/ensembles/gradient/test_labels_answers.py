"""Boosting of several labels per row: answers, files, explanations, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags
from tests.unit.ensembles.gradient.labelled import (
    N_CLASSES,
    bytes_of,
    names_of,
    scores_of,
    table,
)

import spinney
from spinney import GradientBoostingClassifier, HistGradientBoostingClassifier
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.explain import (
    explain_row,
    partial_dependence,
    permutation_importance,
    raw_output_names,
    shap_values,
    verify,
)
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model.forest import Output, TreeForest
from spinney.model.links import apply_link, link_of_labels
from spinney.model.state import model_from_bytes
from spinney.trees.words import TreeWords


def test_answers_have_the_shapes_of_forests_and_fit_together():
    X, Y, _ = table()
    names = names_of(Y)
    model = GradientBoostingClassifier(max_iter=12).fit(X, names)
    classes = [[5, 6], ["big", "middle", "small"], [False, True]]
    assert [of.tolist() for of in model.classes_] == classes
    told, shares = model.predict(X), model.predict_proba(X)
    assert told.shape == (600, 3)
    assert [type(value) for value in told[0]] == [int, str, bool]
    assert [own.shape for own in shares] == [(600, n) for n in N_CLASSES]
    assert all(np.allclose(own.sum(axis=1), 1.0) for own in shares)
    assert np.array_equal(np.log(shares[1]), model.predict_log_proba(X)[1])
    scores = scores_of(model, X)
    assert scores.shape == (600, 5)
    assert np.array_equal(told[:, 2], scores[:, 4] > 0)
    assert np.array_equal(scores[:, 1:4].argmax(axis=1), shares[1].argmax(axis=1))
    assert (told == names.to_numpy(object)).mean() > 0.85
    assert (model.n_iter_, model.n_trees_per_iteration_) == (12, 1)
    assert model.apply(X).shape == (600, 12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    shorter = GradientBoostingClassifier(max_iter=5).fit(X, names)
    stages = list(model.staged_predict(X))
    assert len(stages) == 12
    assert np.array_equal(stages[-1], told)
    assert np.array_equal(stages[4], shorter.predict(X))
    staged = list(model.staged_predict_proba(X))[4]
    pairs = zip(staged, shorter.predict_proba(X), strict=True)
    assert all(np.array_equal(one, two) for one, two in pairs)


def test_there_are_scores_to_decide_by_where_there_is_one_label():
    X, Y, _ = table(200)
    model = GradientBoostingClassifier(max_iter=3)
    assert hasattr(model, "decision_function")
    model.fit(X, Y)
    for name in ("decision_function", "staged_decision_function"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="decision_function") as caught:
        model.decision_function(X)
    assert "the model predicts 3. Take predict_proba" in str(caught.value.__cause__)
    shares = model.predict_proba(X)[0]
    assert np.allclose(np.log(shares[:, 1] / shares[:, 0]), scores_of(model, X)[:, 0])
    assert model.fit(X, Y[:, 1]).decision_function(X).shape == (200, 3)


def test_the_score_is_the_share_of_rows_with_all_labels_right():
    X, Y, _ = table()
    indicator = Y[:, [0, 2]]
    model = GradientBoostingClassifier(max_iter=12).fit(X, indicator)
    assert model.predict(X).dtype == indicator.dtype
    right = (model.predict(X) == indicator).all(axis=1)
    assert model.score(X, indicator) == pytest.approx(right.mean())
    weights = np.arange(600) % 4
    told = model.score(X, indicator, weights)
    assert told == pytest.approx(accuracy_score(indicator, model.predict(X), sample_weight=weights))
    mixed = GradientBoostingClassifier(max_iter=12).fit(X, names_of(Y))
    right = (mixed.predict(X) == names_of(Y).to_numpy(object)).all(axis=1)
    assert mixed.score(X, names_of(Y)) == pytest.approx(right.mean())
    assert 0.5 < right.mean() < 1.0
    with pytest.raises(InvalidInput, match=r"y has the shape \(600, 2\): expected \(600, 3\)"):
        mixed.score(X, indicator)
    tags = get_tags(model)
    assert tags.target_tags.multi_output
    assert tags.classifier_tags.multi_label
    for how in ({"loss": "exponential"}, {"growth": "symmetric"}, {"monotonic_cst": [1, 0, 0, 0]}):
        assert not get_tags(GradientBoostingClassifier(**how)).target_tags.multi_output


def test_a_new_fit_forgets_how_many_labels_there_were():
    X, Y, _ = table(200)
    model = GradientBoostingClassifier(max_iter=3).fit(X, Y)
    model.fit(X, Y[:, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (200, 3)
    with pytest.warns(match="column-vector"):
        model.fit(X, Y[:, :1])
    assert model.predict(X).shape == (200,)


def test_files_pickles_and_compiled_models_say_the_same(tmp_path):
    X, Y, _ = table(300)
    model = GradientBoostingClassifier(max_iter=6).fit(X, names_of(Y))
    spinney.save(model, tmp_path / "model.spn")
    for again in (spinney.load(tmp_path / "model.spn"), pickle.loads(pickle.dumps(model))):
        assert bytes_of(again) == bytes_of(model)
        assert again.model_ == model.model_
        assert np.array_equal(again.predict(X), model.predict(X))
        more = again.set_params(warm_start=True, max_iter=9).fit(X, names_of(Y))
        whole = GradientBoostingClassifier(max_iter=9).fit(X, names_of(Y))
        assert bytes_of(more) == bytes_of(whole)
    shares = np.hstack(model.predict_proba(X))
    compiled = model.compile()
    assert np.array_equal(compiled(dict(X.iloc[7])), shares[7])
    assert np.array_equal(pickle.loads(pickle.dumps(compiled))(X), shares)
    numbers = X.drop(columns="few").to_numpy()
    for labels in (Y, Y[:, [0, 2]]):
        plain = GradientBoostingClassifier(max_iter=3).fit(numbers, labels)
        shares = np.hstack(plain.predict_proba(numbers))
        assert np.array_equal(plain.compile()(numbers[5]), shares[5])
        assert np.array_equal(np.hstack(plain.predict_proba(numbers[:1])), shares[:1])
        assert np.array_equal(np.hstack(plain.predict_proba(numbers[:1].tolist())), shares[:1])
        assert np.array_equal(plain.model_.predictions(numbers), shares)


def test_files_with_another_link_are_refused():
    X, Y, _ = table(200)
    forest = GradientBoostingClassifier(max_iter=2).fit(X, Y).model_
    assert model_from_bytes(forest.to_bytes()) == forest
    for link in ("by_label:3,2,2", "by_label:2,2,3", "softmax", "identity", "logistic"):
        output = Output(link=link, aggregate="sum")
        parts = (forest.schema, forest.target, dict(forest.arrays))
        wrong = TreeForest(*parts, output=output, policy=forest.policy)
        with pytest.raises(InvalidModel):
            model_from_bytes(wrong.to_bytes())
    for link in ("by_label:", "by_label:2", "by_label:2,0", "by_label:2, 2", "by_label:02,2", "by"):
        with pytest.raises(InvalidModel):
            TreeForest(
                forest.schema,
                forest.target,
                dict(forest.arrays),
                output=Output(link=link),
                policy=forest.policy,
            )
    drop_in = to_bytes(GradientBoostingClassifier(max_iter=2).fit(X, Y))
    assert isinstance(from_bytes(drop_in), GradientBoostingClassifier)
    with pytest.raises(InvalidModel, match="multi_classification"):
        HistGradientBoostingClassifier()._adopt(forest)


def test_the_link_of_labels_is_that_of_each_label():
    scores = np.random.default_rng(0).normal(0, 5, (1000, 5))
    parts = [(slice(0, 1), "logistic"), (slice(1, 4), "softmax"), (slice(4, 5), "logistic")]
    expected = np.hstack([apply_link(link, scores[:, span]) for span, link in parts])
    assert np.array_equal(apply_link(link_of_labels(N_CLASSES), scores), expected)
    binary = np.hstack([apply_link("logistic", scores[:, k : k + 1]) for k in range(5)])
    assert np.array_equal(apply_link(link_of_labels([2] * 5), scores, n_threads=2), binary)


def test_offsets_have_a_column_per_score():
    X, Y, rng = table()
    offset = rng.normal(size=(600, 5))
    model = GradientBoostingClassifier(max_iter=5).fit(X, Y, offset=offset)
    scores = scores_of(model, X, offset=offset)
    assert np.allclose(scores - offset, model.model_.raw_scores(model.model_.conform(X, "")))
    told = np.hstack(model.predict_proba(X, offset=offset))
    assert np.array_equal(told, apply_link(link_of_labels(N_CLASSES), scores))
    assert np.array_equal(list(model.staged_predict(X, offset))[-1], model.predict(X, offset))
    with pytest.raises(InvalidInput, match=r"offset has the shape \(600, 3\).*\(600, 5\)"):
        model.fit(X, Y, offset=offset[:, :3])
    with pytest.raises(InvalidInput, match="was fitted with offset="):
        model.predict(X)


def test_explanations_add_up_and_have_names():
    X, Y, _ = table()
    model = GradientBoostingClassifier(max_iter=12).fit(X, names_of(Y))
    names = ("y0=6", "y1=big", "y1=middle", "y1=small", "y2=True")
    assert raw_output_names(model) == names
    found = shap_values(model, X.iloc[:20])
    assert found.output_names == names
    sums = getattr(found, "values").sum(axis=1) + found.base  # noqa: B009
    assert np.allclose(sums, scores_of(model, X.iloc[:20]))
    row = explain_row(model, X.iloc[3], output="y2=True")
    assert "P(y2=True)" in str(row)
    assert row.prediction == pytest.approx(model.predict_proba(X.iloc[3:4])[2][0, 1])
    row = explain_row(model, X.iloc[3], output="y1=small")
    assert row.prediction == pytest.approx(model.predict_proba(X.iloc[3:4])[1][0, 2])
    of_raw = partial_dependence(model, "x0", X, output="y0=6")
    of_share = partial_dependence(model, "x0", X, output="y0=6", scale="prediction")
    assert "y0=5" not in raw_output_names(model)
    other = partial_dependence(model, "x0", X, output="y0=5", scale="prediction")
    curves = [np.asarray(one.columns()["dependence"]) for one in (of_raw, of_share, other)]
    assert np.ptp(curves[0]) > 0
    assert np.allclose(curves[1] + curves[2], 1.0)
    assert verify(model, bounds=(-50.0, 50.0), output="y0=6").claims
    with pytest.raises(InvalidInput, match="of 5 outputs together"):
        spinney.explain.explain_split(model, 0, 0)
    indicator = GradientBoostingClassifier(max_iter=12).fit(X, Y[:, [0, 2]])
    importance = permutation_importance(indicator, X, Y[:, [0, 2]], n_repeats=1)
    assert len(importance.feature_names) == X.shape[1]
    assert "GradientBoostingClassifier" in model._repr_html_()
    answer = TreeWords.of(model.model_).answer(0)
    assert len(answer.split(", ")) == 5
    assert "%" not in answer


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"loss": "exponential"}, "loss='exponential' is of one label per row, but y has 3"),
        ({"growth": "symmetric"}, r"growth='symmetric'.*5 that share"),
        ({"monotonic_cst": {"x0": 1}}, r"monotonic constraints.*5 outputs"),
        ({"class_weight": {0: 2}}, "Give a list of dicts, one for each column"),
        ({"class_weight": [{0: 2}]}, "number of elements in class_weight should match"),
        ({"class_weight": "balance"}, "Did you mean 'balanced'"),
        ({"class_weight": [{0: -1}, None, None]}, r"class_weight\[0\]\[0\] is -1"),
        ({"class_weight": [None, {7: 1.0}, None]}, r"class_weight\[1\] .* column 1 of y\..* 7"),
        ({"class_weight": [None, None, 5]}, r"class_weight\[2\]=5: expected None, 'balanced'"),
        ({"class_weight": [{0: 0, 1: 0}, None, None]}, r"All weights .* are 0.*weight above 0"),
    ],
)
def test_what_several_labels_cannot_have_is_refused(params, words):
    X, Y, _ = table(200)
    with pytest.raises((InvalidInput, InvalidParameter), match=words):
        GradientBoostingClassifier(**params).fit(X, Y)


def test_bad_labels_are_refused_with_their_column():
    X, Y, _ = table(200)
    missing = names_of(Y).astype(object)
    missing.loc[3, "size"] = None
    with pytest.raises(InvalidInput, match=r"Input y column 1 contains NaN.*row 3"):
        GradientBoostingClassifier().fit(X, missing)
    with pytest.raises(InvalidInput, match=r"In column 1 of y:.*continuous.*Row 0 of y is 0\.5"):
        GradientBoostingClassifier().fit(X, np.column_stack([Y[:, 0], Y[:, 1] + 0.5]))
    with pytest.raises(InvalidInput, match="inconsistent numbers of samples"):
        GradientBoostingClassifier().fit(X, Y[:5])
    stops = GradientBoostingClassifier(early_stopping=True)
    with pytest.raises(InvalidInput, match=r"y_val has the shape \(200, 2\), but y has 3 columns"):
        stops.fit(X, Y, X_val=X, y_val=Y[:, :2])
    with pytest.raises(InvalidInput, match=r"y_val has the shape \(200,\), but y has 3 columns"):
        stops.fit(X, Y, X_val=X, y_val=Y[:, 0])
    with pytest.raises(InvalidInput, match="y_val has classes that column 1 of y lacks: 3"):
        stops.fit(X, Y, X_val=X, y_val=Y + np.array([0, 1, 0]))


def test_what_knows_one_label_says_so():
    X, Y, _ = table(200)
    model = GradientBoostingClassifier(max_iter=2).fit(X, Y)
    with pytest.raises(InvalidInput, match=r"A calibration.* is about one label per row"):
        model.calibrate(X, Y)
    with pytest.raises(InvalidInput, match=r"A set of classes is about one label per row"):
        model.predict_set(X)
    with pytest.raises(InvalidInput, match=r"several labels per row.*MultiOutputClassifier"):
        HistGradientBoostingClassifier().fit(X, Y)
    assert not get_tags(HistGradientBoostingClassifier()).classifier_tags.multi_label
