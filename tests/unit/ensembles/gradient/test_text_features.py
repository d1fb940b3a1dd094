"""Columns of text in gradient boosting: what is read, from which rows, and what stays the same."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.ensembles.gradient.reviews import booster, reviews

import spinney
from spinney import GradientBoostingRegressor, RandomForestClassifier
from spinney.data.derivation import Rule
from spinney.data.table import Kind
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes

X, Y = reviews()
FITTED = booster().fit(X[:800], Y[:800])


def words_counted(fitted, place=0):
    return fitted.model_.derivation.words(place)


# What is learnt


def test_a_word_inside_texts_is_found():
    assert FITTED.score(X[800:], Y[800:]) == 1.0
    assert words_counted(FITTED)[0] == "broken"
    as_categories = booster(text_features=False).fit(X[:800], Y[:800])
    assert as_categories.score(X[800:], Y[800:]) < 0.7


def test_the_default_finds_it_too():
    fitted = booster(max_iter="auto").fit(X[:800], Y[:800])
    assert fitted.automatic_.scheme == "folds"
    assert fitted.score(X[800:], Y[800:]) == 1.0


def test_a_rare_word_that_tells_is_preferred_to_frequent_ones_that_do_not():
    rng = np.random.default_rng(0)
    ranks = rng.zipf(1.3, (3000, 30)) % 3000
    texts = np.array([" ".join(f"w{k}" for k in row) for row in ranks], object)
    y = np.array(["w97" in text.split() for text in texts]) * 3.0 + 0.1 * rng.normal(size=3000)
    fitted = GradientBoostingRegressor(max_iter=50, random_state=0)
    fitted.fit(texts[:2000, np.newaxis], y[:2000])
    assert words_counted(fitted)[0] == "w97"
    assert fitted.score(texts[2000:, np.newaxis], y[2000:]) > 0.95


def test_how_long_a_text_is_is_told():
    texts = np.array([" ".join(["so"] * (k % 7 + 3) + [str(k)]) for k in range(400)], object)
    y = np.arange(400) % 7
    model = GradientBoostingRegressor(max_iter=60).fit(texts[:300, np.newaxis], y[:300])
    assert model.score(texts[300:, np.newaxis], y[300:]) > 0.99


def test_noise_is_not_learnt():
    rng = np.random.default_rng(0)
    y = rng.permutation(Y)
    fitted = booster(max_iter="auto").fit(X[:800], y[:800])
    assert fitted.score(X[800:], y[800:]) < 0.65


def test_texts_leave_the_model_but_their_words_stay():
    assert FITTED.model_.schema.kinds == (Kind.TEXT, Kind.NUMERIC)
    assert FITTED.model_.schema.levels == (None, None)
    assert X["review"][0].encode() not in to_bytes(FITTED)
    assert b"broken" in to_bytes(FITTED)


@pytest.mark.parametrize("place", [0, 4, 39])
@pytest.mark.parametrize("kind", ["labels", "classes", "numbers"])
def test_a_word_that_decides_one_of_many_targets_is_found(kind, place):
    rng = np.random.default_rng(0)
    decided = (Y == "bad") * 1
    if kind == "numbers":
        targets, model = rng.normal(size=(len(Y), 40)), GradientBoostingRegressor(max_iter=1)
        targets[:, place] += 3 * decided
    else:
        n_classes = 2 if kind == "labels" else 5
        targets, model = rng.integers(0, n_classes, (len(Y), 40)), booster(max_iter=1)
        targets[:, place] = decided if kind == "labels" else 4 * decided + rng.integers(0, 2, 1200)
    assert words_counted(model.fit(X, targets))[0] == "broken"


def test_neither_the_order_of_labels_nor_that_of_their_classes_chooses_words():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, (len(Y), 3))
    labels[:, 1] = 2 * (labels[:, 1] // 2) + (Y == "bad")
    chosen = words_counted(booster(max_iter=1).fit(X, labels))
    assert chosen[0] == "broken"
    for others in (labels[:, ::-1], rng.permutation(8)[labels]):
        assert set(words_counted(booster(max_iter=1).fit(X, others))) == set(chosen)


# Which columns are texts


@pytest.mark.parametrize(
    ("params", "is_text"),
    [
        ({}, True),
        ({"text_features": True}, True),
        ({"text_features": ["review"]}, True),
        ({"text_features": (0,)}, True),
        ({"text_features": []}, False),
        ({"text_features": False}, False),
        ({"categorical_features": ["review"]}, False),
        ({"categorical_features": [True, False]}, False),
        ({"text_features": True, "categorical_features": ["review"]}, False),
    ],
    ids=str,
)
def test_who_decides_what_is_text(params, is_text):
    fitted = booster(max_iter=2, **params).fit(X[:300], Y[:300])
    assert (fitted.model_.schema.kinds[0] is Kind.TEXT) is is_text


@pytest.mark.parametrize("wish", ["auto", True])
def test_a_column_that_pairs_name_stays_a_category(wish):
    table = X[:300].assign(kind=np.resize(["a", "b"], 300))
    pairs = {"text_features": wish, "category_pairs": [("review", "kind")]}
    fitted = booster(max_iter=2, **pairs).fit(table, Y[:300])
    assert fitted.model_.schema.kinds[0] is Kind.CATEGORICAL


def category_types():
    """The reviews as categories by their type, in frames of every kind that has one."""
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = X[:300].astype({"review": "category"})
    frame = polars.DataFrame({"review": X["review"][:300].tolist(), "x": X["x"][:300].to_numpy()})
    an_enum = polars.Enum(frame["review"].unique(maintain_order=True))
    return {
        "pandas": table,
        "arrow": arrow.Table.from_pandas(table),
        "categorical": frame.with_columns(polars.col("review").cast(polars.Categorical)),
        "enum": frame.with_columns(polars.col("review").cast(an_enum)),
    }


@pytest.mark.parametrize("source", ["pandas", "arrow", "categorical", "enum"])
def test_a_column_of_a_categorical_type_stays_a_category(source):
    table = category_types()[source]
    models = {}
    for wish in ("auto", True, ["review"]):
        fitted = booster(max_iter=2, text_features=wish).fit(table, Y[:300])
        models[str(wish)] = fitted.model_
    kinds = [model.schema.kinds[0] for model in models.values()]
    assert kinds == [Kind.CATEGORICAL, Kind.CATEGORICAL, Kind.TEXT]
    weighted = booster(max_iter=2).fit(table, Y[:300], sample_weight=np.resize([0, 1, 2], 300))
    assert weighted.model_.schema.kinds[0] is Kind.CATEGORICAL
    plain = booster(max_iter=2, text_features=False).fit(X[:300], Y[:300])
    assert models["auto"].to_bytes() == plain.model_.to_bytes()


@pytest.mark.parametrize(
    ("params", "other"),
    [
        ({"categorical_features": ["review"]}, "categorical_features"),
        ({"categorical_features": [True, False, False]}, "categorical_features"),
        ({"category_pairs": [(0, 2)]}, "category_pairs"),
    ],
)
def test_a_column_is_not_both_a_text_and_a_category(params, other):
    table = X[:300].assign(kind=np.resize(["a", "b"], 300))
    words = f"text_features and {other} both name 'review'.*Leave it out of one"
    with pytest.raises(InvalidParameter, match=words):
        booster(text_features=["review"], **params).fit(table, Y[:300])


def test_names_that_come_again_stay_categories():
    table = X[:800].assign(name=np.resize(X["review"][:100], 800))[["name", "x"]]
    assert booster(max_iter=2).fit(table, Y[:800]).model_.schema.kinds[0] is Kind.CATEGORICAL
    wished = booster(max_iter=2, text_features=["name"]).fit(table, Y[:800])
    assert wished.model_.schema.kinds[0] is Kind.TEXT


def test_others_go_on_to_see_categories():
    forest = RandomForestClassifier(n_estimators=2).fit(X[:300], Y[:300])
    assert forest.model_.schema.kinds[0] is Kind.CATEGORICAL
    drop_in = spinney.HistGradientBoostingClassifier(max_iter=2).fit(X[:200], Y[:200])
    assert drop_in.model_.schema.kinds[0] is Kind.CATEGORICAL


# What must not matter


def test_a_weight_is_a_repetition():
    weights = np.random.default_rng(0).integers(0, 9, 800)
    repeated = np.repeat(np.arange(800), weights)
    weighted = booster().fit(X[:800], Y[:800], sample_weight=weights)
    copied = booster().fit(X.iloc[repeated], Y[repeated])
    assert weighted.model_.derivation == copied.model_.derivation
    np.testing.assert_array_equal(weighted.predict_proba(X), copied.predict_proba(X))


def test_a_weight_is_a_repetition_for_numbers():
    rng = np.random.default_rng(0)
    weights, y = rng.integers(1, 4, 800), rng.normal(size=800) + (Y[:800] == "bad")
    repeated = np.repeat(np.arange(800), weights)
    models = [
        GradientBoostingRegressor(max_iter=5, random_state=0).fit(*given).model_
        for given in ((X[:800], y, weights), (X.iloc[repeated], y[repeated]))
    ]
    assert models[0].derivation == models[1].derivation
    np.testing.assert_array_equal(models[0].predictions(X), models[1].predictions(X))


def test_threads_do_not_matter():
    models = [booster(n_jobs=n, max_iter="auto").fit(X, Y).model_.to_bytes() for n in (1, 2)]
    assert models[0] == models[1]


def test_the_order_of_rows_does_not_choose_words():
    order = np.random.default_rng(0).permutation(800)
    assert words_counted(booster().fit(X.iloc[order], Y[order])) == words_counted(FITTED)


def test_the_kind_of_frame_does_not_matter():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"review": X["review"].tolist(), "x": X["x"].to_numpy()})
    np.testing.assert_array_equal(FITTED.predict_proba(frame), FITTED.predict_proba(X))
    again = booster().fit(frame[:800], Y[:800])
    assert again.model_.to_bytes() == FITTED.model_.to_bytes()


def test_words_are_learnt_from_rows_that_train():
    """Rows that only validate must not choose words: their targets would be looked at."""
    held_out = X[800:].assign(review=["only here it decides"] * 200 + ["not so there"] * 200)
    y_val = np.repeat(["bad", "good"], 200)
    fitted = booster(early_stopping=True).fit(X[:800], Y[:800], X_val=held_out, y_val=y_val)
    assert words_counted(fitted) == words_counted(booster().fit(X[:800], Y[:800]))


def test_folds_choose_words_of_their_own():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 2000, 40)) for _ in range(300)]
    table, y = pd.DataFrame({"text": texts}), rng.integers(0, 2, 300)
    fitted = booster(max_iter=60, early_stopping="cv", cv=3, max_leaf_nodes=4, min_samples_leaf=2)
    fitted.fit(table, y)
    # Words chosen by all rows would promise that noise can be learnt: -0.59 after 60 rounds.
    assert fitted.cv_score_.max() < -0.68
    assert fitted.n_iter_ < 20


# Rows to predict


def test_missing_texts_are_missing():
    table = X.assign(review=X["review"].where(np.arange(len(X)) % 4 > 0, None))
    y = np.where(table["review"].isna(), "bad", "good")
    fitted = booster().fit(table[:800], y[:800])
    assert fitted.score(table[800:], y[800:]) == 1.0
    assert (fitted.predict(table.assign(review=None)) == "bad").all()
    derived = fitted.model_.conform(table[:1], "the model")
    assert all(np.isnan(column.dense(1)[0]) for column in derived.columns[:-1])


def test_unknown_words_do_nothing():
    row = pd.DataFrame({"review": ["abc defg hi"], "x": [0.0]})
    same = row.assign(review="xyz uvwt no")  # as long, as many words
    assert FITTED.predict_proba(row).tolist() == FITTED.predict_proba(same).tolist()
    assert FITTED.predict(row.assign(review="it is BROKEN!"))[0] == "bad"


def test_one_row_is_predicted_as_many_are():
    compiled = FITTED.compile()
    expected = FITTED.predict_proba(X[:30])
    for k in range(30):
        np.testing.assert_array_equal(compiled([X["review"][k], X["x"][k]]), expected[k])
        np.testing.assert_array_equal(FITTED.predict_proba(X[k : k + 1])[0], expected[k])
    missing = FITTED.predict_proba(X[:1].assign(review=None))[0]
    np.testing.assert_array_equal(compiled([None, X["x"][0]]), missing)


def test_a_file_gives_the_same_model_back():
    again = from_bytes(to_bytes(FITTED))
    assert again.model_ == FITTED.model_
    np.testing.assert_array_equal(again.predict_proba(X), FITTED.predict_proba(X))
    assert to_bytes(again) == to_bytes(FITTED)


def test_a_warm_start_goes_on():
    half = booster(max_iter=10, warm_start=True).fit(X[:800], Y[:800])
    whole = half.set_params(max_iter=20).fit(X[:800], Y[:800])
    np.testing.assert_array_equal(whole.predict_proba(X), FITTED.predict_proba(X))


# What is refused


@pytest.mark.parametrize(
    ("wish", "error", "message"),
    [
        ("yes", InvalidParameter, "text_features='yes': expected 'auto', True, False"),
        (None, InvalidParameter, "text_features=None"),
        (1, InvalidParameter, "text_features=1"),
        (["x"], InvalidInput, "'x', which is no column of text. Columns of text: 'review'"),
        (["revue"], InvalidInput, "'revue', which is no feature of X. .*'review'"),
        ([2], InvalidInput, "text_features holds 2: expected names, or positions from 0 to 1"),
        ([True], InvalidInput, "text_features holds True"),
    ],
)
def test_what_is_no_text_feature_is_refused(wish, error, message):
    with pytest.raises(error, match=message):
        booster(text_features=wish).fit(X[:300], Y[:300])


def test_numbers_are_no_texts():
    with pytest.raises(InvalidInputType, match=r"'review' is numeric, but .* on text. Give text"):
        FITTED.predict(X.assign(review=1.0))


def test_texts_have_no_direction():
    with pytest.raises(InvalidInput, match="Texts have no order, so 'review'"):
        booster(monotonic_cst={"review": 1}).fit(X[:300], Y[:300])


def test_interactions_of_texts_are_those_of_the_column():
    fitted = booster(interaction_cst="no_interactions").fit(X[:800], Y[:800])
    owners = np.array([f.places[0] for f in fitted.model_.derivation.features])
    for tree in fitted.model_.forest:
        assert len(set(owners[tree.feature[tree.feature >= 0]])) <= 1


# The time between dates


def test_the_time_between_two_dates_is_derived():
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**7, 1500), unit="s")
    days = rng.integers(0, 10, 1500)
    table = pd.DataFrame({"from": start, "to": start + pd.to_timedelta(days, unit="D")})
    fitted = GradientBoostingRegressor(max_iter=60).fit(table[:1000], days[:1000])
    assert fitted.model_.forest.schema.names[-1] == "from and to (elapsed)"
    assert fitted.score(table[1000:], days[1000:]) > 0.99
    without = GradientBoostingRegressor(max_iter=60, date_features=False)
    assert without.fit(table[:1000], days[:1000]).score(table[1000:], days[1000:]) < 0.95
    compiled = fitted.compile()
    assert compiled([table["from"][0], table["to"][0]]) == fitted.predict(table[:1])[0]
    again = from_bytes(to_bytes(fitted))
    assert again.model_ == fitted.model_
    apart = GradientBoostingRegressor(max_iter=2, interaction_cst="no_interactions")
    rules = [f.rule for f in apart.fit(table, days).model_.derivation.features]
    assert Rule.ELAPSED not in rules
