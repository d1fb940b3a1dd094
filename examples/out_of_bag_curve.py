"""The error that rows out of the bags tell follows the error on new rows, tree by tree.

The lecture notes show it for bagging and a random forest on a table of heart patients. That table
may not be shipped, so patients are drawn here: 300 to learn from, 13 numbers each, two groups that
no single number tells apart.
"""

import numpy as np

from spinney import BaggingClassifier, RandomForestClassifier
from spinney.datasets import make_threenorm

N_TREES = 300
patients = make_threenorm(300, n_features=13, random_state=0)
others = make_threenorm(5000, n_features=13, random_state=1)

forests = {
    "bagging": BaggingClassifier(n_estimators=N_TREES, oob_score=True, random_state=0),
    "random forest": RandomForestClassifier(N_TREES, oob_score=True, random_state=0),
}
test_error, bag_error = {}, {}
for name, forest in forests.items():
    forest.fit(patients.X, patients.y)
    bag_error[name] = 1 - forest.oob_curve_
    votes = np.cumsum([tree.predict_proba(others.X) for tree in forest.estimators_], axis=0)
    said = forest.classes_[votes.argmax(axis=2)]
    test_error[name] = (said != others.y).mean(axis=1)

print("trees   " + "   ".join(f"{name}: test  out of bag" for name in forests))
for n in (1, 5, 20, 50, 100, N_TREES):
    row = [f"{test_error[name][n - 1]:17.3f} {bag_error[name][n - 1]:11.3f}" for name in forests]
    print(f"{n:5}" + "   ".join(row))

# With few trees few rows are out of a bag, and those are judged by a part of the trees; later the
# two are one, but for the 300 rows the one is counted on.
for name in forests:
    assert abs(test_error[name][-1] - bag_error[name][-1]) < 0.03
    assert test_error[name][-1] < test_error[name][0]
assert test_error["random forest"][-1] < test_error["bagging"][-1]
