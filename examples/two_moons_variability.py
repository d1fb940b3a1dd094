"""Two moons, three training sets, three learners, and how much their borders move.

The figure of these nine fits is in docs/guide/committees.md.
"""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from spinney import DecisionTreeClassifier
from spinney.datasets import make_moons
from spinney.theory import FreshSets, bias_variance

LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "10 neighbours": KNeighborsClassifier(10),
    "logistic regression": LogisticRegression(),
}
trainings = [make_moons(200, random_state=seed) for seed in (1, 2, 3)]
test = make_moons(1000, random_state=0)
errors, disputed = {}, {}
print("learner              errors of three fits   points they do not agree on")
for name, learner in LEARNERS.items():
    said = np.stack([clone(learner).fit(one.X, one.y).predict(test.X) for one in trainings])
    errors[name] = (said != test.y).mean(axis=1)
    disputed[name] = float((said != said[0]).any(axis=0).mean())
    print(f"{name:20} {errors[name].round(3)}  {disputed[name]:.3f}")

# Three sets show it; thirty measure it. Bias: the label most fits say is wrong. Variance: a fit
# says another label than most do.
sets = FreshSets("moons", n_rows=200, n_test=1000)
found = {
    name: bias_variance(learner, sets, n_sets=30, random_state=0)
    for name, learner in LEARNERS.items()
}
print("\nlearner              bias   variance  error")
for name, one in found.items():
    print(f"{name:20} {one.bias:.3f}  {one.variance:.3f}     {one.error:.3f}")

# The tree is right on average and wrong on each occasion, logistic regression the other way round.
assert found["tree"].variance > found["10 neighbours"].variance
assert found["10 neighbours"].variance > found["logistic regression"].variance
assert found["logistic regression"].bias > found["tree"].bias
