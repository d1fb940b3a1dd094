"""Forks, process pools, threads, signals and processor limits: nothing hangs, nothing differs.

Each scenario is a script of its own, run by a fresh interpreter with a timeout, so that a hang is
a failure of one test and the threads of the test runner play no part.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PRELUDE = """
import json, os, signal, sys, threading, time, warnings
import numpy as np
import spinney
from spinney.parallelism import resolve_n_jobs
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of fork beside threads

def table(n=4000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)).astype(np.float32)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2]

X, y = table()

def fit(n_jobs=2, **parameters):
    tree = spinney.DecisionTreeRegressor(max_leaf_nodes=40, n_jobs=n_jobs, **parameters)
    return tree.fit(X, y)

def work(tree, n_jobs=2):
    '''Predict with the parent's model and fit a new one; the same text everywhere.'''
    import hashlib
    predicted = hashlib.sha256(tree.predict(X).tobytes()).hexdigest()
    return predicted + fit(n_jobs).model_.fingerprint

def forked(function, *arguments):
    '''Start a child; returns its number and the pipe its answer will come through.'''
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # no handler: a hang ends the child, and the parent sees it
        try:
            os.write(sender, function(*arguments).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(sender)
    return child, receiver

def answer(child, receiver):
    data = b"".join(iter(lambda: os.read(receiver, 65536), b""))
    os.close(receiver)
    status = os.waitpid(child, 0)[1]
    return data.decode() if status == 0 else f"status {status}"
"""


def run(script, *, seconds=120, check=True):
    command = [sys.executable, "-c", PRELUDE + script]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
    )
    if check:
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)
    return done


def test_sixty_forked_children_fit_and_predict_like_their_parent():
    seen = run("""
tree = fit()
expected = work(tree)
answers = []
for _ in range(30):  # two at a time, as many as there are processors
    pair = [forked(work, tree) for _ in range(2)]
    answers += [answer(*child) for child in pair]
    work(tree)
print(json.dumps({"expected": expected, "answers": answers, "after": work(tree)}))
""")
    assert len(seen["answers"]) == 60
    assert set(seen["answers"]) == {seen["expected"]}
    assert seen["after"] == seen["expected"]


def test_fork_of_a_fork_works_too():
    seen = run("""
tree = fit()
def again(tree):
    return answer(*forked(work, tree))
print(json.dumps([work(tree), answer(*forked(again, tree)), work(tree)]))
""")
    assert len(set(seen)) == 1
    assert not seen[0].startswith("status")


def test_bags_fitted_after_a_fork_are_the_parents():
    seen = run("""
from sklearn.naive_bayes import GaussianNB
def bags(_):
    import hashlib
    trees = spinney.BaggingRegressor(random_state=0, n_jobs=2, oob_score=True, n_estimators=30)
    other = spinney.BaggingClassifier(GaussianNB(), random_state=0).fit(X, y > 0)
    trees.fit(X, y)
    said = hashlib.sha256(other.predict_proba(X).tobytes()).hexdigest()
    return said + trees.model_.fingerprint + str(trees.oob_score_)
here = bags(None)
print(json.dumps([here, answer(*forked(bags, None)), answer(*forked(bags, None)), bags(None)]))
""")
    assert len(set(seen)) == 1
    assert not seen[0].startswith("status")


def test_members_of_other_libraries_fit_and_predict_side_by_side_after_a_fork():
    seen = run("""
from sklearn.linear_model import Ridge
def members(_):
    bag = spinney.BaggingRegressor(Ridge(), 6, random_state=0, n_jobs=2).fit(X[:300], y[:300])
    vote = spinney.VotingRegressor([("a", Ridge()), ("b", Ridge(9.0))], n_jobs=2)
    said = [bag.predict(X[:9]), vote.fit(X[:300], y[:300]).predict(X[:9])]
    return json.dumps([one.tolist() for one in said])
here = members(None)
print(json.dumps([here, answer(*forked(members, None)), members(None)]))
""")
    assert len(set(seen)) == 1
    assert not seen[0].startswith("status")


def test_committees_and_conformal_intervals_after_a_fork_are_the_parents():
    seen = run("""
from sklearn.linear_model import Ridge
def committees(_):
    import hashlib
    members = [("trees", spinney.ExtraTreesRegressor(5, random_state=0, n_jobs=2)),
               ("boosting", spinney.GradientBoostingRegressor(max_iter=5, n_jobs=2)),
               ("ridge", Ridge())]
    stack = spinney.StackingRegressor(members, cv=3).fit(X, y)
    vote = spinney.VotingRegressor(members).fit(X, y)
    around = spinney.ConformalRegressor(members[0][1], random_state=0).fit(X, y)
    said = [stack.predict(X), vote.predict(X), around.predict_interval(X[:9], 0.8).upper]
    return hashlib.sha256(b"".join(one.tobytes() for one in said)).hexdigest()
here = committees(None)
print(json.dumps([here, *(answer(*forked(committees, None)) for _ in range(2)), committees(None)]))
""")
    assert len(set(seen)) == 1
    assert not seen[0].startswith("status")


def test_fork_while_another_thread_is_fitting():
    seen = run("""
tree = fit()
expected = work(tree)
stop, beside = threading.Event(), []
def keep_fitting():
    while not stop.is_set():
        beside.append(fit().model_.fingerprint)
threads = [threading.Thread(target=keep_fitting) for _ in range(2)]
for thread in threads: thread.start()
answers = [answer(*forked(work, tree)) for _ in range(25)]
stop.set()
for thread in threads: thread.join()
print(json.dumps({"expected": expected, "answers": answers, "beside": beside, "after": work(tree)}))
""")
    assert set(seen["answers"]) == {seen["expected"]}
    assert seen["after"] == seen["expected"]
    assert len(seen["beside"]) > 5
    assert len(set(seen["beside"])) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_workers_give_the_parents_answers(method, tmp_path):
    script = tmp_path / "scenario.py"  # spawn imports the main module again, so it must be a file
    script.write_text(
        PRELUDE
        + f"""
if __name__ == "__main__":
    import multiprocessing
    tree = fit()
    expected = work(tree)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        answers = pool.map(work, [tree] * 6)
    print(json.dumps([expected, *answers, work(tree)]))
""",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_loky_workers_that_start_threads_of_their_own_give_the_same_answers():
    seen = run("""
import joblib
tree = fit()
expected = work(tree)
def inner(tree, backend):
    calls = [joblib.delayed(work)(tree) for _ in range(2)]
    return joblib.Parallel(n_jobs=2, backend=backend)(calls)
calls = [joblib.delayed(inner)(tree, backend) for backend in ("loky", "threading")]
nested = joblib.Parallel(n_jobs=2, backend="loky")(calls)
print(json.dumps([expected, *(text for part in nested for text in part)]))
""")
    assert len(seen) == 5
    assert len(set(seen)) == 1


def test_eight_threads_fit_and_predict_at_once_with_identical_results():
    seen = run("""
from concurrent.futures import ThreadPoolExecutor
tree = fit()
expected = work(tree)
with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda n: work(tree, n), [1, 2, 3, 7] * 16))
print(json.dumps([expected, *answers]))
""")
    assert len(seen) == 65
    assert len(set(seen)) == 1


def test_threads_predict_with_one_estimator_without_mixing_their_rows():
    seen = run("""
