"""All checks of scikit-learn on one estimator; prints what came of each.

python check_estimator.py NAME PARAMETERS
"""

import json
import sys
import warnings

from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import spinney

SCORES_OF_LABELS = "check_classifiers_multilabel_output_format_decision_function"
"""Skips classifiers of several labels that have no decision_function of them."""


def small_members(task):
    """Members of a committee that are soon fitted."""
    return [
        ("boosting", getattr(spinney, f"GradientBoosting{task}")(max_iter=5)),
        ("forest", getattr(spinney, f"RandomForest{task}")(5, random_state=0)),
    ]


def has_scores_of_labels(estimator):
    """Whether there is a decision_function of several labels, if it takes several."""
    if not get_tags(estimator).classifier_tags.multi_label:
        return True
    rows, labels = [[0.0], [1.0]] * 20, [[0, 1], [1, 0]] * 20
    return hasattr(estimator.fit(rows, labels), "decision_function")


def main(name, parameters):
    kind = getattr(spinney, name)
    if "estimators" in kind().get_params(deep=False):
        task = "Classifier" if name.endswith("Classifier") else "Regressor"
        parameters = {**parameters, "estimators": small_members(task)}
    found = check_estimator(kind(**parameters), on_skip=None, on_fail=None)
    told = ("check_name", "status", "expected_to_fail")
    lines = [
        [*(one[key] for key in told), repr(one["exception"])]
        for one in found
        if one["check_name"] != SCORES_OF_LABELS or has_scores_of_labels(kind(**parameters))
    ]
    print(json.dumps(lines))  # noqa: T201 - for the test that reads it


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(sys.argv[1], json.loads(sys.argv[2]))
