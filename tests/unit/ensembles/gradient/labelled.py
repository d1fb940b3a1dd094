"""Tables whose rows have several labels, and what tests ask of their models."""

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

N_CLASSES = (2, 3, 2)


def table(n_rows=600, seed=0):
    """Numbers with missing ones, and categories; labels of two, three and two classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n_rows) for i in range(3)})
    frame["few"] = pd.Categorical(rng.choice(["a", "b", "c"], n_rows))
    shift = frame["few"].cat.codes - 1.0
    noisy = rng.normal(0, 0.4, (n_rows, 3))
    Y = np.column_stack(
        [
            frame["x0"] + shift + noisy[:, 0] > 0,
            np.digitize(frame["x1"] * frame["x0"] + noisy[:, 1], [-0.4, 0.4]),
            frame["x2"] - shift + noisy[:, 2] > 1.2,
        ]
    ).astype(int)
    frame.loc[rng.random(n_rows) < 0.1, "x1"] = np.nan
    return frame, Y, rng


def names_of(Y):
    """The same labels as text, whole numbers and truth values, in a frame."""
    sizes = np.array(["big", "middle", "small"])[Y[:, 1]]
    return pd.DataFrame({"wet": Y[:, 0] + 5, "size": sizes, "old": Y[:, 2] > 0})


def bytes_of(model):
    """The arrays of a model, as bytes."""
    return {name: array.tobytes() for name, array in model.model_.arrays.items()}


def scores_of(model, X, offset=None):
    """The raw scores of all labels, side by side."""
    return model._raw_scores(X, offset)


def mean_log_loss(Y, shares, weights=None):
    """Of the labels, each by itself."""
    losses = [
        log_loss(y, p, sample_weight=weights, labels=range(p.shape[1]))
        for y, p in zip(Y.T, shares, strict=True)
    ]
    return float(np.mean(losses))
