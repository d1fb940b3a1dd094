"""Venn-Abers by its definition: isotonic regression fitted anew for each new score and label."""

import numpy as np
from sklearn.isotonic import IsotonicRegression


def venn_abers(scores, y, new, weights=None):
    weights = np.ones(len(scores)) if weights is None else weights
    bounds = []
    for label in (0.0, 1.0):
        fits = []
        for score in new:
            model = IsotonicRegression().fit(
                np.append(scores, score),
                np.append(y, label),
                sample_weight=np.append(weights, 1.0),
            )
            fits.append(model.predict([score])[0])
        bounds.append(np.array(fits))
    return bounds
