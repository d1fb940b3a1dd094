"""The model card: what it is, how it was made, and how to know it again."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from spinney.data.derivation import Rule
from spinney.errors import SpinneyError
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.report.markup import Html, count_of, join, name_of, number, shortened, tag
from spinney.report.sections.section import Section
from spinney.report.subject import Subject
from spinney.report.tables import Cell, Heading, facts, table

_WHAT = {
    "identity": "the trees add up to the prediction",
    "logistic": "the trees add up to log-odds",
    "double_logistic": "the trees add up to half the log-odds",
    "softmax": "the trees add up to a score per class (softmax)",
    "log": "the trees add up to the logarithm of the prediction",
    "increasing": "the trees add up to quantiles, which are then put in order",
}
_TASKS = {
    "binary": "classification, two classes",
    "classes": "classification",
    "numbers": "regression",
    "unsupervised": "no target",
}


def fingerprint_of(subject: Subject) -> str | None:
    """Give the fingerprint of the model; None if its members have no form in a file."""
    try:
        return subject.model.fingerprint
    except SpinneyError:
        return None


def card_section(subject: Subject, made_at: str | None) -> Section:
    """Lay out facts and parameters."""
    parts: list[object] = [facts(_facts(subject, made_at)), _parameters(subject.fitted)]
    return Section("card", "Model card", join(*parts))


def _facts(subject: Subject, made_at: str | None) -> list[tuple[object, object]]:
    fingerprint = fingerprint_of(subject)
    pairs: list[tuple[object, object]] = [
        ("Estimator", type(subject.fitted).__name__),
        ("Task", _TASKS[subject.task]),
    ]
    if subject.classes:
        some = ", ".join(shortened(label, 30) for label in subject.classes[:12])
        more = "" if len(subject.classes) <= 12 else f" and {len(subject.classes) - 12} more"
        pairs.append((count_of(len(subject.classes), "class", "classes"), name_of(some + more)))
    kinds = [str(kind) for kind in subject.model.schema.kinds]
    counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    pairs.append(("Features", f"{len(kinds)}: {counted}"))
    if subject.forest is not None:
        pairs += [*_of_derived(subject.forest), *_of_forest(subject.forest)]
    else:
        pairs.append(("Model", repr(subject.model)[:120]))
    pairs += _of_training(subject.fitted)
    pairs.append(
        (
            "Unknown categories",
            "are read as missing" if subject.model.policy.unseen == "missing" else "are refused",
        )
    )
    if fingerprint is not None:
        shown = tag("code", fingerprint, class_="hash")
        pairs.append(("Fingerprint (SHA-256)", shown))
    else:
        pairs.append(("Fingerprint", "none: some members are not Spinney's own"))
    versions = {"spinney": version("spinney"), "numpy": np.__version__}
    versions |= {"scikit-learn": version("scikit-learn"), "Python": platform.python_version()}
    pairs.append(("Versions", ", ".join(f"{name} {text}" for name, text in versions.items())))
    if made_at:
        pairs.append(("Report made", made_at))
    return pairs


def _of_derived(forest: TreeForest | DerivedForest) -> list[tuple[object, object]]:
    """Say what trees split on where that is not what the user gave."""
    if not isinstance(forest, DerivedForest):
        return []
    features = forest.derivation.features
    n_own = sum(feature.rule == Rule.COPY for feature in features)
    text = f"{len(features)} features: {n_own} as they are, {len(features) - n_own} derived from"
    return [
        (
            "Trees split on",
            f"{text} them (statistics of categories, parts of dates, words of texts)",
        )
    ]


def _of_forest(forest: TreeForest | DerivedForest) -> list[tuple[object, object]]:
    starts, right = forest.arrays["tree_start"], forest.arrays["right"]
    if not len(forest):
        return [("Trees", "none: every row is predicted alike")]
    leaves = np.add.reduceat((right < 0).astype(np.int64), starts[:-1])
    shown = f"{len(forest):,}; {number(float(leaves.mean()), 3)} leaves in the mean, "
    shown += f"{int(leaves.max()):,} at most"
    how = _WHAT[forest.output.link]
    if forest.output.aggregate == "mean":
        how = how.replace("add up to", "give, in the mean,")
    pairs: list[tuple[object, object]] = [("Trees", shown), ("Output", how)]
    counts = forest.arrays["count"][starts[:-1]]
    pairs.append(("Training rows", f"{int(counts.max()):,} in the largest tree"))
    weights = forest.arrays["weight"][starts[:-1]]
    if not np.allclose(weights, counts):
        pairs.append(("Weight of training rows", number(float(weights.max()))))
    return pairs


def _of_training(fitted: Any) -> list[tuple[object, object]]:
    """Tell what an estimator remembers of its training."""
    pairs: list[tuple[object, object]] = []
    n_rounds = getattr(fitted, "n_iter_", None)
    if isinstance(n_rounds, int | np.integer):
        pairs.append(("Rounds", f"{int(n_rounds):,}"))
    for name, text in (
        ("oob_score_", "Score out of bag"),
        ("best_score_", "Best score on validation rows"),
    ):
        value = getattr(fitted, name, None)
        if isinstance(value, float | np.floating):
            pairs.append((text, number(float(value))))
    trace = getattr(fitted, "trace_", None)
    if trace is not None and getattr(trace, "stop_reason", None):
        pairs.append(("Stopped because", str(trace.stop_reason)))
    if getattr(fitted, "calibration_", None) is not None:
        pairs.append(("Calibrated", "yes: intervals or sets can be asked for"))
    return pairs


def _parameters(fitted: Any) -> Html:
    if not hasattr(fitted, "get_params"):
        text = "A frozen model: the parameters it was learnt with are in its estimator."
        return tag("p", text)
    given = fitted.get_params(deep=False)
    try:
        defaults = type(fitted)().get_params(deep=False)
    except (TypeError, ValueError):
        defaults = {}
    lines = []
    for name, value in sorted(given.items()):
        is_changed = name in defaults and repr(defaults[name]) != repr(value)
        shown = tag("code", shortened(repr(value), 200))
        default = shortened(repr(defaults.get(name)), 60) if is_changed else ""
        lines.append(
            [Cell(tag("code", name), name), Cell(tag("b", shown) if is_changed else shown), default]
        )
    headings = [Heading(text, is_number=False) for text in ("Parameter", "Value", "Default")]
    title = tag("h3", "Parameters")
    note = tag("p", "Bold: not the default.")
    return join(title, note, table(headings, lines, caption="Parameters"))
