"""One question, several keys: who is asked next, and what is remembered of those who failed.

The embedded models stand alone: they have no key, and what they say is final.

A key that fails hands over to the next one at once. When all have failed, those that may soon be well again
are asked twice more, after a pause. Nothing is repeated once a part of an answer was passed on.
"""

import asyncio
import random
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
import structlog

from retinue.adapters.embedded.models import EmbeddedModels, LocalKind
from retinue.adapters.llm import Kind, ModelError, Provider, Timeouts, provider_for
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret
from retinue.providers import breakers
from retinue.providers.echoes import EchoGuard
from retinue.providers.events import ApiKeyInvalidated
from retinue.providers.models import ProviderKey
from retinue.providers.resolving import Candidate, require_available, resolve
from retinue.providers.secrets import REFUSALS, opened
from retinue.usage.errors import BudgetExceeded

log = structlog.get_logger("retinue.providers")

RETRIES = 2
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 5.0
USED_EVERY_S = 60
TIMEOUTS = Timeouts()

# What passes by itself in moments. After a timeout the caller has waited long enough for this key.
_PASSING: frozenset[Kind] = frozenset({"rate_limited", "overloaded", "unreachable", "broken_stream"})
# The key cannot be used as things are; another one may be fine.
UNUSABLE = (*REFUSALS, EgressRefused, BudgetExceeded)

_keys = ProviderKey.__table__
_MARK_USED: Statement[Any] = Statement(
    sa.update(_keys)
    .where(_keys.c.id == sa.bindparam("key_id"))
    .values(last_used_at=sa.bindparam("now"), is_valid=True)
)
# Only the key that was refused: one that was entered since then is another.
_INVALIDATE: Statement[Any] = Statement(
    sa.update(_keys)
    .where(
        _keys.c.id == sa.bindparam("key_id"),
        _keys.c.updated_at == sa.bindparam("seen_at"),
        _keys.c.is_valid.is_(True),
    )
    .values(is_valid=False)
)


class Tries:
    """The keys of one question; no transaction is open while one of them is asked."""

    def __init__(
        self, ctx: Context, candidates: list[Candidate], kind: LocalKind, via: Mapping[str, str]
    ) -> None:
        self._ctx = ctx
        self._kind = kind
        self._via = via
        self._waiting = candidates
        self._again: list[Candidate] = []
        self._pauses = 0
        self._asked_pause_s = 0.0
        self._error: RetinueError | None = None

    @classmethod
    async def of(cls, ctx: Context, model: str, kind: LocalKind, via: Mapping[str, str]) -> "Tries":
        if ctx.unit_of_work.is_open:
            raise RuntimeError("a model is asked before the transaction opens, not while others wait for it")
        return cls(ctx, await resolve(ctx, model, kind), kind, via)

    @property
    def error(self) -> RetinueError:
        """Why nobody answered: what was wrong with the last one, or that all of them rest."""
        return self._error or ModelError(
            "overloaded", "Every key for this model failed repeatedly; try again in half a minute."
        )

    async def next(self) -> Candidate | None:
        """The key to ask now; nothing when there is no more to hope for."""
        while True:
            while self._waiting:
                candidate = self._waiting.pop(0)
                if candidate.key is None:
                    return candidate
                if breakers.admits(candidate.key.id, self._ctx.clock.monotonic()):
                    return candidate
            if not self._again or self._pauses == RETRIES:
                return None
            await asyncio.sleep(self._pause_s())
            self._waiting, self._again = self._again, []

    async def client(self, candidate: Candidate) -> tuple[Provider, EchoGuard]:
        if candidate.key is None:
            embedded = self._ctx.adapter(EmbeddedModels)
            # Documents wait for the weights of their model; whoever chats is told that there are none.
            if self._kind == "chat":
                require_available(embedded, candidate.model)
            return embedded.asked_by(self._ctx.tenant_id), EchoGuard(Secret(""))
        access = await opened(self._ctx, candidate.key, self._via)
        return provider_for(self._ctx.adapter(Egress), access, timeouts=TIMEOUTS), EchoGuard(access.api_key)

    async def failed(self, candidate: Candidate, error: RetinueError) -> None:
        """Remember it; the error itself comes back where no other key and no other try would help."""
        key = candidate.key
        if key is None:
            log.warning("an embedded model failed", model=candidate.model, error=error.message)
            raise error
        log.warning("a provider key failed", key=key.id, provider=key.provider, error=error.message)
        self._error = error
        if isinstance(error, UNUSABLE):
            return
        if not isinstance(error, ModelError) or not (error.other_key_may_help or error.retryable):
            raise error
        if error.kind == "auth":
            # Without money, or for a model it may not use, a key is refused too, and yet is the right one.
            if error.provider_status == 401:
                await _invalidate(self._ctx, key, error)
            return
        breakers.failed(key.id, self._ctx.clock.monotonic())
        wait_s = error.retry_after_s or 0.0
        if error.kind in _PASSING and wait_s <= LONGEST_PAUSE_S:
            self._again.append(candidate)
            self._asked_pause_s = max(self._asked_pause_s, wait_s)

    async def answered(self, candidate: Candidate) -> None:
        key = candidate.key
        if key is None:
            return
        breakers.forget(key.id)
        is_recent = key.last_used_at is not None and key.last_used_at > self._ctx.clock.ahead(-USED_EVERY_S)
        if is_recent and key.is_valid:
            return
        async with self._ctx.unit() as unit:
            await unit.db.execute(_MARK_USED, key_id=key.id, now=unit.now)

    def _pause_s(self) -> float:
        own_s = FIRST_PAUSE_S * (1 << self._pauses) * random.uniform(0.75, 1.25)  # noqa: S311  not a secret
        asked_s, self._asked_pause_s = self._asked_pause_s, 0.0
        self._pauses += 1
        return max(own_s, asked_s)


async def _invalidate(ctx: Context, key: ProviderKey, error: ModelError) -> None:
    async with ctx.unit() as unit:
        if await unit.db.execute(_INVALIDATE, key_id=key.id, seen_at=key.updated_at):
            unit.emit(
                ApiKeyInvalidated(
                    api_key_id=key.id, name=key.name, provider=key.provider, reason=error.message
                )
            )
