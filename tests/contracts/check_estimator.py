"""All checks of scikit-learn on one estimator; prints what came of each.

python check_estimator.py NAME PARAMETERS
"""

import json
import sys
import warnings

from sklearn.utils.estimator_checks import check_estimator

import spinney

SCORES_OF_LABELS = "check_classifiers_multilabel_output_format_decision_function"
"""Skips classifiers of several labels without a decision_function, such as all forests."""


def small_members(task):
    """Members of a committee that are soon fitted."""
    return [
        ("boosting", getattr(spinney, f"GradientBoosting{task}")(max_iter=5)),
        ("forest", getattr(spinney, f"RandomForest{task}")(5, random_state=0)),
    ]


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
        if one["check_name"] != SCORES_OF_LABELS or hasattr(kind, "decision_function")
    ]
    print(json.dumps(lines))  # noqa: T201 - for the test that reads it


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(sys.argv[1], json.loads(sys.argv[2]))
