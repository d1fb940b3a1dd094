"""Second-order accumulated local effects, cell by cell and row by row."""

import numpy as np


def slow_interaction(predict, frame, names, edges, weights):
    """Apley and Zhu (2020), with rows and cells one at a time; 0 is the mean over the rows."""
    sizes = [len(at) - 1 for at in edges]
    cell_of = [
        tuple(
            next(k for k in range(len(at) - 1) if row[name] <= at[k + 1])
            for name, at in zip(names, edges, strict=True)
        )
        for _, row in frame.iterrows()
    ]
    counts, steps = np.zeros(sizes), {}
    for cell in np.ndindex(*sizes):
        inside = [i for i, found in enumerate(cell_of) if found == cell]
        counts[cell] = weights[inside].sum()
        if counts[cell]:
            corners = [[edges[f][cell[f] + s] for f in (0, 1)] for s in (0, 1)]
            rows = frame.iloc[inside]

            def at(first, second, rows=rows, corners=corners):
                values = {names[0]: corners[first][0], names[1]: corners[second][1]}
                return predict(rows.assign(**values))

            together = (at(1, 1) - at(0, 1)) - (at(1, 0) - at(0, 0))
            steps[cell] = np.average(together, weights=weights[inside])
    for cell in np.ndindex(*sizes):
        if cell not in steps or not counts[cell]:
            full = [other for other in np.ndindex(*sizes) if counts[other]]
            nearest = min(full, key=lambda o, c=cell: (o[0] - c[0]) ** 2 + (o[1] - c[1]) ** 2)
            steps[cell] = steps[nearest]
    total = np.zeros([size + 1 for size in sizes])
    for k, m in np.ndindex(*total.shape):
        total[k, m] = sum(steps[i, j] for i in range(k) for j in range(m))
    first, second = _alone(total, counts), _alone(total.T, counts.T)
    left = total - first[:, None] - second[None, :]
    mean = sum(
        counts[k, m] * (left[k, m] + left[k + 1, m] + left[k, m + 1] + left[k + 1, m + 1]) / 4
        for k, m in np.ndindex(*sizes)
    )
    return left - mean / counts.sum(), counts


def _alone(total, counts):
    effects = [0.0]
    for k in range(counts.shape[0]):
        changes = [
            (total[k + 1, m] - total[k, m] + total[k + 1, m + 1] - total[k, m + 1]) / 2
            for m in range(counts.shape[1])
        ]
        effects.append(effects[-1] + np.average(changes, weights=counts[k]))
    return np.array(effects)
