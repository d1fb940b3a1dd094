"""Rows to learn from and rows held out: the same ones in every command."""

import numpy as np

from spinney.cli.problem import LearningProblem, label_text
from spinney.errors import InvalidInput


def hold_out(
    problem: LearningProblem, share: float, seed: int
) -> tuple[LearningProblem, LearningProblem | None]:
    """Divide the rows by chance, of every class its share where classes are large enough.

    The division is a function of the target, the share and the seed, which a model file records: so
    ``evaluate --held-out``, ``report --held-out`` and ``certify`` find the rows of ``train`` again.
    """
    from sklearn.model_selection import train_test_split

    n_test = round(share * problem.n_rows)
    if not share:
        return problem, None
    if not 1 <= n_test < problem.n_rows:
        raise InvalidInput(
            f"--test-share {share:g}: of {problem.n_rows} rows that leaves none to learn from or "
            "none to test on. Use --test-share 0, or more rows."
        )
    strata = None
    if problem.is_classification:
        labels = [label_text(value) for value in problem.y.tolist()]
        _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        n_classes = len(counts)
        if counts.min() >= 2 and n_test >= n_classes and problem.n_rows - n_test >= n_classes:
            strata = codes
    train, test = train_test_split(
        np.arange(problem.n_rows), test_size=n_test, random_state=seed, stratify=strata
    )
    return problem.take(np.sort(train)), problem.take(np.sort(test))
