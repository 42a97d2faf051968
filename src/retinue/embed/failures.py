"""How a turn can fail, and what strangers are told of it: that it failed, not what a provider said of us."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.chat.engine.budget import OutOfTokens
from retinue.chat.errors import AgentArchived, TooManyTurns, TurnTimedOut
from retinue.embed.errors import TokenBudgetSpent
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.failover import UNUSABLE

FAILURES: tuple[type[RetinueError], ...] = (
    AgentArchived,
    ModelError,
    ModelTimeout,
    ModelNotConfigured,
    OutOfTokens,
    TokenBudgetSpent,
    TooManyTurns,
    TurnTimedOut,
    VaultSealed,
)


@contextmanager
def hushed() -> Iterator[None]:
    """A failure of the model without the words of the provider or the vault.

    They name models, accounts, addresses and credentials.
    """
    try:
        yield
    except ModelTimeout as error:
        raise ModelTimeout from error
    except ModelError as error:
        raise ModelError(error.kind) from error
    except (ModelNotConfigured, *UNUSABLE) as error:
        raise ModelNotConfigured from error


def hushed_events(events: Callable[[], AsyncIterator[Any]]) -> Callable[[], AsyncIterator[Any]]:
    """The same events, and the same end without the provider's words."""

    async def listened() -> AsyncIterator[Any]:
        source = events()
        try:
            with hushed():
                async for event in source:
                    yield event
        finally:
            # Whoever stops listening to us must be heard by the turn itself.
            close = getattr(source, "aclose", None)
            if close is not None:
                await close()

    return listened
