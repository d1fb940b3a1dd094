"""Tables to try things on: bundled with scikit-learn, no network."""

from spinney.datasets.bundled import Dataset, load_tumours

__all__ = ["Dataset", "load_tumours"]
