"""Parameters of estimators as JSON, and back.

Plain values stand for themselves. What JSON does not know is an object with one key that starts
with ``$``; nothing in it names code to run.
"""

import importlib
import inspect
import math
import numbers
from typing import Any

import numpy as np

from spinney.errors import CannotSave, InvalidFile, InvalidParameter
from spinney.model.saved_loss import SavedLoss, is_custom, without_code

LINEAR = ("LinearRegression", "LogisticRegression", "Ridge", "RidgeCV")
"""Estimators of scikit-learn whose parameters are plain."""
THEIR_SPLITTERS = (
    "GroupKFold",
    "KFold",
    "LeaveOneGroupOut",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "TimeSeriesSplit",
)
OUR_SPLITTERS = ("Folds", "LeaveOneOut", "TimeFolds")
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def encode(value: Any, where: str) -> Any:
    """Turn a parameter into JSON; ``where`` names it if that cannot be done."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else {"$float": repr(number)}
    if isinstance(value, list):
        return [encode(item, where) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode(item, where) for item in value]}
    if isinstance(value, set):
        return {"$set": sorted((encode(item, where) for item in value), key=repr)}
    if isinstance(value, dict):
        pairs = [[encode(key, where), encode(item, where)] for key, item in value.items()]
        return {"$dict": pairs}
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        return encode(value.tolist(), where)  # an array of text could ask for any width per item
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"$array": [value.dtype.str, encode(value.tolist(), where)]}
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return _encode_generator(value)
    if is_ours(value):
        return _encode_estimator(value, where)
    if is_linear(value):
        return {"$linear": _encode_arguments(value, where)}
    if _splitter_classes().get(type(value).__name__) is type(value):
        return {"$splitter": _encode_arguments(value, where)}
    if where == "loss" and is_custom(value):
        kept = without_code(value)
        return {"$loss": [kept.name, kept.has_inverse_link]}
    instead = "Set it to a number, a text, or a list or dict of these before saving"
    if hasattr(value, "get_params"):
        instead = "Fit with one of Spinney's estimators in its place to save the model"
    raise CannotSave(
        f"{where} is of class {type(value).__name__}, which has no safe form in a file. {instead}, "
        "or keep this one with pickle or joblib."
    )


def decode(value: Any) -> Any:
    """Inverse of ``encode``; anything unknown is an ``InvalidFile``."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise InvalidFile("A parameter in the file is not understood.")
    ((tag, content),) = value.items()
    readers = {
        "$float": _decode_float,
        "$tuple": lambda items: tuple(decode(item) for item in items),
        "$set": lambda items: {decode(item) for item in items},
        "$dict": lambda pairs: {decode(key): decode(item) for key, item in pairs},
        "$array": _decode_array,
        "$generator": _decode_generator,
        "$estimator": _decode_estimator,
        "$linear": _decode_linear,
        "$splitter": _decode_splitter,
        "$loss": _decode_loss,
    }
    if tag not in readers:
        raise InvalidFile(f"A parameter in the file has the unknown form {tag!r}.")
    try:
        return readers[tag](content)
    except InvalidFile:
        raise
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
        raise InvalidFile(f"A parameter in the file is damaged ({tag}).") from error


def _decode_float(text: Any) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise InvalidFile(f"A parameter in the file is no number: {text!r}.")
    return float(text)


def _decode_array(content: Any) -> Any:
    kind, items = content
    dtype = np.dtype(kind if isinstance(kind, str) else "V")
    if dtype.kind not in "biuf":
        raise InvalidFile("A parameter in the file is an array of an unknown type.")
    return np.array(decode(items), dtype)


def _decode_loss(content: Any) -> SavedLoss:
    name, has_inverse_link = content
    if not isinstance(name, str) or not name.isidentifier() or type(has_inverse_link) is not bool:
        raise InvalidFile("A parameter in the file is a loss without a name.")
    return SavedLoss(name, has_inverse_link)


def is_ours(value: Any) -> bool:
    """Tell whether a value is an estimator of one of Spinney's public classes, no subclass."""
    package = importlib.import_module("spinney")
    name = type(value).__name__
    return name in package.ESTIMATORS and type(value) is getattr(package, name)


