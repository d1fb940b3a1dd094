"""A loss that the user wrote: the model of the built-in one, and clear words if it is wrong."""

import re

import numpy as np
import pytest
from sklearn import clone
from tests.reference.boosting import SlowLimits, slow_boosting
from tests.unit.ensembles.gradient import losses
from tests.unit.ensembles.test_gradient_twin import assert_same_trees, fitted

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidFile, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 4)).round(2)
SCORE = X[:, 0] + np.sin(2 * X[:, 1]) + RNG.normal(size=500)
COUNTS = RNG.poisson(np.exp(SCORE / 2)).astype(float)
CLASSES = np.digitize(SCORE, [-0.7, 0.7])
WEIGHTS = {
    "none": None,
    "whole": RNG.integers(0, 4, 500),
    "fractional": RNG.gamma(2.0, 0.5, 500),
}
R, C = GradientBoostingRegressor, GradientBoostingClassifier
TASKS = {  # loss of the user; estimator of the built-in one; target
    "squared": (losses.Squared(), R(), SCORE),
    "absolute": (losses.Absolute(), R(loss="absolute"), SCORE),
    "absolute, zero hessian": (losses.AbsoluteWithHessian(), R(loss="absolute"), SCORE),
    "absolute, few targets": (losses.Absolute(), R(loss="absolute"), CLASSES),
    "median": (losses.Quantile(0.5), R(loss="quantile", quantile=0.5), SCORE),
    "low quantile": (losses.Quantile(0.3), R(loss="quantile", quantile=0.3), SCORE),
    "high quantile": (losses.Quantile(0.9), R(loss="quantile", quantile=0.9), CLASSES),
    "huber": (losses.Huber(), R(loss="huber"), SCORE),
    "poisson": (losses.Poisson(), R(loss="poisson", leaf_steps="newton"), COUNTS),
    "gamma": (losses.Gamma(), R(loss="gamma", leaf_steps="newton"), COUNTS + 0.5),
    "tweedie": (losses.Tweedie(), R(loss="tweedie", leaf_steps="newton"), COUNTS),
    "logistic": (losses.Logistic(), C(), SCORE > 0),
    "exponential": (losses.Exponential(), C(loss="exponential"), SCORE > 0),
    "multinomial": (losses.Multinomial(), C(), CLASSES),
}
SAME_ARITHMETIC = ("squared", "absolute", "median", "low quantile", "high quantile")
"""Beginnings of tasks: of the others sums or exponentials are rounded elsewhere."""


def pair(task, **params):
    loss, built_in, y = TASKS[task]
    built_in = clone(built_in).set_params(max_iter=12, **params)
    return built_in, clone(built_in).set_params(loss=loss), y


def assert_same_model(task, built_in, own):
    if task.startswith(SAME_ARITHMETIC):
        assert own.model_ == built_in.model_
        return
    expected, found = built_in.model_.arrays, own.model_.arrays
    for name in ("feature", "threshold", "right", "missing_left", "count", "weight"):
        assert np.array_equal(found[name], expected[name]), name
    assert np.allclose(found["values"], expected["values"], rtol=1e-5, atol=1e-7)
    assert np.allclose(found["baseline"], expected["baseline"], rtol=1e-9)
    assert np.allclose(own.predict(X), built_in.predict(X), rtol=1e-5)


@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", TASKS)
def test_the_same_formula_gives_the_same_model(task, weighting):
    built_in, own, y = pair(task)
    for model in (built_in, own):
        model.fit(X, y, WEIGHTS[weighting])
    assert_same_model(task, built_in, own)


