"""Files of boosters of votes: base learners and traces can be forged too."""

import hashlib

import numpy as np
import pytest
from tests.attacks.mutations import Mutations, Parts, attack_in_child
from tests.attacks.probe_rows import rows_for
from tests.attacks.training_rows import classes, frame

import spinney
from spinney.errors import InvalidFile
from spinney.io.save_load import from_bytes, to_bytes

N_MUTATIONS = 150


def booster_file(variant="samme", labels=("a", "b", "c"), **parameters):
    regresses = variant in ("gentle", "logit")
    kind = spinney.DecisionTreeRegressor if regresses else spinney.DecisionTreeClassifier
    booster = spinney.AdaBoostClassifier(
        kind(max_depth=2), variant=variant, n_estimators=4, **parameters
    )
    return to_bytes(booster.fit(frame(), classes(list(labels))))


def probe(data):
    """Load, and ask for everything a fitted booster knows."""
    booster = from_bytes(data)
    rows = rows_for(booster.model_.schema)
    with np.errstate(all="ignore"):
        said = [booster.predict_proba(rows), booster.decision_function(rows)]
        said += [*booster.staged_predict_proba(rows), booster.feature_importances_]
        said += [booster.margins(rows, np.repeat(booster.classes_[:1], 16))]
        said += [member.predict(rows) for member in booster.estimators_]
        said += [booster.estimator_weights_, booster.estimator_errors_]
    text = repr(booster.get_params()) + str(booster.trace_) + repr([s.tolist() for s in said])
    return to_bytes(booster) + hashlib.sha256(text.encode()).digest()


@pytest.mark.parametrize("variant", ["samme", "gentle", "real", "mh"])
def test_mutated_file_is_refused_without_crash_hang_or_much_memory(variant):
    data = booster_file(variant, store_weights=variant == "real")
    report = attack_in_child(probe, Mutations(data, range(N_MUTATIONS)), original=data, batch=150)
    assert report.defects == 0, "\n".join(report.examples)
    assert report.clean_error > 0.5 * report.files


def forged(change, **parameters):
    parts = Parts.of(booster_file(**parameters))
    table = parts.table
    change(table["meta"])
    return parts.with_table(table).sealed()


TREE = ["DecisionTreeClassifier", {"max_depth": 2}]


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        ({"$estimator": ["os", {}]}, "unknown class: 'os'"),
        ({"$estimator": ["load", {"path": "x"}]}, "unknown class: 'load'"),
        ({"$estimator": ["sklearn.svm.SVC", {}]}, "unknown class: 'sklearn.svm.SVC'"),
        ({"$estimator": [TREE[0], {"max_depth": -2}]}, "max_depth=-2 of DecisionTreeClassifier"),
        ({"$estimator": [TREE[0], {"max_dept": 2}]}, "no parameter 'max_dept'"),
        ({"$estimator": TREE, "$tuple": []}, "not understood"),
        ({"$estimator": TREE[:1]}, "damaged"),
        (7, "estimator=7 of AdaBoostClassifier"),
        ("DecisionTreeClassifier", "estimator='DecisionTreeClassifier'"),
        ([{"$estimator": TREE}], r"estimator=\[Decision"),
    ],
)
def test_forged_base_learner_is_refused(estimator, words):
    def change(meta):
        meta["parameters"]["estimator"] = estimator

    with pytest.raises(InvalidFile, match=words):
        from_bytes(forged(change))


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"stop_reason": 5},
        {"stop_reason": "", "more": 1},
        {"reason": "x"},
        {"stop_reason": None},
    ],
)
def test_forged_trace_is_refused(attributes):
    def change(meta):
        if attributes:
            meta["attributes"] = attributes
        else:
            del meta["attributes"]

    with pytest.raises(InvalidFile):
        from_bytes(forged(change))
