"""``offset=``: known parts of raw scores, in fit and in predict."""

import numpy as np
import pytest
from sklearn import clone
from sklearn.metrics import accuracy_score, r2_score
from tests.unit.ensembles.gradient import losses

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.sharing import SharedTable
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import explain_split

RNG = np.random.default_rng(1)
X = RNG.normal(size=(600, 4)).round(1)
SCORE = X[:, 0] + np.sin(2 * X[:, 1])
OFFSET = RNG.normal(size=600)
EXPOSURE = RNG.integers(1, 5, 600)
COUNTS = RNG.poisson(EXPOSURE * np.exp(SCORE / 2)).astype(float)
BOTH = SCORE + OFFSET + 0.5 * RNG.normal(size=600)
CLASSES = np.digitize(SCORE + RNG.normal(size=600), [-0.7, 0.7])
OF_CLASSES = RNG.normal(size=(600, 3))
TASKS = {
    "squared": (GradientBoostingRegressor(), BOTH, OFFSET),
    "absolute": (GradientBoostingRegressor(loss="absolute"), BOTH, OFFSET),
    "huber": (GradientBoostingRegressor(loss="huber"), BOTH, OFFSET),
    "poisson": (GradientBoostingRegressor(loss="poisson"), COUNTS, np.log(EXPOSURE)),
    "gamma": (GradientBoostingRegressor(loss="gamma"), COUNTS + 1, np.log(EXPOSURE)),
    "logistic": (GradientBoostingClassifier(), BOTH > 0, OFFSET),
    "multinomial": (GradientBoostingClassifier(), CLASSES, OF_CLASSES),
    "own": (GradientBoostingRegressor(loss=losses.LogCosh()), BOTH, OFFSET),
    "own huber": (GradientBoostingRegressor(loss=losses.Huber()), BOTH, OFFSET),
}


def learner(task, **params):
    model, y, offset = TASKS[task]
    return clone(model).set_params(**{"max_iter": 10, **params}), y, offset


def raw_scores(model, X, offset):
    """What ``decision_function`` or the raw predictions of a regressor are."""
    return model.model_.raw_scores(model.model_.conform(X, "")) + offset.reshape(len(X), -1)


def test_squared_loss_learns_the_difference():
    ours = GradientBoostingRegressor(max_iter=20).fit(X, BOTH, offset=OFFSET)
    plain = GradientBoostingRegressor(max_iter=20).fit(X, BOTH - OFFSET)
    assert np.array_equal(ours.model_.arrays["baseline"], plain.model_.arrays["baseline"])
    assert np.allclose(ours.predict(X, OFFSET), plain.predict(X) + OFFSET, atol=1e-5)


