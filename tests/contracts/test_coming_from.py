"""The guides for those who come from other libraries name what there is, there and here."""

import ast
import functools
import importlib
import inspect
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
)
from spinney.ensembles.gradient.automatic import USUAL
from spinney.errors import InvalidParameter

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PEERS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
PAGES = (*PEERS, "scikit-learn")
OURS = (GradientBoostingClassifier, GradientBoostingRegressor)
WORDS = {"None", "True", "False", "NaN"}
LOSS_PARAMETERS = {"delta", "alpha", "variance_power", "MultiQuantile", "calc_ders_range"}
"""What CatBoost writes into the text of its losses."""
SAYS_WITHOUT_A_NAME = ("not there", "not needed", "the ", "names of ", "more rules")
X = np.random.default_rng(0).integers(0, 9, size=(60, 3)).astype(float)
Y = (X[:, 0] + X[:, 1] > 8).astype(int)


@dataclass(frozen=True)
class Row:
    """A row of a table: what it is about, and its cells."""

    kind: str
    owners: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def theirs(self):
        return spans(self.cells[0])


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def cells_of(line):
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


@functools.cache
def rows_of(page):
    """All rows of all tables of a page; the first cell of the head says what they are about."""
    rows, head = [], None
    for line in (GUIDE / f"coming-from-{page}.md").read_text("utf-8").splitlines():
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells_of(line)
        elif not line.startswith("|---"):
            kind = head[0].partition("`")[0].strip()
            cells = (*cells_of(line), "", "")[:3]
            rows.append(Row(kind, tuple(spans(head[0])), cells))
    return rows


def installed(page):
    """The peer, if it is here in the version that the page is about."""
    if page == "catboost":
        why = "catboost is not in the test extra; its names are compared where it is installed"
        pytest.importorskip("catboost", reason=why)
    module = importlib.import_module("sklearn" if page == "scikit-learn" else page)
    text = (GUIDE / f"coming-from-{page}.md").read_text("utf-8")
    about = re.search(rf"(?:{PEERS.get(page, page)}|'s) \(?(\d+\.\d+)\)?", text).group(1)
    if not module.__version__.startswith(f"{about}."):
        pytest.skip(f"the page is about version {about}, and {module.__version__} is installed")
    return module


def parameters(function):
    """Names that a function takes; of a class, through ``**kwargs``, also those of its bases."""
    if not inspect.isclass(function):
        taken = inspect.signature(function).parameters.values()
        return {p.name for p in taken if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)} - {"self"}
    names = set()
    for base in function.__mro__:
        if "__init__" in vars(base):
            names |= parameters(base.__init__)
            taken = inspect.signature(base.__init__).parameters.values()
            if not any(p.kind is p.VAR_KEYWORD for p in taken):
                break
    return names


def find(module, name):
    """A class, function or method of a peer."""
    if module.__name__ == "sklearn":
        module = importlib.import_module("sklearn.ensemble")
    return functools.reduce(getattr, name.split("."), module)


def attributes(module, name):
    owner = find(module, name)
    names = {one for one in dir(owner) if not one.startswith("_")}
    if module.__name__ == "sklearn":
        names |= set(vars(owner(n_estimators=2).fit(X, Y)))
    return names


@functools.cache
def native_parameters(page):
    if page == "lightgbm":
        from lightgbm.basic import _ConfigAliases

        return {one for some in _ConfigAliases._get_all_param_aliases().values() for one in some}
    import xgboost

    names = {"quantile_alpha"}  # no default, so without it there is no objective
    objectives = ("reg:tweedie", "reg:pseudohubererror", "multi:softprob", "rank:ndcg")
    for objective in objectives:
        classes = 2 * objective.startswith("multi")
        setting = {"objective": objective, "booster": "dart", "num_class": classes, "nthread": 1}
        booster = xgboost.train(setting, xgboost.DMatrix(X, Y), 1)
        names |= set(keys_of(json.loads(booster.save_config())))
    return names


def keys_of(tree):
    if isinstance(tree, dict):
        yield from tree
    for below in (
        tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    ):
        yield from keys_of(below)


def objective_is_known(page, value):
    """Ask the peer itself. What it says of unknown ones is seen in ``test_unknown_objectives``."""
    module = installed(page)
    try:
        if page == "lightgbm":
            setting = {
                "objective": value,
                "verbose": -1,
                "num_class": 1 + value.startswith("multi"),
            }
            module.train(setting, module.Dataset(X, Y, group=[60]), 1)
        elif page == "xgboost":
            more = {"multi": {"num_class": 2}, "reg:q": {"quantile_alpha": 0.5}}.get(value[:5], {})
            setting = {"objective": value, "verbosity": 0, "nthread": 1, **more}
            module.train(setting, module.DMatrix(X, Y), 1)
        else:
            silent = {"verbose": 0, "allow_writing_files": False}
            module.CatBoost({"loss_function": value, "iterations": 1, **silent}).fit(X, Y)
    except Exception as error:  # noqa: BLE001 - each library has a class of its own
        return not re.search(
            r"Unknown objective|is not supported|Failed to parse|enum|unknown", str(error)
        )
    return True


