"""The context that every service function receives, and what the composition registers for it."""

from retinue.kit.context.context import Caller, Context

__all__ = ["Caller", "Context"]