@pytest.mark.parametrize("leaf_steps", ["exact", "newton"])
def test_exposure_as_offset_is_exposure_as_weight_of_rates(leaf_steps):
    """Poisson: e exp(F) - y is the gradient of either; few leaves, so that no two cuts tie."""
    by_offset, by_weight = (
        GradientBoostingRegressor(
            loss="poisson",
            leaf_steps=leaf_steps,
            max_iter=4,
            max_leaf_nodes=4,
            min_samples_leaf=1,
            min_child_weight=20.0,
        )
        for _ in range(2)
    )
    by_offset.fit(X, COUNTS, offset=np.log(EXPOSURE))
    by_weight.fit(X, COUNTS / EXPOSURE, EXPOSURE)
    assert np.allclose(by_offset.predict(X, np.zeros(600)), by_weight.predict(X), rtol=1e-4)
    counts = by_offset.predict(X, offset=np.log(EXPOSURE))
    assert np.allclose(counts, EXPOSURE * by_weight.predict(X), rtol=1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_the_start_is_the_best_constant_on_top_of_the_offset(task):
    model, y, offset = learner(task, max_iter=1)
    start = model.fit(X, y, offset=offset).model_.arrays["baseline"]
    loss = model._loss(model.model_.target)
    codes = np.searchsorted(model.classes_, y) if hasattr(model, "classes_") else y
    at = offset.reshape(600, -1)

    def mean(constant):
        return loss.mean(codes.astype(float), np.asfortranarray(at + constant), None)

    best = mean(start)
    for move in np.vstack([np.eye(len(start)), -np.eye(len(start))]):
        assert mean(start + 1e-3 * move) >= best - 1e-12


@pytest.mark.parametrize("task", TASKS)
def test_an_offset_of_a_constant_changes_no_prediction(task):
    model, y, offset = learner(task)
    zeros = np.zeros_like(offset)
    plain = raw_scores(clone(model).fit(X, y), X, zeros)
    moved = raw_scores(clone(model).fit(X, y, offset=zeros + 0.5), X, zeros + 0.5)
    if task == "multinomial":  # only differences of scores count
        plain, moved = (s - s.mean(axis=1, keepdims=True) for s in (plain, moved))
    assert np.allclose(plain, moved, atol=1e-3)


@pytest.mark.parametrize("task", TASKS)
def test_whole_weights_are_repetitions(task):
    model, y, offset = learner(task)
    weights = RNG.integers(0, 4, 600)
    once = model.fit(X, y, weights, offset=offset).model_
    again = (np.repeat(part, weights, axis=0) for part in (X, y, offset))
    X_again, y_again, offset_again = again
    twice = model.fit(X_again, y_again, offset=offset_again).model_
    for name in ("feature", "threshold", "values", "weight", "baseline"):
        assert np.array_equal(once.arrays[name], twice.arrays[name]), name


@pytest.mark.parametrize("task", ["poisson", "logistic", "multinomial"])
def test_bytes_do_not_depend_on_threads(task):
    model, y, offset = learner(task)
    prints = {
        model.set_params(n_jobs=n).fit(X, y, offset=offset).model_.fingerprint for n in (1, 2, 5)
    }
    assert len(prints) == 1


@pytest.mark.parametrize("task", TASKS)
def test_warm_start_goes_on_to_the_same_bits(task):
    model, y, offset = learner(task)
    whole = clone(model).fit(X, y, offset=offset).model_
    parts = clone(model).set_params(max_iter=4, warm_start=True).fit(X, y, offset=offset)
    assert parts.set_params(max_iter=10).fit(X, y, offset=offset).model_ == whole


@pytest.mark.parametrize("task", ["squared", "poisson", "logistic", "multinomial"])
def test_rounds_are_measured_with_the_offset(task):
    model, y, offset = learner(task, early_stopping=True, max_iter=5)
    model.fit(
        X[:400], y[:400], offset=offset[:400], X_val=X[400:], y_val=y[400:], offset_val=offset[400:]
    )
    loss = model._loss(model.model_.target)
    codes = np.searchsorted(model.classes_, y) if hasattr(model, "classes_") else y
    scores = np.asfortranarray(raw_scores(model, X[400:], offset[400:]))
    assert -model.validation_score_[-1] == pytest.approx(
        loss.mean(codes[400:].astype(float), scores, None)
    )
    named = clone(model).set_params(scoring="neg_log_loss" if hasattr(model, "classes_") else "r2")
    named.fit(X, y, offset=offset)
    assert np.isfinite(named.validation_score_).all()


def test_every_prediction_takes_it():
    model, y, offset = learner("multinomial")
    model.fit(X, y, offset=offset)
    raw = raw_scores(model, X, offset)
    assert np.array_equal(model.decision_function(X, offset), raw)
    shares = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(X, offset), shares)
    assert np.array_equal(model.predict(X, offset), model.classes_[raw.argmax(axis=1)])
    assert np.allclose(model.predict_log_proba(X, offset), np.log(shares))
    for staged, whole in (
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_decision_function, model.decision_function),
        (model.staged_predict, model.predict),
    ):
        assert np.array_equal(list(staged(X, offset))[-1], whole(X, offset))
    numbers, y, offset = learner("poisson")
    numbers.fit(X, y, offset=offset)
    assert np.array_equal(list(numbers.staged_predict(X, offset))[-1], numbers.predict(X, offset))


def test_an_offset_that_fit_had_is_not_forgotten(tmp_path):
    model, y, offset = learner("logistic")
    model.fit(X, y, offset=offset)
    spinney.save(model, tmp_path / "model.spn")
    for fitted in (model, spinney.load(tmp_path / "model.spn")):
        for ask in (fitted.predict, fitted.predict_proba, fitted.decision_function):
            with pytest.raises(InvalidInput, match="was fitted with offset="):
                ask(X)
        with pytest.raises(InvalidInput, match="was fitted with offset="):
            next(fitted.staged_predict(X))
        with pytest.raises(InvalidInput, match="was fitted with offset="):
            fitted.compile()
        with pytest.raises(InvalidInput, match="was fitted with offset="):
            fitted.calibrate(X, y)
        assert np.array_equal(fitted.predict_proba(X, offset), model.predict_proba(X, offset))
        with pytest.raises(InvalidInput, match=r"model_\.predictions\(X\) tells"):
            fitted.predict(X)
        without = fitted.predict_proba(X, np.zeros(len(X)))
        assert np.array_equal(fitted.model_.predictions(X), without)
    model.fit(X, y)
    assert model.predict(X).shape == (600,)  # a fit without it needs none
    moved = model.decision_function(X, offset)
    assert np.allclose(moved, model.decision_function(X) + offset)


