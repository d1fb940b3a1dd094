"""Losses as users write them."""

import numpy as np


class Squared:
    def value(self, y, raw):
        return (raw - y) ** 2 / 2

    def gradients(self, y, raw):
        return raw - y, np.ones_like(raw)


class Logistic:
    def value(self, y, raw):
        return np.logaddexp(0.0, raw) - y * raw

    def gradients(self, y, raw):
        p = 1 / (1 + np.exp(-raw))
        return p - y, p * (1 - p)


class Poisson:
    link = "log"

    def value(self, y, raw):
        return np.exp(raw) - y * raw

    def gradients(self, y, raw):
        return np.exp(raw) - y

    def hessian(self, y, raw):  # noqa: ARG002 - of the curvature only the score decides
        return np.exp(raw)


class LogCosh:
    def value(self, y, raw):
        return np.logaddexp(raw - y, y - raw) - np.log(2)

    def gradients(self, y, raw):
        slope = np.tanh(raw - y)
        return slope, 1 - slope**2


class ShortLogCosh(LogCosh):
    """In 32 bits, as libraries that differentiate for their users answer."""

    def value(self, y, raw):
        away = np.abs((raw - y).astype(np.float32))
        return away + np.log1p(np.exp(-2 * away)) - np.log(np.float32(2))

    def gradients(self, y, raw):
        slope = np.tanh((raw - y).astype(np.float32))
        return slope, 1 - slope**2


class Huber:
    """Without a hessian: every leaf goes to its optimum."""

    def value(self, y, raw):
        far = np.abs(raw - y)
        return np.where(far <= 1.0, far**2 / 2, far - 0.5)

    def gradients(self, y, raw):
        return np.clip(raw - y, -1.0, 1.0)


class Absolute:
    """Of an even number of rows every constant between the middle two is as good."""

    def value(self, y, raw):
        return np.abs(raw - y)

    def gradients(self, y, raw):
        return np.sign(raw - y)


class AbsoluteWithHessian(Absolute):
    """The same, by somebody who gives the second derivative that it has."""

    def gradients(self, y, raw):
        return np.sign(raw - y), np.zeros_like(raw)


class Quantile:
    def __init__(self, level):
        self.level = level

    def value(self, y, raw):
        return np.maximum(self.level * (y - raw), (self.level - 1) * (y - raw))

    def gradients(self, y, raw):
        return np.where(y >= raw, -self.level, 1 - self.level)


class Gamma:
    link = "log"

    def value(self, y, raw):
        return raw + y * np.exp(-raw)

    def gradients(self, y, raw):
        return 1 - y * np.exp(-raw), y * np.exp(-raw)


class Tweedie:
    """With the power 1.5."""

    link = "log"

    def value(self, y, raw):
        return 2 * np.exp(raw / 2) + 2 * y * np.exp(-raw / 2)

    def gradients(self, y, raw):
        up, down = np.exp(raw / 2), y * np.exp(-raw / 2)
        return up - down, (up + down) / 2


class Exponential:
    """Of two classes, whose score is half the log-odds."""

    link = "double_logistic"

    def value(self, y, raw):
        return np.exp(np.where(y > 0, -raw, raw))

    def gradients(self, y, raw):
        sizes = self.value(y, raw)
        return np.where(y > 0, -sizes, sizes), sizes


class Multinomial:
    def shares(self, raw):
        p = np.exp(raw - raw.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def value(self, y, raw):
        return -np.log(self.shares(raw)[np.arange(len(y)), y.astype(int)])

    def gradients(self, y, raw):
        p = self.shares(raw)
        return p - (y[:, None] == np.arange(raw.shape[1])), p * (1 - p)


class LogCosh:
    """A smooth relative of Huber's loss that no library of losses has by name."""

    def value(self, y, raw):
        return np.logaddexp(raw - y, y - raw) - np.log(2.0)

    def gradients(self, y, raw):
        slope = np.tanh(raw - y)
        return slope, 1 - slope**2


class Reciprocal:
    """Squared loss of the inverse of the score's exponential: predictions by a function."""

    def value(self, y, raw):
        return (raw + np.log(y)) ** 2 / 2

    def gradients(self, y, raw):
        return raw + np.log(y), np.ones_like(raw)

    def inverse_link(self, raw):
        return np.exp(-raw)
