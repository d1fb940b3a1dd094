"""Proofs and counter-examples: what holds for every row, not for a sample of them."""

from spinney.explain.verification.claims import Claim, Verification
from spinney.explain.verification.verify import verify

__all__ = ["Claim", "Verification", "verify"]
