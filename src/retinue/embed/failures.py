"""Errors of a turn, without provider details for anonymous callers."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.chat.engine.budget import OutOfTokens
from retinue.chat.engine.compaction_plan import ContextTooLong
from retinue.chat.engine.structured_output import OutputInvalid
from retinue.chat.errors import AgentArchived, ModelCannotSee, SttNotConfigured, TooManyTurns, TurnTimedOut
from retinue.embed.errors import TokenBudgetSpent
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.failover import KEY_UNUSABLE_ERRORS
from retinue.usage.errors import BudgetExceeded

TURN_ERRORS: tuple[type[RetinueError], ...] = (
    AgentArchived,
    ContextTooLong,
    ModelError,
    ModelTimeout,
    ModelNotConfigured,
    OutOfTokens,
    OutputInvalid,
    BudgetExceeded,
    TokenBudgetSpent,
    TooManyTurns,
    TurnTimedOut,
    VaultSealed,
)

_CANNOT_ANSWER = "This assistant cannot answer right now."


@contextmanager
def hide_provider_errors() -> Iterator[None]:
    """Replace model errors by generic ones, without messages of the provider or the vault.

    Those messages name models, accounts, addresses and credentials.
    """
    try:
        yield
    except ModelTimeout as error:
        raise ModelTimeout from error
    except ModelError as error:
        raise ModelError(error.kind) from error
    except OutputInvalid as error:
        raise OutputInvalid from error
    except ModelCannotSee as error:
        raise ModelCannotSee from error
    except SttNotConfigured as error:
        raise SttNotConfigured from error
    except BudgetExceeded as error:
        raise _without_amounts(error) from error
    except (ModelNotConfigured, *KEY_UNUSABLE_ERRORS) as error:
        raise ModelNotConfigured(_CANNOT_ANSWER) from error


def _without_amounts(error: BudgetExceeded) -> BudgetExceeded:
    """Return the refusal of a budget without its limit and its owner, which are nobody else's business."""
    retry_after = int((error.details or {}).get("retry_after", 1))
    hidden = BudgetExceeded(
        limit=0,
        window=0,
        retry_after=retry_after,
        reset=0,
        message=f"{_CANNOT_ANSWER} Please try again later.",
    )
    hidden.details, hidden.headers = {"retry_after": retry_after}, {"Retry-After": str(retry_after)}
    return hidden


def hide_provider_errors_in(events: Callable[[], AsyncIterator[Any]]) -> Callable[[], AsyncIterator[Any]]:
    """Relay the events; an error at the end is replaced by a generic one."""

    async def relayed() -> AsyncIterator[Any]:
        source = events()
        try:
            with hide_provider_errors():
                async for event in source:
                    yield event
        finally:
            # Close the source explicitly, so that the turn notices when the client disconnects.
            close = getattr(source, "aclose", None)
            if close is not None:
                await close()

    return relayed