OPTIONS = {
    "sampled": {"subsample": 0.6},
    "smoothed": {"path_smoothing": 5.0, "max_delta_step": 0.4},
    "monotone": {"monotonic_cst": [1, 0, 0, 0], "prune_gain": 0.5},
    "dropped": {"dropout": 0.3, "growth": "symmetric"},
    "large steps": {"learning_rate": 1.0, "l1_regularization": 0.5, "l2_regularization": 2.0},
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("task", [task for task in TASKS if task != "multinomial"])
def test_so_it_does_with_other_parameters(task, option):
    built_in, own, y = pair(task, random_state=2, **OPTIONS[option])
    for model in (built_in, own):
        model.fit(X, y, WEIGHTS["whole"])
    assert_same_model(task, built_in, own)


@pytest.mark.parametrize("task", TASKS)
def test_so_it_does_on_top_of_an_offset(task):
    built_in, own, y = pair(task)
    offset = 0.3 * X[:, 1] if task != "multinomial" else np.outer(X[:, 1], [0.3, 0.0, -0.2])
    for model in (built_in, own):
        model.fit(X, y, offset=offset)
    assert own.n_iter_ == built_in.n_iter_
    assert np.allclose(own.predict(X, offset=offset), built_in.predict(X, offset=offset), rtol=1e-4)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("task", ["absolute", "low quantile"])
def test_so_it_does_for_targets_of_any_size(task, scale):
    built_in, own, y = pair(task)
    for model in (built_in, own):
        model.fit(X, (y + 7.0) * scale)
    assert_same_model(task, built_in, own)


@pytest.mark.parametrize("task", ["squared", "logistic", "poisson", "multinomial"])
def test_early_stopping_measures_it_too(task):
    built_in, own, y = pair(task, early_stopping=True, random_state=3, n_iter_no_change=3)
    for model in (built_in, own):
        model.fit(X, y)
    assert own.n_iter_ == built_in.n_iter_
    # Built-in losses may leave out a constant.
    for name in ("train_score_", "validation_score_"):
        ours, theirs = getattr(own, name), getattr(built_in, name)
        assert np.allclose(np.diff(ours), np.diff(theirs), atol=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_whole_weights_are_repetitions_to_the_last_bit(task):
    _, own, y = pair(task)
    weights = RNG.integers(0, 4, 500)
    once = own.fit(X, y, weights).model_
    again = own.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).model_
    for name in ("feature", "threshold", "values", "weight", "baseline"):
        assert np.array_equal(once.arrays[name], again.arrays[name]), name


@pytest.mark.parametrize("task", TASKS)
def test_bytes_do_not_depend_on_threads(task):
    _, own, y = pair(task, subsample=0.7, random_state=1)
    prints = {
        own.set_params(n_jobs=n).fit(X, y, COUNTS + 0.5).model_.fingerprint for n in (1, 2, 5)
    }
    assert len(prints) == 1


@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_trees_equal_the_slow_twin(task):
    limits = SlowLimits(max_leaves=6, min_rows=4.0, l2=1.0)
    few, y = X[:90].round(0), SCORE[:90] if task == "squared" else (SCORE[:90] > 0).astype(float)
    model = fitted(task, limits, rounds=4).set_params(loss=TASKS[task][0]).fit(few, y)
    assert_same_trees(
        model, slow_boosting(few, y, None, loss=task, rounds=4, rate=0.3, limits=limits)
    )


def test_a_loss_without_a_hessian_goes_to_the_optimum_of_every_leaf():
    model = GradientBoostingRegressor(loss=losses.Huber(), max_iter=1, learning_rate=1.0)
    weights = RNG.integers(1, 4, 500)
    model.fit(X, SCORE, weights)
    residuals = SCORE - model.predict(X)
    leaves = model.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        in_leaf = leaves == leaf
        slope = weights[in_leaf] @ np.clip(residuals[in_leaf], -1, 1)
        assert abs(slope) < 1e-9


def test_a_start_that_is_given_is_taken():
    class Started(losses.Squared):
        def start(self, y, weights):  # noqa: ARG002
            return [7.0]

    model = GradientBoostingRegressor(loss=Started(), max_iter=1).fit(X, SCORE)
    assert model.model_.arrays["baseline"].tolist() == [7.0]


def test_a_start_may_be_one_number():
    loss = changed(start=lambda *_: 7.0)
    model = GradientBoostingRegressor(loss=loss, max_iter=1).fit(X, SCORE)
    assert model.model_.arrays["baseline"].tolist() == [7.0]


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (np.nan, r"Wrong\.start gave nan: expected a finite raw score"),
        ([np.inf], r"Wrong\.start gave inf: expected a finite raw score"),
        ([1.0, 2.0], r"shape \(2,\): expected \(1,\), the score to begin with"),
        (None, r"Wrong\.start gave"),
    ],
)
def test_starts_that_cannot_be_are_refused(start, words):
    loss = changed(start=lambda *_: start)
    with pytest.raises(InvalidParameter, match=words):
        GradientBoostingRegressor(loss=loss, max_iter=1).fit(X, SCORE)


def test_the_best_constant_is_found_where_no_formula_knows_it():
    model = GradientBoostingRegressor(loss=losses.LogCosh(), max_iter=1).fit(X, 5 * SCORE - 40)
    start = model.model_.arrays["baseline"][0]
    assert abs(np.tanh(start - (5 * SCORE - 40)).mean()) < 1e-6


