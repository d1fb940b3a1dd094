"""Why a model says what it says: exact answers, read from the frozen model."""

from spinney.explain.reading import raw_output_names as raw_output_names

__all__: list[str] = ["raw_output_names"]
