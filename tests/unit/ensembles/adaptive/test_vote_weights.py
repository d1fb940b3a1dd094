"""How much votes weigh: by the formula, by a search for the least Z, or by a function."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tests.unit.ensembles.adaptive.problems import blobs, error_stump, small_tree

from spinney import AdaBoostClassifier
from spinney.errors import InvalidParameter
from spinney.losses.line_search import LONGEST_MOVE

X2, Y2 = blobs(2)
X3, Y3 = blobs(3)


@pytest.mark.parametrize("variant", ["discrete", "samme", "m1", "confidence"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_line_search_finds_the_formula_for_plain_votes(variant, n_classes):
    if variant == "confidence":
        n_classes = 2  # takes no more; its votes are no plain ones, so only its slope is checked
    X, y = (X2, Y2) if n_classes == 2 else (X3, Y3)
    exact = AdaBoostClassifier(n_estimators=8, variant=variant).fit(X, y)
    searched = clone(exact).set_params(alpha="line_search").fit(X, y)
    np.testing.assert_allclose(searched.alphas_, exact.alphas_, atol=1e-10)
    np.testing.assert_allclose(searched.trace_.normalisers, exact.trace_.normalisers, atol=1e-10)


def test_margins_of_confidences_stay_within_one_on_new_rows():
    """Answers are within [-1, 1], so sums divided by the sum of alphas are."""
    X, y = 0.2 * X2[:100], Y2[:100]  # timid answers: far rows get bolder ones
    booster = AdaBoostClassifier(LogisticRegression(), variant="confidence", n_estimators=5)
    booster.fit(X, y)
    found = booster.margins(20.0 * X2, Y2)
    assert np.abs(found).max() <= 1.0
    signs = np.where(booster.classes_[1] == Y2, 1.0, -1.0)
    answers = [np.diff(member.predict_proba(20.0 * X2))[:, 0] for member in booster.estimators_]
    assert found == pytest.approx(signs * (booster.alphas_ @ answers) / booster.alphas_.sum())


def test_line_search_finds_the_least_z_of_plausibilities():
    exact = AdaBoostClassifier(n_estimators=1, variant="m2").fit(X3, Y3)
    searched = clone(exact).set_params(alpha="line_search").fit(X3, Y3)
    least = searched.trace_.normalisers[0]
    assert least < exact.trace_.normalisers[0] - 1e-3  # plausibilities are no plain votes
    for factor in (0.99, 1.01):
        alpha = factor * float(searched.alphas_[0])
        beside = clone(exact).set_params(alpha=lambda _, alpha=alpha: alpha).fit(X3, Y3)
        assert beside.trace_.normalisers[0] > least


@pytest.mark.parametrize("error", [0.4, 1e-3, 1e-6, 1e-8])
def test_line_search_finds_large_weights_too(error):
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    weights = np.array([error / 2, error / 2, 0.5 - error / 2, 0.5 - error / 2])
    pair = [
        AdaBoostClassifier(error_stump(), n_estimators=1, alpha=alpha).fit(X, y, weights)
        for alpha in ("exact", "line_search")
    ]
    assert pair[0].alphas_[0] == pytest.approx(0.5 * np.log((1 - error / 2) / (error / 2)))
    assert pair[1].alphas_[0] == pytest.approx(pair[0].alphas_[0], abs=1e-6)


def test_confidence_rated_votes_are_weighed_where_z_is_least():
    booster = AdaBoostClassifier(
        small_tree("confidence"), variant="confidence", n_estimators=5, store_weights=True
    ).fit(X2, Y2)
    signs = np.where(Y2 == 1, 1.0, -1.0)
    weights = booster.model_.arrays["tree_weight"]
    for t, member in enumerate(booster.estimators_):
        shares = member.predict_proba(X2)
        products = signs * (shares[:, 1] - shares[:, 0])
        D, a = booster.trace_.distributions[t], weights[t]
        assert (D * products * np.exp(-a * products)).sum() == pytest.approx(0.0, abs=1e-12)
        z = (D * np.exp(-a * products)).sum()
        assert booster.trace_.normalisers[t] == pytest.approx(z, rel=1e-12)
        edge = (D * products).sum()
        assert z <= np.sqrt(1 - edge**2) + 1e-12  # the bound of the closed formula


@pytest.mark.parametrize("variant", ["discrete", "confidence", "mh", "m2", "m1"])
def test_alpha_may_be_a_function_of_the_error(variant):
    asked = []

    def small_steps(error):
        asked.append(error)
        return 0.05

    booster = AdaBoostClassifier(n_estimators=4, variant=variant, alpha=small_steps).fit(X2, Y2)
    np.testing.assert_allclose(asked, booster.trace_.errors, atol=1e-12)
    if variant != "confidence":
        np.testing.assert_allclose(booster.alphas_, 0.05, rtol=1e-12)
    exact = AdaBoostClassifier(n_estimators=4).fit(X2, Y2)
    same = AdaBoostClassifier(n_estimators=4, alpha=lambda e: 0.5 * np.log((1 - e) / e))
    np.testing.assert_allclose(same.fit(X2, Y2).alphas_, exact.alphas_, rtol=1e-12)


@pytest.mark.parametrize("answer", [0.0, -1.0, float("nan"), float("inf")])
def test_a_function_that_gives_no_weight_is_refused(answer):
    with pytest.raises(InvalidParameter, match=r"alpha\(0.*expected a positive number"):
        AdaBoostClassifier(alpha=lambda _: answer).fit(X2, Y2)


def test_shrinkage_multiplies_every_weight():
    full = AdaBoostClassifier(n_estimators=1).fit(X2, Y2)
    part = AdaBoostClassifier(n_estimators=1, learning_rate=0.1).fit(X2, Y2)
    np.testing.assert_allclose(part.alphas_, 0.1 * full.alphas_, rtol=1e-12)
    error, a = part.trace_.errors[0], part.alphas_[0]
    z = (1 - error) * np.exp(-a) + error * np.exp(a)
    assert part.trace_.normalisers[0] == pytest.approx(z, rel=1e-12)


def test_totally_corrective_is_never_above_stagewise():
    for seed in range(3):
        X, y = blobs(2, seed=seed)
        for n_rounds in (1, 7):
            stagewise = AdaBoostClassifier(n_estimators=n_rounds).fit(X, y)
            corrected = clone(stagewise).set_params(totally_corrective=True).fit(X, y)
            a, b = corrected.trace_, stagewise.trace_
            m = min(len(a), len(b))
            assert (a.objective[:m] <= b.objective[:m] * (1 + 1e-9)).all()
            assert (np.diff(a.objective) <= 1e-12).all()
            F = corrected.decision_function(X) * corrected.alphas_.sum()
            assert a.objective[-1] == pytest.approx(
                np.exp(-np.where(y == 1, 1, -1) * F).mean(), rel=1e-9
            )
            assert a.min_margins[-1] == pytest.approx(corrected.margins(X, y).min(), abs=1e-10)


def test_totally_corrective_weights_leave_no_vote_with_an_edge():
    booster = AdaBoostClassifier(n_estimators=8, totally_corrective=True, store_weights=True)
    booster.fit(X2, Y2)
    D, signs = booster.trace_.distributions[-1], np.where(Y2 == 1, 1.0, -1.0)
    for weight, member in zip(booster.alphas_, booster.estimators_, strict=True):
        edge = (D * signs * np.where(member.predict(X2) == 1, 1, -1)).sum()
        if weight < LONGEST_MOVE:
            assert edge <= 1e-7
        if weight > 1e-9:
            assert edge >= -1e-7


@pytest.mark.parametrize("wrong", [{"variant": "real"}, {"variant": "m1"}])
def test_totally_corrective_takes_plain_votes_only(wrong):
    with pytest.raises(InvalidParameter, match="totally_corrective=True takes two classes"):
        AdaBoostClassifier(totally_corrective=True, **wrong).fit(X2, Y2)
    with pytest.raises(InvalidParameter, match="3 classes"):
        AdaBoostClassifier(totally_corrective=True).fit(X3, Y3)
