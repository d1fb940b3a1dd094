"""Learning to rank: queries, weights of queries, early stopping by queries, files, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

import spinney
from spinney import GradientBoostingRanker
from spinney._native import _ext
from spinney.ensembles.gradient.queries import GivenQueries
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain import explain_split, permutation_importance
from spinney.report import write_report
from spinney.theory import average_precision, ndcg

N, N_QUERIES = 600, 40
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 5)).round(2)
QID = RNG.integers(0, N_QUERIES, N)
Y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=N)), 0, 4).astype(int)
ISAS = ["portable", "avx2", "avx512"]
ISAS = ISAS[: ISAS.index(_ext.best_isa()) + 1]


def ranker(**parameters):
    return GradientBoostingRanker(
        **{"max_iter": 8, "min_samples_leaf": 5, "random_state": 0, **parameters}
    )


def labels(loss):
    return np.minimum(Y, 1) if loss == "map" else Y


def fingerprint(*rows, qid=QID, **parameters):
    rows = rows or (X, Y)
    return ranker(**parameters).fit(*rows, qid=qid).model_.fingerprint


@pytest.mark.parametrize("loss", ["ndcg", "map", "pairwise"])
def test_relevant_rows_come_first(loss):
    y = labels(loss)
    model = ranker(loss=loss, max_iter=40).fit(X[:450], y[:450], qid=QID[:450])
    held_out = model.score(X[450:], y[450:], qid=QID[450:])
    metric = average_precision if loss == "map" else ndcg
    chance = metric(y[450:], np.zeros(150), qid=QID[450:], k=10).mean
    assert held_out > chance + 0.12
    assert model.score(X[:450], y[:450], qid=QID[:450]) > 0.9


@pytest.mark.parametrize("loss", ["ndcg", "map", "pairwise"])
@pytest.mark.parametrize("early_stopping", [False, True, "cv"])
def test_bits_depend_on_neither_threads_nor_instruction_set_nor_row_order(loss, early_stopping):
    wanted = {"loss": loss, "early_stopping": early_stopping, "cv": 2, "max_iter": 4}
    y, shuffled = labels(loss), RNG.permutation(N)
    before, found = _ext.active_isa(), set()
    try:
        for isa in ISAS:
            _ext.use_isa(isa)
            for n_jobs in (1, 2, 3, 7):
                found.add(fingerprint(X, y, **wanted, n_jobs=n_jobs))
            rows = (X[shuffled], y[shuffled])
            found.add(fingerprint(*rows, qid=QID[shuffled], **wanted))
    finally:
        _ext.use_isa(before)
    assert len(found) == 1


def test_sizes_of_neighbours_are_queries_like_any_labels():
    order = np.argsort(QID, kind="stable")
    sizes = np.bincount(QID)
    by_size = ranker().fit(X[order], Y[order], group=sizes[sizes > 0])
    assert by_size.model_.fingerprint == fingerprint()
    named = pd.Series([f"query {number:03}" for number in QID])
    assert fingerprint(qid=named) == fingerprint()


@pytest.mark.parametrize("loss", ["ndcg", "map", "pairwise"])
def test_a_weight_is_the_query_so_many_times(loss):
    y, weights = labels(loss), QID % 4
    parts = [np.flatnonzero(weights > part) for part in range(3)]
    rows = np.concatenate(parts)
    repeated = [f"{QID[row]} {part}" for part in range(3) for row in parts[part]]
    once = ranker(loss=loss).fit(X[rows], y[rows], qid=repeated)
    weighted = ranker(loss=loss).fit(X, y, weights, qid=QID)
    for name, numbers in once.model_.arrays.items():
        if name != "count":  # rows, whatever they weigh
            assert np.array_equal(weighted.model_.arrays[name], numbers), name
    assert weighted.score(X, y, weights, qid=QID) == pytest.approx(
        once.score(X[rows], y[rows], qid=repeated)
    )


def test_rows_of_weight_zero_are_as_if_absent():
    weights = np.ones(N)
    weights[::7] = 0.0
    there = weights > 0
    assert (
        ranker().fit(X, Y, weights, qid=QID).model_.fingerprint
        == ranker().fit(X[there], Y[there], qid=QID[there]).model_.fingerprint
    )


def test_other_weights_multiply_what_queries_say():
    heavy = np.where(QID % 2, 1.5, 0.5)
    model = ranker().fit(X, Y, heavy, qid=QID)
    assert model.model_.fingerprint != fingerprint()


def test_without_queries_all_rows_are_one_and_weights_repeat_them():
    alone = ranker().fit(X, Y)
    assert alone.model_.fingerprint == fingerprint(qid=np.zeros(N))
    weights = np.arange(N) % 3
    rows = np.repeat(np.arange(N), weights)
    assert (
        ranker().fit(X, Y, weights).model_.fingerprint
        == ranker().fit(X[rows], Y[rows]).model_.fingerprint
    )


def test_queries_with_nothing_to_order_change_nothing():
    same = np.where(QID == 3, 2, Y)
    there = QID != 3
    one = ranker(min_samples_leaf=1, max_bins=255).fit(X, same, qid=QID)
    none = ranker().fit(X, np.full(N, 2), qid=QID)
    assert np.ptp(none.predict(X)) == 0.0
    assert ranker().fit(X[there], Y[there], qid=QID[there]).n_iter_ == one.n_iter_


def test_held_out_rows_are_whole_queries():
    given = GivenQueries(X=X, y=Y, qid=QID)
    reading = given.read(ranker()._intake_settings(multi_output=False))
    for fraction, expected in ((0.25, N_QUERIES // 4), (3, 3)):
        held_out = given.drawn(reading, fraction, 5)
        validation, train = set(QID[held_out]), set(np.delete(QID, held_out))
        assert len(validation) == expected
        assert not validation & train


def test_folds_are_whole_queries():
    model = ranker(early_stopping="cv", cv=4, max_iter=15, n_iter_no_change=15)
    model.fit(X, Y, qid=QID)
    assert len(model.cv_score_) == 16
    assert model.n_iter_ == max(int(np.argmax(model.cv_score_)), 1)
    by_splitter = ranker(early_stopping="cv", cv=GroupKFold(4), max_iter=3).fit(X, Y, qid=QID)
    assert by_splitter.n_iter_ <= 3
    pairs = [(np.arange(300), np.arange(300, N))]
    with pytest.raises(InvalidInput, match="divides a group"):
        ranker(early_stopping="cv", cv=pairs).fit(X, Y, qid=QID)


@pytest.mark.parametrize("scoring", ["loss", "ndcg", "map"])
@pytest.mark.parametrize("eval_at", [None, 3])
def test_rounds_are_measured_by_the_metric_of_queries(scoring, eval_at):
    y = labels("map")
    train, test = QID < 30, QID >= 30
    model = ranker(early_stopping=True, scoring=scoring, eval_at=eval_at)
    model.fit(
        X[train], y[train], qid=QID[train], X_val=X[test], y_val=y[test], qid_val=QID[test] - 30
    )
    metric = average_precision if scoring == "map" else ndcg
    for rows, found in ((train, model.train_score_), (test, model.validation_score_)):
        stages = [np.zeros(rows.sum()), *model.staged_predict(X[rows])]
        expected = [metric(y[rows], s, qid=QID[rows], k=eval_at).mean for s in stages]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert model.score(X[test], y[test], qid=QID[test]) == pytest.approx(found[-1])


def test_validation_rows_of_weight_zero_are_as_if_absent():
    train, test = QID < 30, QID >= 30
    weights = np.ones(test.sum())
    weights[::3] = 0.0
    scores = []
    for rows, given in ((np.arange(test.sum()), weights), (np.flatnonzero(weights), None)):
        model = ranker(early_stopping=True).fit(
            X[train],
            Y[train],
            qid=QID[train],
            X_val=X[test][rows],
            y_val=Y[test][rows],
            qid_val=QID[test][rows],
            sample_weight_val=given,
        )
        scores.append(model.validation_score_.tolist())
    assert scores[0] == scores[1]


def test_offsets_are_scores_to_begin_with():
    first = ranker(max_iter=5).fit(X, Y, qid=QID)
    known = first.predict(X)
    more = ranker(max_iter=5).fit(X, Y, qid=QID, offset=known)
    np.testing.assert_allclose(
        more.predict(X, offset=known), ranker(max_iter=10).fit(X, Y, qid=QID).predict(X)
    )
    with pytest.raises(InvalidInput, match="was fitted with offset="):
        more.predict(X)


def test_warm_start_goes_on_to_the_same_model():
    model = ranker(max_iter=3, warm_start=True, subsample=0.7).fit(X, Y, qid=QID)
    model.set_params(max_iter=8).fit(X, Y, qid=QID)
    assert model.model_.fingerprint == fingerprint(subsample=0.7)


def test_files_and_pickles_give_the_same_ranker(tmp_path):
    gains = [0, 1, 2, 5, 9]
    model = ranker(label_gain=gains, early_stopping=True).fit(X, Y, qid=QID)
    spinney.save(model, tmp_path / "ranker.spinney")
    for again in (spinney.load(tmp_path / "ranker.spinney"), pickle.loads(pickle.dumps(model))):
        assert type(again) is GradientBoostingRanker
        assert again.get_params() == model.get_params()
        assert again.predict(X).tobytes() == model.predict(X).tobytes()
        assert again.score(X, Y, qid=QID) == model.score(X, Y, qid=QID)
        assert again.validation_score_.tolist() == model.validation_score_.tolist()
        assert again.model_.target.task == "ranking"


def test_callbacks_and_verbose_rounds_see_the_metric(capsys):
    seen = []
    model = ranker(verbose=2, max_iter=2).fit(X, Y, qid=QID, callbacks=seen.append)
    assert [view.round for view in seen] == [1, 2]
    assert seen[-1].train_score == model.train_score_[-1]
    assert "training ndcg@10 0." in "".join(capsys.readouterr())


def test_gains_of_their_own_change_what_is_learnt():
    linear = fingerprint(label_gain=np.arange(5.0))
    assert linear != fingerprint()
    assert fingerprint(label_gain=[0, 1, 3, 7, 15]) == fingerprint()


@pytest.mark.parametrize(
    "parameters", [{"truncation": 1}, {"normalize": False}, {"loss": "pairwise"}]
)
def test_parameters_change_the_model(parameters):
    assert fingerprint(**parameters) != fingerprint()


def test_all_pairs_know_no_truncation():
    wanted = {"loss": "pairwise", "truncation": 1}
    assert fingerprint(**wanted) == fingerprint(**wanted | {"truncation": 30})


def test_rankers_have_no_intervals_and_are_no_regressors():
    model = ranker().fit(X, Y, qid=QID)
    assert not hasattr(model, "calibrate")
    assert not hasattr(model, "predict_interval")
    assert clone(model).get_params() == model.get_params()
    assert model.predict(X).shape == (N,)


def test_shared_tables_give_the_same_ranker():
    from spinney.ensembles.sharing import SharedTable

    coarse = X.round(0)
    rows = np.flatnonzero(QID < 30)
    shared = ranker().fit(SharedTable(coarse).rows(rows), Y[rows], qid=QID[rows])
    plain = ranker().fit(coarse[rows], Y[rows], qid=QID[rows])
    assert shared.predict(coarse).tobytes() == plain.predict(coarse).tobytes()


def test_monotone_rankers_rise():
    model = ranker(monotonic_cst=[1, 0, 0, 0, 0]).fit(X, Y, qid=QID)
    grid = np.tile(X[:50], (2, 1))
    grid[50:, 0] += 1.0
    scores = model.predict(grid)
    assert (scores[50:] >= scores[:50]).all()


VAL = {"X_val": X, "y_val": Y}
REFUSED = {
    "both": ({"qid": QID, "group": [N]}, "qid and group are both given"),
    "short": ({"qid": QID[1:]}, r"qid has the shape \(599,\)"),
    "missing": ({"qid": np.where(QID == 1, np.nan, QID)}, "qid"),
    "sum": ({"group": [N - 1]}, "group adds up to 599, but there are 600 rows"),
    "empty": ({"group": [N, 0]}, r"group\[1\] is 0"),
    "validation without queries": ({"qid": QID, **VAL}, "qid_val or group_val was not"),
    "queries of validation only": ({"qid_val": QID, **VAL}, "qid or group was not"),
    "both of validation": (
        {"qid": QID, "qid_val": QID, "group_val": [N], **VAL},
        "qid_val and group_val are both given",
    ),
    "sum of validation": ({"qid": QID, "group_val": [1], **VAL}, "group_val adds up to 1"),
    "no validation": ({"qid": QID, "qid_val": QID}, "qid_val is provided, but X_val"),
    "weights": (
        {"qid": QID, "sample_weight": np.arange(1, N + 1)},
        "of the same query: a weight of k counts as the whole query k times",
    ),
    "weights of validation": (
        {"qid": QID, "qid_val": QID, "sample_weight_val": np.arange(1, N + 1), **VAL},
        "sample_weight_val is",
    ),
    "weights without queries": ({"sample_weight": np.linspace(1, 2, N)}, "expected whole weights"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_together_is_refused(name):
    given, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=message):
        ranker(early_stopping=True).fit(X, Y, **given)


def test_sizes_that_are_no_numbers_are_refused():
    with pytest.raises(InvalidInputType, match="group has type"):
        ranker().fit(X, Y, group=["a"] * N)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y - 1, "relevance is a whole number from 0"),
        (Y + 0.5, "relevance is a whole number from 0"),
        (Y * 20, "gains are 2..relevance - 1, and above 31.*label_gain"),
    ],
)
def test_labels_that_are_no_relevance_are_refused(y, message):
    with pytest.raises(InvalidInput, match=message):
        ranker().fit(X, y, qid=QID)
    with pytest.raises(InvalidInput, match="y_val"):
        ranker(early_stopping=True).fit(X, Y, qid=QID, X_val=X, y_val=y, qid_val=QID)


def test_a_message_names_the_row_as_it_was_given():
    y, weights = Y.copy(), np.ones(N)
    y[20], weights[:10] = -1, 0.0
    with pytest.raises(InvalidInput, match="Row 20 of y is -1"):
        ranker().fit(X, y, weights, qid=QID)
    weights[30] = 3.0
    with pytest.raises(InvalidInput, match=r"row 30\b.* of the same query"):
        ranker().fit(X, Y, weights, qid=QID)


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "ndgc"},
        {"loss": None},
        {"truncation": 0},
        {"truncation": None},
        {"truncation": 2.5},
        {"normalize": 1},
        {"scoring": "r2"},
        {"scoring": None},
        {"eval_at": 0},
        {"eval_at": [5]},
    ],
)
def test_bad_parameters_are_refused(parameters):
    ((name, value),) = parameters.items()
    with pytest.raises(InvalidParameter, match=f"{name}={value!r}".replace("[", r"\[")):
        ranker(**parameters).fit(X, Y, qid=QID)


@pytest.mark.parametrize("gains", ["abc", [1, 0], [], [-1, 0], [0.0, np.nan], 3, [[1], [2]]])
def test_bad_gains_are_refused(gains):
    with pytest.raises((InvalidInput, InvalidInputType), match="label_gain"):
        ranker(label_gain=gains).fit(X, np.minimum(Y, 1), qid=QID)


def test_too_few_queries_to_hold_out_are_refused():
    with pytest.raises(InvalidInput, match=r"1 of 1 queries.*early_stopping=False"):
        ranker(early_stopping=True).fit(X, Y)
    with pytest.raises(InvalidInput, match="cv=5 with early_stopping='cv': there are 2 queries"):
        ranker(early_stopping="cv").fit(X, Y, qid=QID % 2)


def test_whoever_asks_without_queries_is_told_what_to_do():
    model = ranker().fit(X, Y, qid=QID)
    for scoring in (None, "r2"):
        with pytest.raises(InvalidParameter, match=r"scoring=.* of a ranker.*qid=qid"):
            permutation_importance(model, X, Y, scoring=scoring)
    with pytest.raises(InvalidParameter, match="of a ranker"):
        permutation_importance(model.model_, X, Y)
    falls = permutation_importance(
        model, X, Y, scoring=lambda fitted, X, y: fitted.score(X, y, qid=QID), random_state=0
    )
    assert falls.values.argmax() in (0, 1, 2)  # noqa: PD011 - no frame
    with pytest.raises(InvalidInput, match="depends on the other rows of its query"):
        explain_split(model, 0, 0, X, Y)
    with pytest.raises(InvalidInput, match="a ranker predicts no relevance"):
        write_report(model, X, Y)


def test_sparse_tables_give_the_model_of_dense_ones():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((1500, 200), density=0.01, rng=rng, format="csr")
    y = (np.asarray(X[:, :20].sum(axis=1)).ravel() > 0.5).astype(int)
    qid = np.repeat(np.arange(50), 30)
    models = [
        spinney.GradientBoostingRanker(max_iter=3).fit(table, y, qid=qid).model_
        for table in (X, X.toarray())
    ]
    assert models[0].fingerprint == models[1].fingerprint
