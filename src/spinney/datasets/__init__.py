"""Data to try things on: tables, recipes of the literature, tiny examples; no network.

Recipes that draw take ``random_state``: a whole number gives the same data every time, a
``numpy.random.Generator`` is used as it is and moves on, so that two calls give a training and a
test set; None asks the operating system.
"""

from spinney.datasets.bundled import load_tumours
from spinney.datasets.dataset import Dataset, Sample
from spinney.datasets.friedman import make_friedman
from spinney.datasets.long_servedio import make_long_servedio, make_long_servedio_points
from spinney.datasets.mease_wyner import make_mease_wyner
from spinney.datasets.moons import make_moons
from spinney.datasets.norms import make_ringnorm, make_threenorm, make_twonorm
from spinney.datasets.rudin import RudinMatrix, rudin_matrix
from spinney.datasets.samples import load_law_school, load_mouse_survival, load_spatial_test
from spinney.datasets.spheres import make_esl_spheres, make_shells
from spinney.datasets.toy10 import make_toy10
from spinney.datasets.waveform import make_waveform
from spinney.datasets.xor import make_xor, make_xor_points

__all__ = [
    "Dataset",
    "RudinMatrix",
    "Sample",
    "load_law_school",
    "load_mouse_survival",
    "load_spatial_test",
    "load_tumours",
    "make_esl_spheres",
    "make_friedman",
    "make_long_servedio",
    "make_long_servedio_points",
    "make_mease_wyner",
    "make_moons",
    "make_ringnorm",
    "make_shells",
    "make_threenorm",
    "make_toy10",
    "make_twonorm",
    "make_waveform",
    "make_xor",
    "make_xor_points",
    "rudin_matrix",
]
