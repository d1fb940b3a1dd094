"""Several labels per row, each of classes of its own: their loss, codes and weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data.label_columns import factors_of_classes, ones_among_zeros, read_label_columns
from spinney.data.target import Labels, Target, read_labels
from spinney.data.weights import weights_per_class
from spinney.ensembles.fitting import Reading
from spinney.ensembles.label_answers import joined_labels
from spinney.errors import InvalidInput, InvalidParameter, shorten
from spinney.losses import Loss, MultinomialLoss
from spinney.losses.loss import BINARY_LOSSES
from spinney.losses.vector_loss import VectorLoss
from spinney.model.links import link_of_labels
from spinney.typing import AnyArray, FloatArray


def takes_several_labels(params: Mapping[str, Any]) -> bool:
    """Tell whether parameters allow several labels per row."""
    loss, growth = params["loss"], params["growth"]
    is_ours = isinstance(loss, str) and loss == "logistic"
    return is_ours and params["monotonic_cst"] is None and growth != "symmetric"


def loss_of_labels(label_classes: Sequence[AnyArray], loss: Any) -> Loss:
    """Choose the loss: of two classes the logistic one, of any other number the multinomial."""
    if not isinstance(loss, str) or loss != "logistic":
        raise InvalidParameter(
            f"loss={loss!r} is of one label per row, but y has {len(label_classes)} columns. Use "
            "loss='logistic', or fit a model for each column, for instance with "
            "sklearn.multioutput.MultiOutputClassifier."
        )
    sizes = [len(classes) for classes in label_classes]
    logistic = BINARY_LOSSES["logistic"]
    parts = tuple(logistic if size == 2 else MultinomialLoss(size) for size in sizes)
    return VectorLoss(parts, link_of_labels(sizes))


def compact_codes(codes: FloatArray, label_classes: Sequence[AnyArray]) -> AnyArray:
    """Give codes of classes a byte each where no label has more than two."""
    few = all(len(classes) <= 2 for classes in label_classes)
    return np.asfortranarray(codes.astype(np.uint8) if few else codes)


def labels_again(codes: AnyArray, target: Target) -> AnyArray:
    """Give the labels that codes stand for, as the user gave them."""
    whole = codes.astype(np.int64)
    if target.label_classes is None:
        return np.asarray(target.classes)[whole]
    pairs = zip(target.label_classes, whole.T, strict=True)
    return joined_labels([classes[own] for classes, own in pairs])


def class_indicators(codes: FloatArray, target: Target) -> FloatArray:
    """Tell classes as zeros and ones: the second of two classes, or all of them, of each label."""
    several = [target.classes] if target.label_classes is None else target.label_classes
    sizes = [len(np.asarray(classes)) for classes in several]
    ones = ones_among_zeros(codes.reshape(len(codes), -1), sizes)
    is_told = [n_classes > 2 or k == n_classes - 1 for n_classes in sizes for k in range(n_classes)]
    return np.ascontiguousarray(ones[:, is_told])


def factors_of_rows(class_weight: Any, reading: Reading) -> FloatArray:
    """Give the weight of each row's class; of several labels the product of those of all."""
    codes, several = reading.y.astype(np.int32), reading.target.label_classes
    if several is None:
        labels = Labels(np.asarray(reading.target.classes), codes)
        return weights_per_class(class_weight, labels, reading.weights)[codes]
    columns = [Labels(classes, own) for classes, own in zip(several, codes.T, strict=True)]
    return factors_of_classes(class_weight, columns, reading.weights)


def codes_of_held_out(y_val: Any, n_rows: int, target: Target, name: str) -> FloatArray:
    """Read labels of validation rows as codes of the classes of y."""
    if target.label_classes is None:
        return _codes(read_labels(y_val, n_rows, name), target.classes, "y")
    columns = read_label_columns(y_val, n_rows, name)
    if columns is None or len(columns) != len(target.label_classes):
        shape = np.shape(y_val)
        raise InvalidInput(
            f"y_val has the shape {shape}, but y has {len(target.label_classes)} columns of "
            "labels. Give one column for each of them."
        )
    pairs = enumerate(zip(columns, target.label_classes, strict=True))
    return np.column_stack(
        [_codes(labels, classes, f"column {k} of y") for k, (labels, classes) in pairs]
    )


def _codes(labels: Labels, known: Any, where: str) -> FloatArray:
    codes = {label: code for code, label in enumerate(known.tolist())}
    unknown = [label for label in labels.classes.tolist() if label not in codes]
    if unknown:
        raise InvalidInput(
            f"y_val has classes that {where} lacks: {shorten(unknown)}. Known are "
            f"{shorten(codes)}. Leave such rows out of X_val and y_val, or give rows of these "
            "classes in X and y."
        )
    of_class = np.array([codes[label] for label in labels.classes.tolist()], float)
    return of_class[labels.codes]
