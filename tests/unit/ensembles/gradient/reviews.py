"""A table of reviews, in which a word decides and nothing else does."""

import numpy as np
import pandas as pd

from spinney import GradientBoostingClassifier

_WORDS = np.array([f"word{k}" for k in range(200)])


def reviews(n_rows=1200, seed=0):
    """Texts, a number that tells nothing, and whether ``Broken`` is among the words."""
    rng = np.random.default_rng(seed)
    is_broken = rng.random(n_rows) < 0.4
    texts = []
    for broken in is_broken:
        words = rng.choice(_WORDS, rng.integers(5, 15)).tolist()
        if broken:
            words.insert(int(rng.integers(len(words))), "Broken,")
        texts.append(" ".join(words).replace("word", "Word", 1 - broken))
    X = pd.DataFrame({"review": np.array(texts, object), "x": rng.normal(size=n_rows)})
    return X, np.where(is_broken, "bad", "good")


def booster(**params):
    return GradientBoostingClassifier(**{"max_iter": 20, "random_state": 0, **params})