def their_names(page, row):
    """What the first cell of a row may name; None: objectives."""
    module = installed(page)
    if row.kind in ("parameter of", "argument of"):
        return set().union(*(parameters(find(module, owner)) for owner in row.owners))
    if row.kind == "attribute or method of":
        return set().union(*(attributes(module, owner) for owner in row.owners))
    assert row.kind == "native parameter", row
    return native_parameters(page)


@functools.cache
def everything_theirs(page):
    names = set(LOSS_PARAMETERS if page == "catboost" else ())
    for row in rows_of(page):
        if row.kind in (
            "parameter of",
            "argument of",
            "attribute or method of",
            "native parameter",
        ):
            names |= their_names(page, row)
        names |= set(row.theirs)
    return names


@functools.cache
def our_names():
    names = set(spinney.ESTIMATORS) | {"save", "load"}
    for one in OURS:
        folds = one(max_iter=2, early_stopping="cv", cv=2).fit(
            pd.DataFrame(X, columns=list("abc")), Y
        )
        names |= {name for name in dir(folds) if not name.startswith("_")} | parameters(one)
        names |= parameters(one.fit) | parameters(one.predict)
    ranker = GradientBoostingRanker
    return names | parameters(ranker) | parameters(ranker.fit) | parameters(ranker.predict)


def check_ours(span, allowed):
    """Refuse a name, call, value or import that is not there."""
    if re.fullmatch(r'"[\w ]+"|\{.*\}', span):
        return  # a value
    call = ast.parse(f"f({span})", mode="eval").body
    for keyword in call.keywords:
        assert keyword.arg in allowed, f"{span}: no parameter {keyword.arg}"
        assert accepted(keyword.arg, ast.literal_eval(keyword.value)), span
    for argument in call.args:
        if span.startswith("spinney."):
            importlib.import_module(span.rpartition(".")[0])
            assert functools.reduce(getattr, span.split(".")[1:], spinney), span
            continue
        root = argument
        while not isinstance(root, ast.Name):
            root = root.value
        assert root.id in allowed, f"{span}: no {root.id} here"


def accepted(name, value):
    for one in (*OURS, GradientBoostingRanker, spinney.RandomForestClassifier):
        if name in parameters(one):
            try:
                one(**{name: value})._check_parameters()
            except InvalidParameter:
                continue
            return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_what_the_tables_say_of_us(page):
    rows = rows_of(page)
    assert len(rows) > 40
    for row in rows:
        here = row.cells[1]
        assert spans(here) or here.startswith(SAYS_WITHOUT_A_NAME), row
        if row.kind != "class of scikit-learn":
            for span in spans(here):
                check_ours(span, our_names())


@pytest.mark.parametrize("page", PAGES)
def test_remarks_name_what_there_is(page):
    installed(page)
    known = everything_theirs(page) | our_names() | WORDS
    for row in rows_of(page):
        if row.kind != "class of scikit-learn":
            for span in spans(row.cells[2]):
                if re.fullmatch(r"[A-Za-z_]\w*", span):
                    assert span in known, row
                else:
                    check_ours(span, known)


@pytest.mark.parametrize("page", PAGES)
def test_their_names_exist(page):
    for row in rows_of(page):
        if row.kind == "value of":
            for value in row.theirs:
                assert objective_is_known(page, value), value
        elif row.kind not in ("class of scikit-learn", "function or class of scikit-learn"):
            unknown = set(row.theirs) - their_names(page, row)
            assert not unknown, f"{row.kind} {row.owners}: no {sorted(unknown)}"


@pytest.mark.parametrize("page", PEERS)
def test_unknown_objectives(page):
    assert not objective_is_known(page, "no_such_loss")


@pytest.mark.parametrize("page", PAGES)
def test_no_parameter_is_left_out(page):
    """All arguments of constructors, ``fit``, ``predict``, and of the functions that are named."""
    module = installed(page)
    tables = {(row.kind, row.owners) for row in rows_of(page)}
    tables = {table for table in tables if table[0] in ("parameter of", "argument of")}
    if page != "scikit-learn":
        owners = {owner.partition(".") for _, some in tables for owner in some}
        assert {method for _, _, method in owners} == {"", "fit", "predict"}
    for kind, owners in tables:
        told = [row.theirs for row in rows_of(page) if (row.kind, row.owners) == (kind, owners)]
        for owner in owners:
            missing = parameters(find(module, owner)) - set().union(*told)
            assert not missing, f"{kind} {owner}: {sorted(missing)} should be in the table"
    if page == "scikit-learn":
        tables = [row.theirs for row in rows_of(page) if row.kind == "class of scikit-learn"]
        listed = set().union(*tables) | {"GradientBoostingClassifier", "GradientBoostingRegressor"}
        ensembles = importlib.import_module("sklearn.ensemble")
        assert set(ensembles.__all__) - listed == {"BaseEnsemble"}