from concurrent.futures import ThreadPoolExecutor
tree = fit()
whole = tree.predict(X)
def part(i):
    rows = slice(37 * i % 3900, 37 * i % 3900 + 100)
    return bool(np.array_equal(tree.predict(X[rows]), whole[rows]))
with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(part, range(400)))))
""")
    assert seen == [True] * 400


INTERRUPTED = """
X, y = table(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
tree = fit()
print("ready", flush=True)
try:
    while True:
        fit()
except KeyboardInterrupt:
    assert np.isfinite(tree.predict(X[:10])).all()
    fit()  # the pool still works
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.17, 0.3])
def test_interrupt_during_fit_ends_with_keyboard_interrupt_and_leaves_a_working_pool(delay):
    import signal
    import time

    command = [sys.executable, "-c", PRELUDE + INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate(timeout=30)
        finally:
            child.kill()
    assert said == "interrupted\n"
    assert child.returncode == 0


def test_process_bound_to_one_processor_uses_one_thread():
    seen = run("""
before = fit(None).model_.fingerprint
os.environ.pop("OMP_NUM_THREADS", None)
os.environ.pop("SPINNEY_NUM_THREADS", None)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
after = fit(None).model_.fingerprint
print(json.dumps([resolve_n_jobs(None), resolve_n_jobs(-1), before == after]))
""")
    assert seen == [1, 1, True]


def test_fit_with_one_job_starts_no_thread():
    seen = run("""
def threads():
    return len(os.listdir("/proc/self/task"))
spinney.DecisionTreeRegressor  # the first use imports scikit-learn, and NumPy's BLAS starts threads
before = threads()
fit(1).predict(X)
alone = threads()
fit(3).predict(X)
print(json.dumps([alone - before, threads() - before]))
""")
    assert seen[0] == 0
    assert seen[1] <= 2  # three jobs are the caller and two helpers


def test_waiting_workers_use_no_processor_time():
    seen = run("""
for _ in range(3):
    fit(2)
start = time.process_time()
time.sleep(1.0)
print(json.dumps(time.process_time() - start))
""")
    assert seen < 0.1
