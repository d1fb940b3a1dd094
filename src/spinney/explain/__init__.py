"""Why a model says what it says: exact answers, read from the frozen model."""

from spinney.explain.reading import raw_output_names as raw_output_names
from spinney.explain.verification import Claim as Claim
from spinney.explain.verification import Verification as Verification
from spinney.explain.verification import verify as verify

__all__: list[str] = ["Claim", "Verification", "raw_output_names", "verify"]
