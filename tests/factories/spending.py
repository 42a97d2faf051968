"""Who pays for calls of models that a test makes itself."""

from retinue.usage.enforcement import Spender
from retinue.usage.single_call import SingleCall


def unlimited() -> SingleCall:
    """The hold of somebody whom no budget names."""
    return SingleCall(Spender())