@pytest.mark.parametrize(("before", "now"), [(OFFSET, None), (None, OFFSET)])
def test_warm_start_does_not_forget_or_begin_an_offset(before, now):
    model = GradientBoostingRegressor(max_iter=2, warm_start=True).fit(X, BOTH, offset=before)
    words = "with offset=.* without one" if now is None else "without offset=.* with one"
    with pytest.raises(InvalidInput, match=words):
        model.set_params(max_iter=4).fit(X, BOTH, offset=now)


@pytest.mark.parametrize("task", ["squared", "logistic", "multinomial"])
def test_the_score_is_that_of_predictions_with_it(task):
    model, y, offset = learner(task)
    model.fit(X, y, offset=offset)
    score = r2_score if task == "squared" else accuracy_score
    weights = RNG.random(600)
    expected = score(y, model.predict(X, offset), sample_weight=weights)
    assert model.score(X, y, weights, offset=offset) == expected
    with pytest.raises(InvalidInput, match="Give offset= here too"):
        model.score(X, y)


def test_scores_of_quantiles_and_labels_take_it_too():
    two = np.column_stack([OFFSET, -OFFSET])
    quantiles = GradientBoostingRegressor(loss="quantile", quantile=[0.2, 0.8], max_iter=10)
    quantiles.fit(X, BOTH, offset=two)
    assert quantiles.score(X, BOTH, offset=two) > quantiles.score(X, BOTH, offset=two[::-1])
    labels = np.column_stack([BOTH > 0, SCORE > 0])
    model = GradientBoostingClassifier(max_iter=10).fit(X, labels, offset=two)
    right = (model.predict(X, two) == labels).all(axis=1).mean()
    assert model.score(X, labels, offset=two) == right


def test_a_later_fit_without_it_is_scored_by_functions_again():
    model = GradientBoostingRegressor(max_iter=3).fit(X, BOTH, offset=OFFSET)
    model.set_params(early_stopping=True, scoring=lambda fitted, X, y: fitted.score(X, y))
    assert np.isfinite(model.fit(X, BOTH).validation_score_).all()


def test_rounds_are_not_replayed_without_their_offset():
    model = GradientBoostingRegressor(max_iter=3).fit(X, BOTH, offset=OFFSET)
    with pytest.raises(InvalidInput, match="Ask without X and y"):
        explain_split(model, 0, 0, X=X, y=BOTH)
    explain_split(model, 0, 0)


def test_rows_of_a_shared_table_keep_their_offset():
    rows = np.sort(RNG.choice(600, 400, replace=False))
    shared = SharedTable(X).rows(rows)
    own = GradientBoostingRegressor(max_iter=5, min_samples_leaf=5)
    one = own.fit(shared, BOTH[rows], offset=OFFSET[rows]).predict(X, OFFSET)
    other = own.fit(SharedTable(X).rows(rows), BOTH[rows] - OFFSET[rows]).predict(X) + OFFSET
    assert np.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (OFFSET[:5], r"offset has the shape \(5,\): expected \(600,\)"),
        (OFFSET[:, None].repeat(2, axis=1), r"shape \(600, 2\)"),
        (np.where(OFFSET > 1, np.nan, OFFSET), "offset is .*nan.* in row"),
        (np.where(OFFSET > 0, OFFSET, -np.inf), "An exposure of 0 has no logarithm"),
        (["a"] * 600, "holds no numbers"),
        (3.0, "shape|holds no"),
    ],
)
def test_wrong_offsets_are_refused(wrong, words):
    model = GradientBoostingRegressor(max_iter=2)
    with pytest.raises((InvalidInput, TypeError), match=words):
        model.fit(X, BOTH, offset=wrong)
    model.fit(X, BOTH, offset=OFFSET)
    with pytest.raises((InvalidInput, TypeError), match=words):
        model.predict(X, wrong)


def test_offsets_of_both_tables_or_of_none():
    model = GradientBoostingRegressor(early_stopping=True, max_iter=2)
    val = {"X_val": X, "y_val": BOTH}
    with pytest.raises(InvalidInput, match="offset is provided, but offset_val was not"):
        model.fit(X, BOTH, offset=OFFSET, **val)
    with pytest.raises(InvalidInput, match="offset_val is provided, but offset was not"):
        model.fit(X, BOTH, offset_val=OFFSET, **val)
    with pytest.raises(InvalidInput, match="offset_val is provided, but X_val"):
        model.fit(X, BOTH, offset=OFFSET, offset_val=OFFSET)
    model.set_params(scoring=lambda *_: 0.0)
    with pytest.raises(InvalidParameter, match="cannot give their offset"):
        model.fit(X, BOTH, offset=OFFSET)