@functools.cache
def their_defaults(page, owner):
    """What parameters are if nobody says; only those that the peer tells."""
    module = installed(page)
    if page == "xgboost":
        booster = module.XGBRegressor(n_estimators=1, n_jobs=1).fit(X, Y).get_booster()
        parts = json.loads(booster.save_config())["learner"]["gradient_booster"]
        return {**parts["tree_train_param"], **parts["gbtree_train_param"]}
    if page == "catboost":
        silent = {"verbose": 0, "allow_writing_files": False}
        return module.CatBoostRegressor(**silent).fit(X, Y).get_all_params()
    taken = inspect.signature(find(module, owner)).parameters.items()
    return {name: parameter.default for name, parameter in taken}


@pytest.mark.parametrize("page", PAGES)
def test_defaults_are_what_remarks_say(page):
    """Remarks such as "1 there, 20 here" and "31 in both"; of "auto", once rounds are given."""
    taken = inspect.signature(GradientBoostingRegressor).parameters.items()
    ours = {name: parameter.default for name, parameter in taken} | USUAL
    compared = 0
    for row in rows_of(page):
        number = r"(\d[\d.e-]*)"
        said = re.match(rf"{number} (in both|there)(?:, {number} here)?", row.cells[2])
        if row.kind != "parameter of" or not said or len(spans(row.cells[1])) != 1:
            continue
        theirs, where, here = said.groups()
        here = theirs if where == "in both" else here
        if here is not None:
            assert float(here) == ours[spans(row.cells[1])[0]], row
        told = their_defaults(page, row.owners[-1])
        for name in set(row.theirs) & set(told):
            assert float(theirs) == pytest.approx(float(told[name]), rel=1e-6), row
            compared += 1
    assert compared >= 2


def scikit_learn_classes():
    rows = [row for row in rows_of("scikit-learn") if row.kind == "class of scikit-learn"]
    return [(name, row) for row in rows for name in row.theirs]


def fitted(one):
    inner = importlib.import_module("sklearn.tree").DecisionTreeClassifier(max_depth=2)
    if "Regressor" in one.__name__:
        inner = importlib.import_module("sklearn.tree").DecisionTreeRegressor(max_depth=2)
    given = {"n_estimators": 2, "estimators": [("tree", inner)], "max_iter": 2}
    return one(**{name: given[name] for name in parameters(one) & set(given)}).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "row"), scikit_learn_classes(), ids=lambda one: one if isinstance(one, str) else ""
)
def test_the_import_is_all_that_changes(name, row):
    """Names, order and defaults; what ours take besides and do not have is what the table says."""
    installed("scikit-learn")
    module = importlib.import_module(
        "sklearn.tree" if "DecisionTree" in name else "sklearn.ensemble"
    )
    theirs, ours = getattr(module, name), getattr(spinney, name)
    wanted, there = (inspect.signature(one).parameters for one in (theirs, ours))
    assert [one for one in there if one in wanted] == sorted(wanted, key=list(there).index)
    for parameter in wanted.values():
        if parameter.default is not parameter.empty:
            assert there[parameter.name].default == parameter.default, parameter
    besides = {span for span in spans(row.cells[1]) if "=" not in span}
    assert set(there) - set(wanted) == besides - (set() if "voting" in there else {"voting"})
    for span in set(spans(row.cells[1])) - besides:
        check_ours(span, set(there))
    theirs, ours = fitted(theirs), fitted(ours)
    learnt = {one for one in vars(theirs) if one.endswith("_")}
    public = {one for one in (*dir(type(theirs)), *learnt) if not one.startswith("_")}
    public -= {"param"}  # a loop variable of scikit-learn's that nobody removed
    public = {one for one in public if hasattr(theirs, one)}  # some depend on the base learner
    assert {one for one in public if not hasattr(ours, one)} <= set(spans(row.cells[2]))
    for one in spans(row.cells[2]):
        assert hasattr(theirs, one), one
        assert not hasattr(ours, one), one


def test_functions_of_scikit_learn():
    installed("scikit-learn")
    rows = [row for row in rows_of("scikit-learn") if row.kind.startswith("function")]
    assert len(rows) > 5
    for row in rows:
        for path in row.theirs:
            module, _, name = path.rpartition(".")
            assert hasattr(importlib.import_module(module), name), path
