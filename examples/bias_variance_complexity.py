"""Bias falls and variance grows with the leaves of a tree; a forest changes the bargain."""

from spinney import DecisionTreeRegressor, RandomForestRegressor
from spinney.theory import FreshSets, bias_variance

LEAVES = (2, 4, 8, 16, 32, 128)
sets = FreshSets("friedman", n_rows=200, n_test=500, options={"number": 1, "noise": 3.0})
learners = {
    "tree": DecisionTreeRegressor(),
    "30 bagged trees": RandomForestRegressor(30, max_features=1.0),
}
found = {
    name: [
        bias_variance(
            learner.set_params(max_leaf_nodes=leaves), sets, n_sets=12, random_state=0
        ).corrected()
        for leaves in LEAVES
    ]
    for name, learner in learners.items()
}
for name, results in found.items():
    print(f"{name}\nleaves  bias²  variance  noise  error")
    for leaves, one in zip(LEAVES, results, strict=True):
        print(f"{leaves:6} {one.bias:6.2f} {one.variance:9.2f} {one.noise:6.2f} {one.error:6.2f}")
best = {
    name: LEAVES[min(range(len(LEAVES)), key=lambda place: results[place].error)]
    for name, results in found.items()
}
print(f"leaves of the least error: {best}")