def test_monotone_constraints_and_leaf_optima_go_together():
    model = GradientBoostingRegressor(loss=losses.Huber(), max_iter=10, monotonic_cst=[1, 0, 0, 0])
    model.fit(X, SCORE)
    rows = np.tile(X[:1], (50, 1))
    rows[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(rows)) >= 0).all()


# Files


@pytest.mark.parametrize("task", ["logistic", "poisson", "multinomial"])
def test_a_file_holds_the_link_and_no_code(tmp_path, task):
    _, own, y = pair(task)
    own.fit(X, y)
    spinney.save(own, tmp_path / "own.spn")
    again = spinney.load(tmp_path / "own.spn")
    assert np.array_equal(again.predict(X), own.predict(X))
    assert repr(again.loss) == f"<the loss {type(own.loss).__name__} of a saved model>"
    with pytest.raises(InvalidParameter, match="a file holds no code"):
        again.fit(X, y)
    spinney.save(again, tmp_path / "again.spn")
    assert (tmp_path / "again.spn").read_bytes() == (tmp_path / "own.spn").read_bytes()
    assert again.set_params(loss=own.loss).fit(X, y).model_ == own.model_


def test_an_inverse_link_is_asked_for_after_loading(tmp_path):
    y = np.exp(SCORE)
    own = GradientBoostingRegressor(loss=losses.Reciprocal(), max_iter=5).fit(X, y)
    raw = own.model_.predictions(X)[:, 0]
    assert np.array_equal(own.predict(X), np.exp(-raw))
    assert np.array_equal(list(own.staged_predict(X))[-1], own.predict(X))
    spinney.save(own, tmp_path / "own.spn")
    again = spinney.load(tmp_path / "own.spn")
    with pytest.raises(InvalidParameter, match=r"inverse_link.*set_params\(loss=Reciprocal\(\)\)"):
        again.predict(X)
    assert np.array_equal(again.model_.predictions(X)[:, 0], raw)
    again.set_params(loss=losses.Reciprocal())
    assert np.array_equal(again.predict(X), own.predict(X))


@pytest.mark.parametrize("content", [["f(x)", False], ["A", 1], ["A"], "A", [1, False]])
def test_a_damaged_loss_in_a_file_is_refused(content):
    from spinney.io.parameters import decode

    with pytest.raises(InvalidFile):
        decode({"$loss": content})


# Bad formulas


def changed(base=losses.Squared, **methods):
    """Make a loss of which some methods are others."""
    return type("Wrong", (base,), methods)()


def test_a_wrong_gradient_is_shown_where_it_disagrees():
    wrong = changed(
        gradients=lambda _, y, raw: (np.where(y > 1, 2.0, 1.0) * (raw - y), raw * 0 + 1)
    )
    with pytest.raises(InvalidParameter) as caught:
        GradientBoostingRegressor(loss=wrong).fit(X, SCORE)
    told = re.search(
        r"gradient of loss Wrong disagrees with its value in \d+ of 200 rows. First in row (.*): "
        r"y=(.*), score (.*): the formula gives (.*), differences of the value give (.*). Check",
        str(caught.value),
    )
    row, (y, score, given, differences) = int(told[1]), map(float, told.groups()[1:])
    assert y > 1
    assert y == pytest.approx(SCORE[row], rel=1e-5)
    assert (
        given
        == pytest.approx(2 * differences, rel=1e-3)
        == pytest.approx(2 * (score - y), rel=1e-3)
    )


def test_rows_of_weight_zero_do_not_move_the_row_that_is_shown():
    y, weights = np.zeros(40), np.ones(40)
    weights[:10], y[20] = 0.0, 5.0
    wrong = changed(gradients=lambda _, y, raw: (np.where(y > 1, 2, 1) * (raw - y), raw * 0 + 1))
    with pytest.raises(InvalidParameter, match=r"in 1 of 30 rows. First in row 20: y=5, score"):
        GradientBoostingRegressor(loss=wrong).fit(X[:40], y, weights)


def test_a_wrong_hessian_is_refused_unless_it_is_meant():
    def gradients(_, y, raw):
        return raw - y, np.full_like(raw, 2.0)

    with pytest.raises(InvalidParameter, match=r"hessian of loss Wrong .* gives 2, .* give 1\."):
        GradientBoostingRegressor(loss=changed(gradients=gradients)).fit(X, SCORE)
    meant = changed(gradients=gradients, surrogate_hessian=True)
    half = GradientBoostingRegressor(loss=meant, max_iter=1, learning_rate=1.0).fit(X, SCORE)
    whole = GradientBoostingRegressor(max_iter=1, learning_rate=0.5).fit(X, SCORE)
    assert np.allclose(half.predict(X), whole.predict(X))


