"""Spending holds for model calls that a test makes itself."""

from retinue.usage.enforcement import Spender
from retinue.usage.single_call import SingleCall


def unlimited_hold() -> SingleCall:
    """Return the hold of a payer without a budget."""
    return SingleCall(Spender())