def _encode_estimator(estimator: Any, where: str) -> Any:
    """Write a base learner as its class and its parameters; what it has learnt is no parameter."""
    parameters = estimator.get_params(deep=False)
    encoded = {name: encode(value, f"{where}__{name}") for name, value in parameters.items()}
    return {"$estimator": [type(estimator).__name__, encoded]}


def _decode_estimator(content: Any) -> Any:
    name, parameters = content
    package = importlib.import_module("spinney")
    if not isinstance(name, str) or name not in package.ESTIMATORS:
        raise InvalidFile(f"A parameter in the file is an estimator of an unknown class: {name!r}.")
    values = {key: decode(value) for key, value in parameters.items()}
    try:
        estimator = getattr(package, name)(**values)
        estimator._check_parameters()  # noqa: SLF001 - a file may carry any value
    except InvalidParameter as error:
        raise InvalidFile(f"A parameter in the file is wrong: {error}") from error
    return estimator


def _linear_classes() -> dict[str, Any]:
    """Give the classes of scikit-learn that may be final estimators of a saved stack."""
    models = importlib.import_module("sklearn.linear_model")
    return {name: getattr(models, name) for name in LINEAR}


def _splitter_classes() -> dict[str, Any]:
    """Give the splitters that are nothing but a few plain parameters."""
    theirs = importlib.import_module("sklearn.model_selection")
    ours = importlib.import_module("spinney.resampling")
    found = {name: getattr(theirs, name) for name in THEIR_SPLITTERS}
    return found | {name: getattr(ours, name) for name in OUR_SPLITTERS}


def is_linear(value: Any) -> bool:
    """Tell whether a value is a linear estimator of scikit-learn's that files know."""
    return _linear_classes().get(type(value).__name__) is type(value)


def _encode_arguments(value: Any, where: str) -> list[Any]:
    """Give the class, and what its constructor was told: attributes of the same names."""
    names = inspect.signature(type(value)).parameters
    arguments = {name: encode(getattr(value, name), f"{where}__{name}") for name in names}
    return [type(value).__name__, arguments]


def _decode_linear(content: Any) -> Any:
    name, arguments = content
    made = _linear_classes()[name](**{key: decode(item) for key, item in arguments.items()})
    made._validate_params()  # noqa: SLF001 - a ValueError is a damaged parameter
    return made


def _decode_splitter(content: Any) -> Any:
    name, arguments = content
    return _splitter_classes()[name](**{key: decode(item) for key, item in arguments.items()})


def _encode_generator(generator: np.random.Generator | np.random.RandomState) -> Any:
    if isinstance(generator, np.random.Generator):
        state: Any = generator.bit_generator.state
    else:
        state = generator.get_state(legacy=False)
    family = type(generator).__name__
    if state["bit_generator"] not in _BIT_GENERATORS:
        raise CannotSave(
            f"random_state draws from {state['bit_generator']}, which is not one of NumPy's own."
        )
    return {"$generator": [family, encode(_plain(state), "random_state")]}


def _check_positions(state: dict[str, Any]) -> None:
    """Refuse what NumPy would use as an index without a look: it could read foreign memory."""
    limits = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1}
    for part in (state, state["state"]):
        for name, most in limits.items():
            number = part.get(name, 0)
            if not isinstance(number, int) or not 0 <= number <= most:
                raise InvalidFile(
                    f"A generator in the file has {name} {number!r}, not 0 to {most}."
                )


def _plain(state: Any) -> Any:
    """Numbers of more than 64 bits as text: a file's integers are bounded."""
    if isinstance(state, dict):
        return {key: _plain(item) for key, item in state.items()}
    if isinstance(state, int) and state.bit_length() > 63:
        return hex(state)
    return state


def _full(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _full(item) for key, item in state.items()}
    if isinstance(state, str) and state.startswith("0x"):
        return int(state, 16)
    return state


def _decode_generator(content: Any) -> np.random.Generator | np.random.RandomState:
    family, encoded = content
    state = _full(decode(encoded))
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise InvalidFile(f"The file names the unknown generator {name!r}.")
    _check_positions(state)
    bits = getattr(np.random, name)()
    bits.state = {key: item for key, item in state.items() if key not in ("has_gauss", "gauss")}
    if family == "Generator":
        return np.random.Generator(bits)
    generator = np.random.RandomState(bits)
    generator.set_state(state)
    return generator