WRONG = {
    "shape": (lambda _, y, raw: (raw - y)[:-1], r"gradients gave an array of shape \(\d+,\)"),
    "column": (lambda _, y, raw: (raw - y)[:, None], r"shape \(\d+, 1\): expected \(\d+,\)"),
    "three": (lambda _, y, raw: (raw - y, raw, raw), "gave 3 arrays"),
    "nothing": (lambda _, y, raw: None, "shape|gave a NoneType"),  # noqa: ARG005
    "text": (lambda _, y, raw: "up", "expected an array of numbers"),  # noqa: ARG005
    "complex": (lambda _, y, raw: (raw - y) * (1 + 1j), "holds no real numbers"),
    "raises": (lambda _, y, raw: 1 / 0, r"Wrong\.gradients raised ZeroDivisionError"),  # noqa: ARG005
    "writes": (lambda _, y, raw: raw.__isub__(y), "raised ValueError.*read-only"),
    "nan": (lambda _, y, raw: (raw - y) * np.nan, "disagrees.*gives nan"),
    "hessian shape": (lambda _, y, raw: (raw - y, 1.0), r"hessian gave an array of shape \(\)"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_faults_of_formulas_are_named(fault):
    formula, words = WRONG[fault]
    with pytest.raises(InvalidParameter, match=words):
        GradientBoostingRegressor(loss=changed(gradients=formula)).fit(X, SCORE)


def test_faults_of_values_are_named():
    for formula, words in (
        (lambda _, y, raw: np.mean((raw - y) ** 2), r"value gave an array of shape \(\)"),
        (lambda _, y, raw: {}[0], r"Wrong\.value raised KeyError"),  # noqa: ARG005
    ):
        with pytest.raises(InvalidParameter, match=words):
            GradientBoostingRegressor(loss=changed(value=formula)).fit(X, SCORE)


def test_negative_hessians_are_refused_with_target_and_score():
    class Cauchy:
        def value(self, y, raw):
            return np.log1p((raw - y) ** 2)

        def gradients(self, y, raw):
            far = raw - y
            return 2 * far / (1 + far**2), 2 * (1 - far**2) / (1 + far**2) ** 2

    with pytest.raises(InvalidParameter, match=r"hessian of loss Cauchy is -.* for y=.* at the sc"):
        GradientBoostingRegressor(loss=Cauchy()).fit(X, SCORE)


def test_numbers_that_overflow_later_are_refused():
    model = GradientBoostingRegressor(loss=losses.Poisson(), learning_rate=1e4, max_iter=5)
    with pytest.raises(
        InvalidParameter, match=r"gradient of loss Poisson is inf for y=.*Lower lea"
    ):
        model.fit(X, COUNTS)


@pytest.mark.parametrize("link", ["softmax", "logit", None, 3])
def test_links_that_do_not_fit_are_refused(link):
    with pytest.raises(InvalidParameter, match=r"link of loss Wrong is .*'identity' or 'log'"):
        GradientBoostingRegressor(loss=changed(link=link)).fit(X, SCORE)
    wrong = GradientBoostingClassifier(loss=changed(losses.Multinomial, link="logistic"))
    with pytest.raises(InvalidParameter, match=r"link of loss Wrong is 'logistic': expected 'soft"):
        wrong.fit(X, CLASSES)


@pytest.mark.parametrize("loss", [losses.Squared, 3, object(), lambda y, raw: raw - y, "squar"])
def test_what_is_no_loss_is_refused(loss):
    with pytest.raises(
        InvalidParameter, match=r"loss=.*expected 'squared'.*or an object \(not a c"
    ):
        GradientBoostingRegressor(loss=loss).fit(X, SCORE)


def test_two_classes_may_have_two_raw_scores():
    class Softmax(losses.Multinomial):
        link = "softmax"

    own = GradientBoostingClassifier(loss=Softmax(), max_iter=20).fit(X, SCORE > 0)
    assert own.n_trees_per_iteration_ == 2
    assert own.score(X, SCORE > 0) > 0.85


def test_a_single_class_needs_no_loss():
    assert (
        GradientBoostingClassifier(loss=losses.Logistic()).fit(X, SCORE * 0 > 1).predict(X).any()
        == 0
    )


def test_the_split_of_a_node_is_explained_too():
    from spinney.explain import explain_split

    own = GradientBoostingRegressor(loss=losses.LogCosh(), max_iter=2).fit(X, SCORE)
    assert "gain" in str(explain_split(own, 1, 0, X=X, y=SCORE))
