"""What margins cost."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.errors import InvalidParameter
from spinney.losses import MARGIN_LOSSES, MarginLoss, margin_loss
from spinney.plots.canvas import COLOURS, DASHES, INK, Axes, frame, legend_beside, one_axes, pick

_CURVES = ("exponential", "logistic", "squared", "hinge", "savage")


def plot_margin_losses(
    names: Sequence[str | MarginLoss] | str = _CURVES,
    *,
    limits: tuple[float, float] = (-2.0, 2.0),
    ax: Axes | None = None,
) -> Axes:
    """Draw losses as functions of the margin u = y F, all scaled to 1 at 0, with the 0-1 loss.

    Parameters
    ----------
    names : names of ``spinney.losses.MARGIN_LOSSES``, or losses
        A single name will do. The 0-1 loss is always there.
    limits : two numbers
        From which to which margin.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> ax = plot_margin_losses(["hinge", "savage"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['zero_one: 1[u ≤ 0]', 'hinge: max(0, 1 - u)', 'savage: 1 / (1 + exp(2u))²']
    """
    given: list[Any] = [names] if isinstance(names, str | MarginLoss) else list(names)
    losses = [margin_loss(one) for one in given if one != "zero_one"]
    low, high = limits
    if not -np.inf < low < high < np.inf:
        raise InvalidParameter(f"limits={limits!r}: expected two numbers, the lower one first.")
    ax = one_axes(ax)
    # The 0-1 loss jumps at 0 and not a little beside it.
    steps = np.array([low, 0.0, 0.0, high]) if low < 0.0 < high else np.array([low, high])
    costs = [1.0, 1.0, 0.0, 0.0] if low < 0.0 < high else MARGIN_LOSSES["zero_one"].scaled(steps)
    ax.plot(steps, costs, color=INK, linewidth=1.8, label=_label(MARGIN_LOSSES["zero_one"]))
    u = np.linspace(low, high, 401)
    for place, loss in enumerate(losses):
        ax.plot(
            u,
            loss.scaled(u),
            color=pick(COLOURS, place),
            linestyle=pick(DASHES, place),
            label=_label(loss),
        )
    ax.set_xlim(low, high)
    ax.set_ylim(0.0, 4.0)
    frame(ax, x="margin u = y F(x)", y="loss, scaled to 1 at 0")
    legend_beside(ax)
    return ax


def _label(loss: MarginLoss) -> str:
    return loss.name if loss.name == loss.words else f"{loss.name}: {loss.words}"
