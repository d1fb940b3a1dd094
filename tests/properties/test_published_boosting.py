"""Errors of boosters on the data of their papers, against what the papers and others found."""

import numpy as np
import pytest

from spinney import AdaBoostClassifier, DecisionTreeClassifier
from spinney.datasets import (
    make_esl_spheres,
    make_ringnorm,
    make_shells,
    make_threenorm,
    make_twonorm,
    make_waveform,
)

SPHERES = [make_esl_spheres(n, random_state=seed) for seed, n in enumerate((2000, 10_000))]


def percent_wrong(booster, data):
    return 100 * (1 - booster.score(data.X, data.y))


@pytest.mark.parametrize(
    ("variant", "criterion", "low", "high"),
    [
        ("discrete", "gini", 11, 14.5),
        ("discrete", "error", 11, 14.5),
        ("real", "gini", 5, 6.7),
        ("gentle", "gini", 5, 6.7),
        ("logit", "gini", 5, 6.7),
    ],
)
def test_nested_spheres(variant, criterion, low, high):
    """Hastie, Tibshirani and Friedman (2009), figure 10.2: a stump 45.8, boosted 400 times less."""
    train, test = SPHERES
    stump = DecisionTreeClassifier(max_depth=1, criterion=criterion)
    assert percent_wrong(stump.fit(train.X, train.y), test) == pytest.approx(45.8, abs=1.5)
    booster = AdaBoostClassifier(stump, variant=variant, n_estimators=400).fit(train.X, train.y)
    assert low < percent_wrong(booster, test) < high


@pytest.mark.parametrize(
    ("make", "low", "high"),
    [
        (make_twonorm, 4.3, 5.5),  # published 4.9
        (make_threenorm, 17.6, 20.0),  # 18.8
        (make_ringnorm, 3.5, 7.0),  # 6.9
        (make_waveform, 16.8, 18.8),  # 17.8
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_unpruned_trees_of_drawn_rows(make, low, high):
    """Breiman (1998, 2001): fifty unpruned trees on 300 rows, by resampling."""
    errors = []
    for seed in range(8):
        train, test = make(300, random_state=seed), make(3000, random_state=1000 + seed)
        booster = AdaBoostClassifier(
            DecisionTreeClassifier(), mode="resample", on_weak_failure="reset", random_state=seed
        ).fit(train.X, train.y)
        errors.append(percent_wrong(booster, test))
    assert low < np.mean(errors) < high


@pytest.mark.long
def test_samme_goes_on_where_m1_breaks_down():
    """Zhu, Zou, Rosset and Hastie (2009), figure 1: three shells, trees of ten leaves."""
    curves = []
    for seed in range(3):
        train = make_shells(3000, random_state=2 * seed)
        test = make_shells(10_000, random_state=2 * seed + 1)
        tree = DecisionTreeClassifier(max_leaf_nodes=10)
        broken = AdaBoostClassifier(tree, variant="m1", n_estimators=600).fit(train.X, train.y)
        assert len(broken.trace_) < 12
        assert "no learner better than guessing" in broken.trace_.stop_reason
        samme = AdaBoostClassifier(tree, variant="samme", n_estimators=600).fit(train.X, train.y)
        assert len(samme.trace_) == 600
        assert np.argmax(samme.trace_.errors > 0.5) < 30
        stages = list(samme.staged_score(test.X, test.y))
        curves.append([100 * (1 - stages[place]) for place in (0, 49, 199, 599)])
    first, few, many, most = np.mean(curves, axis=0)
    assert first > 45
    assert few == pytest.approx(25.5, abs=1.5)
    assert many == pytest.approx(22.8, abs=1.5)
    assert most == pytest.approx(21.4, abs=1.5)
    assert first > few > many
