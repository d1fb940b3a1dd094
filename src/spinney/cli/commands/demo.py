"""Show the main job end to end on a bundled table: train, score, explain, save, load, predict."""

import argparse
from typing import TYPE_CHECKING, Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice

if TYPE_CHECKING:
    import spinney
    from spinney.resampling import Interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument(
        "--seed", type=reading.seed, default=0, help="seed of the split (default 0)"
    )


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Run the demonstration; one line per step, a table at the end."""
    import time

    import numpy as np
    from sklearn.metrics import accuracy_score
    from sklearn.model_selection import train_test_split

    import spinney
    from spinney.datasets import load_tumours
    from spinney.resampling import bootstrap

    data = load_tumours()
    X_train, X_test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=0.3, random_state=arguments.seed, stratify=data.y
    )
    voice.line(f"data     {data.name}: {len(data.X)} rows, {data.X.shape[1]} features")

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
    voice.line(
        f"train    {model.n_iter_} rounds of boosting in {1000 * seconds:.0f} ms on {len(X_train)} "
        "rows, stopped by the loss on a fifth of them"
    )

    score = bootstrap(
        accuracy_score, y_test, model.predict(X_test), random_state=arguments.seed
    ).interval
    voice.line(
        f"score    accuracy {score} on {len(X_test)} held-out rows (95 % bootstrap interval)"
    )
    tree = spinney.DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5)
    single = accuracy_score(y_test, tree.fit(X_train, y_train).predict(X_test))
    voice.line(f"compare  a single tree of 12 leaves: {single:.3f}")

    most_important = np.argsort(-model.feature_importances_)[:5]
    names = ", ".join(data.feature_names[i] for i in most_important[:3])
    voice.line(f"explain  most important: {names}")

    same = _save_and_load(model, X_test, voice)
    features = [
        (data.feature_names[i], float(model.feature_importances_[i])) for i in most_important
    ]
    _tell(model, score, features, same, voice)


def _save_and_load(model: "spinney.GradientBoostingClassifier", X_test: Any, voice: Voice) -> bool:
    import tempfile
    from pathlib import Path

    import numpy as np

    import spinney

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tumours.spn"
        spinney.save(model, path)
        voice.line(f"save     {path.name}: {path.stat().st_size} bytes")
        again = spinney.load(path)
    voice.line(f"load     {type(again).__name__}, model {again.model_.fingerprint[:12]}")
    same = np.array_equal(again.predict_proba(X_test), model.predict_proba(X_test))
    voice.line(f"predict  {len(X_test)} rows, {'bit for bit the same' if same else 'DIFFERENT'}")
    return bool(same)


def _tell(
    model: "spinney.GradientBoostingClassifier",
    score: "Interval",
    features: list[tuple[str, float]],
    same: bool,
    voice: Voice,
) -> None:
    leaves = sum(tree.n_leaves for tree in model.model_) / len(model.model_)
    rows = [("held-out accuracy", f"{score}")]
    rows += [("rounds", f"{model.n_iter_}"), ("leaves per tree", f"{leaves:.1f}")]
    rows += [(f"importance of {name}", f"{value:.3f}") for name, value in features]
    voice.line()
    voice.table(("what", "value"), rows)
    voice.line("\nnext: spinney train YOUR.csv --target COLUMN")
    voice.document(
        {
            "command": "demo",
            "accuracy": {"value": score.estimate, "low": score.low, "high": score.high},
            "rounds": model.n_iter_,
            "importances": dict(features),
            "same_after_loading": same,
            "fingerprint": model.model_.fingerprint,
        }
    )
