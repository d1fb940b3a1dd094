"""How n_jobs, the environment and the machine give a number of threads."""

import os

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from spinney import parallelism
from spinney.errors import InvalidParameter
from spinney.parallelism import available, resolve_n_jobs


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    monkeypatch.delenv("SPINNEY_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.fixture
def _eight_processors(monkeypatch):
    monkeypatch.setattr(parallelism, "_native_threads", lambda: 8)


@pytest.fixture
def _fresh_workers():
    """Loky keeps workers, and so their environment, from one call to the next."""
    get_reusable_executor().shutdown(wait=True)
    yield
    get_reusable_executor().shutdown(wait=True)


@pytest.mark.usefixtures("_eight_processors")
class TestOnEightProcessors:
    @pytest.mark.parametrize(
        ("n_jobs", "threads"), [(-1, 8), (-2, 7), (-8, 1), (-9, 1), (-(10**30), 1)]
    )
    def test_negative_numbers_count_from_all_processors_as_in_joblib(self, n_jobs, threads):
        assert resolve_n_jobs(n_jobs) == threads

    @pytest.mark.parametrize("n_jobs", [1, 2, 8, 64, np.int64(3), np.uint8(3)])
    def test_a_positive_integer_is_taken_as_it_is(self, n_jobs):
        assert resolve_n_jobs(n_jobs) == n_jobs
        assert type(resolve_n_jobs(n_jobs)) is int

    def test_a_huge_integer_still_fits_the_native_type(self):
        assert resolve_n_jobs(10**30) == 2**31 - 1

    def test_none_is_all_processors(self):
        assert resolve_n_jobs(None) == 8

    @pytest.mark.parametrize(
        ("text", "threads"), [("3", 3), (" 3 ", 3), ("64", 64), ("", 8), (" ", 8)]
    )
    def test_the_environment_variable_stands_for_none(self, monkeypatch, text, threads):
        monkeypatch.setenv("SPINNEY_NUM_THREADS", text)
        assert resolve_n_jobs(None) == threads

    def test_the_environment_variable_changes_nothing_else(self, monkeypatch):
        monkeypatch.setenv("SPINNEY_NUM_THREADS", "3")
        assert (resolve_n_jobs(-1), resolve_n_jobs(-2), resolve_n_jobs(5)) == (8, 7, 5)

    @pytest.mark.parametrize("text", ["0", "-1", "2.0", "two", "+4", "1_0", "٣", "9" * 5000])
    def test_a_bad_environment_variable_is_refused_with_its_name_and_value(self, monkeypatch, text):
        monkeypatch.setenv("SPINNEY_NUM_THREADS", text)
        with pytest.raises(InvalidParameter) as caught:
            resolve_n_jobs(None)
        assert f"SPINNEY_NUM_THREADS={text!r}" in str(caught.value)
        assert "positive integer" in str(caught.value)
        assert resolve_n_jobs(-1) == 8

    @pytest.mark.parametrize("text", ["2", " 2 ", "2,1", "2 , 4"])
    def test_omp_num_threads_caps_what_is_available(self, monkeypatch, text):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert available() == 2
        assert (resolve_n_jobs(None), resolve_n_jobs(-1), resolve_n_jobs(-2)) == (2, 2, 1)

    def test_omp_num_threads_caps_no_explicit_number(self, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert resolve_n_jobs(5) == 5
        monkeypatch.setenv("SPINNEY_NUM_THREADS", "6")
        assert resolve_n_jobs(None) == 6

    def test_omp_num_threads_never_raises_the_number(self, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "64")
        assert available() == 8

    @pytest.mark.parametrize("text", ["", "0", "-2", "many", "2.5", ",2"])
    def test_an_omp_num_threads_that_openmp_would_not_understand_is_passed_over(
        self, monkeypatch, text
    ):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert available() == 8


@pytest.mark.parametrize("n_jobs", [0, True, False, 2.0, "2", b"2", [2], np.bool_(1), np.int64(0)])
def test_what_is_no_number_of_threads_is_refused_with_value_and_remedy(n_jobs):
    with pytest.raises(InvalidParameter) as caught:
        resolve_n_jobs(n_jobs)
    assert f"n_jobs={n_jobs!r}" in str(caught.value)
    assert "n_jobs=-1" in str(caught.value)


def test_available_is_at_least_one_whatever_the_native_count(monkeypatch):
    monkeypatch.setattr(parallelism, "_native_threads", lambda: 0)
    assert available() == 1


def test_available_is_within_the_processors_of_this_machine():
    assert 1 <= available() <= os.cpu_count()


def test_this_process_is_no_loky_worker():
    assert not parallelism._in_loky_worker()


def in_loky_workers(*n_jobs, inner_max_num_threads):
    """What resolve_n_jobs gives in a worker; itself the task, since workers can import it."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=inner_max_num_threads):
        return joblib.Parallel(n_jobs=2)(joblib.delayed(resolve_n_jobs)(n) for n in n_jobs)


@pytest.mark.usefixtures("_fresh_workers")
def test_a_loky_worker_keeps_to_the_inner_limit_of_joblib():
    assert in_loky_workers(None, -1, -2, 3, inner_max_num_threads=1) == [1, 1, 1, 3]


@pytest.mark.usefixtures("_fresh_workers")
def test_loky_workers_divide_the_processors_among_themselves():
    share = max(1, joblib.cpu_count() // 2)
    assert in_loky_workers(None, -1, inner_max_num_threads=None) == [min(share, available())] * 2


@pytest.mark.usefixtures("_fresh_workers")
def test_in_a_loky_worker_the_inner_limit_caps_the_inherited_variable(monkeypatch):
    monkeypatch.setenv("SPINNEY_NUM_THREADS", "5")
    assert in_loky_workers(None, None, inner_max_num_threads=2) == [2, 2]
    assert in_loky_workers(None, None, inner_max_num_threads=7) == [5, 5]
