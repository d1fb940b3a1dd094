"""The contract of estimators that are made of others: copies, parameters, workers, processes."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

import spinney

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
CLASSES = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_features=2)),  # it draws: seeds must not depend on workers
    ("ours", spinney.RandomForestClassifier(7)),
]
NUMBERS = [
    ("ridge", Ridge()),
    ("tree", DecisionTreeRegressor(max_features=2)),
    ("ours", spinney.RandomForestRegressor(7)),
]
EVERY = {
    "EnsembleSelectionClassifier": {"estimators": CLASSES, "n_steps": 10, "n_bags": 3},
    "EnsembleSelectionRegressor": {"estimators": NUMBERS, "n_steps": 10, "n_bags": 3},
    "DynamicSelectionClassifier": {"pool": CLASSES, "method": "ola"},
    "KNORAEClassifier": {"pool": CLASSES},
    "KNORAUClassifier": {"pool": CLASSES},
    "BumpingClassifier": {"estimator": DecisionTreeClassifier(max_depth=2, max_features=2)},
    "BumpingRegressor": {"estimator": DecisionTreeRegressor(max_depth=2, max_features=2)},
}
every_estimator = pytest.mark.parametrize("name", EVERY)


def made(name, **changes):
    return getattr(spinney, name)(**{**EVERY[name], "random_state": 0, **changes})


def said(model):
    return (model.predict_proba if is_classifier(model) else model.predict)(X).tobytes()


def test_every_estimator_of_the_package_is_here():
    here = "spinney.ensembles.selecting."
    assert {n for n, module in spinney.ESTIMATORS.items() if module.startswith(here)} == set(EVERY)


@every_estimator
def test_answers_are_the_same_for_any_number_of_workers_and_every_backend(name):
    expected = said(made(name).fit(X, Y))
    assert said(made(name, n_jobs=1).fit(X, Y)) == expected
    for backend in ("threading", "loky", "multiprocessing"):
        with parallel_config(backend, n_jobs=2):
            assert said(made(name, n_jobs=2).fit(X, Y)) == expected
    assert said(made(name, random_state=1).fit(X, Y)) != expected or name == "BumpingClassifier"


@every_estimator
def test_default_estimators_are_the_same_for_any_number_of_threads(name):
    estimator = getattr(spinney, name)
    models = [estimator(random_state=3, n_jobs=n).fit(X, Y) for n in (1, 2, None)]
    assert len({said(model) for model in models}) == 1


@every_estimator
def test_copies_say_the_same_and_clones_have_learnt_nothing(name):
    model = made(name).fit(X, Y)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert said(again) == said(model)
    twin = clone(model)
    assert not hasattr(twin, "model_")
    assert repr(twin) == repr(model)
    assert said(twin.fit(X, Y)) == said(model)
    assert said(model.fit(X, Y)) == said(twin)


@every_estimator
def test_parameters_are_left_alone_and_typos_refused(name):
    model = made(name)
    before = repr(sorted(model.get_params(deep=True).items(), key=str))
    model.fit(X, Y)
    assert repr(sorted(model.get_params(deep=True).items(), key=str)) == before
    with pytest.raises(TypeError, match="random_state"):
        model.set_params(random_stat=0)
    with pytest.raises(TypeError, match="n_jobs"):
        getattr(spinney, name)(n_job=1)


@every_estimator
def test_members_given_are_not_touched(name):
    given = copy.deepcopy(EVERY[name])
    made(name, **given).fit(X, Y)
    members = next(
        value for key, value in given.items() if key in ("estimators", "pool", "estimator")
    )
    for item in members if isinstance(members, list) else [("one", members)]:
        assert not hasattr(item[1], "n_features_in_")
        assert item[1].get_params().get("random_state") is None


@every_estimator
def test_tools_of_scikit_learn_take_it(name):
    model = make_pipeline(StandardScaler(), made(name))
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.8
    grid = {
        "BumpingClassifier": {"n_estimators": [2, 5]},
        "BumpingRegressor": {"n_estimators": [2]},
    }
    default = {"n_steps": [1, 5]} if "Ensemble" in name else {"k": [1, 7]}
    search = GridSearchCV(made(name), grid.get(name, default), cv=3).fit(X, Y)
    assert search.best_score_ > 0.8


@every_estimator
def test_weights_are_routed_through_metadata(name):
    weights = np.where(Y == 1, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = made(name).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, inner).fit(X, Y, sample_weight=weights)
    direct = made(name).fit(StandardScaler().fit_transform(X), Y, sample_weight=weights)
    assert said(pipeline[-1]) == said(direct)


@every_estimator
def test_what_it_takes_is_what_all_members_take(name):
    tags = get_tags(getattr(spinney, name)()).input_tags
    assert tags.sparse
    assert tags.allow_nan
    if name.startswith("Bumping"):
        return
    members = {"estimators" if "Ensemble" in name else "pool": [("line", LogisticRegression())]}
    if name.endswith("Regressor"):
        members = {"estimators": [("line", Ridge())]}
    tags = get_tags(getattr(spinney, name)(**members)).input_tags
    assert tags.sparse
    assert not tags.allow_nan


SCRIPT = """
import json, os
import numpy as np
import spinney
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
def work():
    made = [
        spinney.EnsembleSelectionClassifier(random_state=0, cv=3, n_steps=5),
        spinney.KNORAEClassifier(random_state=0),
        spinney.BumpingClassifier(random_state=0),
    ]
    return [float(m.fit(X, y).predict_proba(X).sum(axis=0) @ [1, 7, 49]) for m in made]
before = work()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.write(writing, json.dumps(work()).encode())
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps([before, json.loads(os.read(reading, 10000)), work()]))
"""


def test_forked_children_select_like_their_parent():
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    before, inside, after = json.loads(done.stdout)
    assert before == inside == after
