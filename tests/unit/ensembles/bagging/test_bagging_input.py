"""What bagging refuses, and in which words."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from spinney import BaggingClassifier, BaggingRegressor, IteratedBaggingRegressor
from spinney.errors import InvalidInput, InvalidParameter

IRIS, SPECIES = load_iris(return_X_y=True)


class Draws:
    """A sampler that says what it was told to say."""

    def __init__(self, counts):
        self.counts = counts

    def draw(self, n_rows, member, seed):
        del n_rows, member, seed
        return self.counts


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sampler": "bootstrp"}, "Did you mean 'bootstrap'"),
        ({"sampler": object()}, "draw\\(n_rows, member, seed\\)"),
        ({"aggregation": "mean"}, "'soft' or 'hard'"),
        ({"n_estimators": 0}, "an integer of at least 1"),
        ({"max_samples": 1.5}, "a float in \\(0, 1\\]"),
        ({"max_features": 5}, "max_features must be <= n_features"),
        ({"max_samples": 151, "bootstrap": False}, "max_samples=151 must be <= n_samples=150"),
        ({"sampler": "m_out_of_n"}, "max_samples is None. Set it"),
        ({"sampler": "poisson", "max_samples": 0.5}, "how many rows such a bag has"),
        ({"sampler": Draws(np.ones(150)), "max_samples": 0.5}, "sampler='Draws'"),
        ({"oob_score": True, "bootstrap": False}, "only available if bootstrap=True"),
        ({"oob_score": True, "sampler": "bayesian"}, "leaves rows out of bags"),
        ({"oob_score": True, "warm_start": True}, "only available if warm_start=False"),
        ({"estimator": LogisticRegression}, "an estimator with fit, predict"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else value,
)
@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_parameters(parameters, words, base):
    with pytest.raises(InvalidParameter, match=words):
        BaggingClassifier(**{"estimator": base, **parameters}).fit(IRIS, SPECIES)


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (np.ones(149), "shape \\(149,\\)"),
        (np.full(150, 0.5), "whole numbers of at least 0"),
        (-np.ones(150), "counts from -1 to -1"),
        (np.zeros(150), "add up to 0 for member 0"),
        (np.full(150, np.nan), "whole numbers of at least 0"),
        (np.full(150, 65), "64 times the rows there are"),
        (np.array(["a"] * 150), "type <U1"),
    ],
    ids=str,
)
def test_counts_of_own_samplers(base, counts, words):
    with pytest.raises(InvalidInput, match=words):
        BaggingClassifier(base, sampler=Draws(counts)).fit(IRIS, SPECIES)


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_groups_and_their_sampler_go_together(base):
    for sampler, groups in (("group", None), (None, SPECIES)):
        with pytest.raises(InvalidInput, match="groups go together"):
            BaggingClassifier(base, sampler=sampler).fit(IRIS, SPECIES, groups=groups)
    with pytest.raises(InvalidInput, match="groups has the shape \\(3,\\)"):
        BaggingClassifier(base, sampler="group").fit(IRIS, SPECIES, groups=[1, 2, 3])
    for missing in (np.nan, None):
        groups = [missing, *(np.arange(149) % 9).tolist()]
        with pytest.raises(InvalidInput, match="groups contains NaN"):
            BaggingClassifier(base, sampler="group").fit(IRIS, SPECIES, groups=groups)


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_labels_of_groups_do_not_matter(base):
    groups = np.arange(150) % 12
    texts = groups.astype(str)  # "10" comes before "2"
    told = [
        BaggingClassifier(base, sampler="group", random_state=0).fit(IRIS, SPECIES, groups=own)
        for own in (groups, texts, texts.astype(object), -groups)
    ]
    first, *others = (bag.predict_proba(IRIS).tobytes() for bag in told)
    assert all(other == first for other in others)


@pytest.mark.parametrize("base", [None, Ridge()], ids=str)
def test_numbers_have_no_classes_and_medians_no_vectors(base):
    with pytest.raises(InvalidParameter, match="numbers have none"):
        BaggingRegressor(base, sampler="stratified").fit(IRIS, SPECIES)
    with pytest.raises(InvalidParameter, match="one number per row, but y has 2"):
        BaggingRegressor(base, aggregation="median").fit(IRIS, IRIS[:, :2])


def test_parts_of_rows_for_members_that_take_no_weights():
    knn = KNeighborsClassifier()
    with pytest.raises(InvalidInput, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        BaggingClassifier(knn, sampler="bayesian").fit(IRIS, SPECIES)
    with pytest.raises(InvalidInput, match="takes no sample_weight"):
        BaggingClassifier(knn, bootstrap=False).fit(IRIS, SPECIES, np.full(150, 0.3))
    BaggingClassifier(knn, bootstrap=False).fit(IRIS, SPECIES, np.full(150, 2.0))
    BaggingClassifier(knn).fit(IRIS, SPECIES, np.full(150, 0.3))  # chances of a bootstrap


def test_regressors_are_no_classifiers():
    with pytest.raises(InvalidInput, match="which is no class of y"):
        BaggingClassifier(Ridge(), 2).fit(IRIS, SPECIES).predict(IRIS)


class Nonsense(Ridge):
    """Predicts what no regressor may."""

    def predict(self, X):
        return np.full(len(X), np.inf)


def test_members_that_answer_nonsense():
    with pytest.raises(InvalidInput, match=r"Nonsense\.predict gave .* not finite"):
        BaggingRegressor(Nonsense(), 2).fit(IRIS, SPECIES).predict(IRIS)


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_tables_that_do_not_fit(base):
    bag = BaggingClassifier(base, 3, random_state=0).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="3 features, but BaggingClassifier is expecting 4"):
        bag.predict(IRIS[:, :3])
    with pytest.raises(ValueError, match=r"2D|2-D|two|columns"):
        BaggingClassifier(base).fit(IRIS[:, 0], SPECIES)
    with pytest.raises(ValueError, match=r"inconsistent|rows|samples"):
        BaggingClassifier(base).fit(IRIS, SPECIES[:-1])


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_going_on_with_something_else(base):
    bag = BaggingClassifier(base, 3, warm_start=True, random_state=0).fit(IRIS, SPECIES)
    bag.set_params(n_estimators=5)
    with pytest.raises(InvalidInput, match="are not those it was fitted with"):
        bag.fit(IRIS[:100], SPECIES[:100])
    bag.set_params(max_features=2)
    with pytest.raises(InvalidInput, match="are not those it was fitted with"):
        bag.fit(IRIS, SPECIES)
    bag.set_params(n_estimators=2)
    with pytest.raises(InvalidParameter, match="larger or equal to len"):
        bag.fit(IRIS, SPECIES)


def test_iterated_bags_must_leave_rows_out():
    with pytest.raises(InvalidParameter, match="leaves rows out"):
        IteratedBaggingRegressor(bootstrap=False).fit(IRIS, SPECIES)
    with pytest.raises(InvalidParameter, match="a number of at least 1"):
        IteratedBaggingRegressor(tolerance=0.9).fit(IRIS, SPECIES)


@pytest.mark.parametrize("base", [LogisticRegression(), GaussianProcessClassifier()])
def test_one_class_is_told_with_its_name(base):
    with pytest.raises(InvalidInput, match="one class only, 'z', among the rows that a member"):
        BaggingClassifier(base, 2).fit(np.eye(8), ["z"] * 8)
