"""Formulas of a user's loss are compared with each other, in the precision they answer in."""

import numpy as np
import pytest
from tests.unit.ensembles.gradient import losses

from spinney.errors import InvalidParameter
from spinney.losses.custom_loss import custom_loss


@pytest.mark.parametrize("loss", [losses.LogCosh, losses.ShortLogCosh])
@pytest.mark.parametrize("middle", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("width", [1e-3, 1.0, 1e3])
def test_right_formulas_pass_wherever_targets_lie_and_in_32_bits_too(loss, middle, width):
    y = middle + width * np.random.default_rng(0).normal(size=300)
    custom_loss(loss(), ("identity",), "identity", 1).check(y)


@pytest.mark.parametrize("loss", [losses.LogCosh, losses.ShortLogCosh])
@pytest.mark.parametrize("part", [0, 1], ids=["gradient", "hessian"])
def test_a_formula_that_is_two_percent_off_is_found_in_both_precisions(loss, part):
    class Slip(loss):
        def gradients(self, y, raw):
            given = list(super().gradients(y, raw))
            given[part] = given[part] * np.float32(1.02)
            return tuple(given)

    y = 1e3 + np.random.default_rng(0).normal(size=300)
    of_loss = custom_loss(Slip(), ("identity",), "identity", 1)
    with pytest.raises(InvalidParameter, match=("gradient", "hessian")[part] + " of loss Slip"):
        of_loss.check(y)
