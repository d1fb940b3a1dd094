"""Show the main job end to end on a bundled table: train, score, explain, save, load, predict."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

import spinney
from spinney.cli.tables import print_table
from spinney.datasets import load_tumours
from spinney.resampling import Interval, bootstrap


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("--seed", type=_seed, default=0, help="seed of the split (default 0)")
    parser.set_defaults(run=run)


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number below 2**32")
    return int(text)


def run(arguments: argparse.Namespace) -> None:
    """Run the demonstration; one line per step, a table at the end."""
    data = load_tumours()
    X_train, X_test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=0.3, random_state=arguments.seed, stratify=data.y
    )
    print(f"data     {data.name}: {len(data.X)} rows, {data.X.shape[1]} features")

    model = spinney.GradientBoostingClassifier(
        max_iter=500,
        learning_rate=0.05,
        early_stopping=True,
        validation_fraction=0.2,
        random_state=arguments.seed,
    )
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    print(
        f"train    {model.n_iter_} rounds of boosting in {1000 * seconds:.0f} ms on {len(X_train)} "
        "rows, stopped by the loss on a fifth of them"
    )

    score = bootstrap(
        accuracy_score, y_test, model.predict(X_test), random_state=arguments.seed
    ).interval
    print(f"score    accuracy {score} on {len(X_test)} held-out rows (95 % bootstrap interval)")
    tree = spinney.DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5)
    single = accuracy_score(y_test, tree.fit(X_train, y_train).predict(X_test))
    print(f"compare  a single tree of 12 leaves: {single:.3f}")

    most_important = np.argsort(-model.feature_importances_)[:5]
    names = ", ".join(data.feature_names[i] for i in most_important[:3])
    print(f"explain  most important: {names}")

    _save_and_load(model, X_test)
    _print_summary(model, score, [(data.feature_names[i], i) for i in most_important])


def _save_and_load(model: "spinney.GradientBoostingClassifier", X_test: np.ndarray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tumours.spn"
        spinney.save(model, path)
        print(f"save     {path.name}: {path.stat().st_size} bytes")
        again = spinney.load(path)
    print(f"load     {type(again).__name__}, model {again.model_.fingerprint[:12]}")
    same = np.array_equal(again.predict_proba(X_test), model.predict_proba(X_test))
    print(f"predict  {len(X_test)} rows, {'bit for bit the same' if same else 'DIFFERENT'}")


def _print_summary(
    model: "spinney.GradientBoostingClassifier", score: Interval, features: list[tuple[str, int]]
) -> None:
    rows = [("held-out accuracy", f"{score}")]
    leaves = sum(tree.n_leaves for tree in model.model_) / len(model.model_)
    rows += [("rounds", f"{model.n_iter_}"), ("leaves per tree", f"{leaves:.1f}")]
    rows += [
        (f"importance of {name}", f"{model.feature_importances_[i]:.3f}") for name, i in features
    ]
    print()
    print_table(("what", "value"), rows)
