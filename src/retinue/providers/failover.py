"""Failover between the keys of a model.

Embedded models have no keys and no failover. A key that fails is followed by the next one at once. When all
have failed, those with transient errors are retried twice after a pause. Nothing is repeated once a part of a
reply was passed on.
"""

import asyncio
import random
from collections.abc import Mapping

import sqlalchemy as sa
import structlog

from retinue.adapters.embedded.models import EmbeddedModels, LocalKind
from retinue.adapters.llm import ModelError, ModelErrorKind, ModelProvider, Timeouts, provider_for
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret
from retinue.providers.circuit_breakers import BreakerKey, CircuitBreakers
from retinue.providers.events import ApiKeyInvalidated
from retinue.providers.model_resolution import ModelCandidate, require_available, resolve_model
from retinue.providers.models import ProviderKey
from retinue.providers.reply_redaction import ReplyRedactor
from retinue.providers.secrets import ACCESS_REFUSALS, open_access
from retinue.usage.errors import BudgetExceeded, ModelUnpriced

log = structlog.get_logger("retinue.providers")

MAX_RETRIES = 2
FIRST_RETRY_SECONDS = 0.25
MAX_RETRY_SECONDS = 5.0
LAST_USED_UPDATE_SECONDS = 60
TIMEOUTS = Timeouts()

# Errors that pass within moments. After a timeout the caller has waited long enough for this key.
_TRANSIENT_KINDS: frozenset[ModelErrorKind] = frozenset(
    {"rate_limited", "overloaded", "unreachable", "broken_stream"}
)
# Errors that concern only this key; another one may work.
KEY_UNUSABLE_ERRORS = (*ACCESS_REFUSALS, EgressRefused, BudgetExceeded, ModelUnpriced)

_keys = ProviderKey.__table__
_MARK_USED = Statement(
    sa.update(_keys)
    .where(_keys.c.id == sa.bindparam("key_id"))
    .values(last_used_at=sa.bindparam("now"), is_valid=True)
)
# Only the refused secret: a key updated since then is not invalidated.
_INVALIDATE = Statement(
    sa.update(_keys)
    .where(
        _keys.c.id == sa.bindparam("key_id"),
        _keys.c.updated_at == sa.bindparam("seen_at"),
        _keys.c.is_valid.is_(True),
    )
    .values(is_valid=False)
)


class KeyAttempts:
    """The attempts of one model call; no transaction may be open during them."""

    def __init__(
        self,
        ctx: Context,
        model: str,
        candidates: list[ModelCandidate],
        kind: LocalKind,
        via: Mapping[str, str],
        *,
        has_fallback: bool,
        timeouts: Timeouts | None,
    ) -> None:
        self._ctx = ctx
        self._model = model
        self._kind = kind
        self._via = via
        self._breakers = ctx.state(CircuitBreakers)
        self._has_alternatives = has_fallback or len(candidates) > 1
        self._has_fallback = has_fallback
        self._timeouts = timeouts or TIMEOUTS
        self._waiting = candidates
        self._resting: list[ModelCandidate] = []
        self._retryable: list[ModelCandidate] = []
        self._retry_count = 0
        self._requested_pause_s = 0.0
        self._error: RetinueError | None = None

    @classmethod
    async def of(
        cls,
        ctx: Context,
        model: str,
        kind: LocalKind,
        via: Mapping[str, str],
        *,
        has_fallback: bool = False,
        timeouts: Timeouts | None = None,
    ) -> "KeyAttempts":
        """`has_fallback` says that the caller will ask another model if this one cannot answer."""
        if ctx.unit_of_work.is_open:
            raise RuntimeError("a model must be called before the transaction opens, not within it")
        candidates = await resolve_model(ctx, model, kind)
        return cls(ctx, model, candidates, kind, via, has_fallback=has_fallback, timeouts=timeouts)

    @property
    def error(self) -> RetinueError:
        """The error of the last attempt, or that every key rests."""
        if self._error is not None:
            return self._error
        now = self._ctx.clock.monotonic()
        resting = [_guarded(candidate, candidate.key) for candidate in self._resting if candidate.key]
        held_s = min((self._breakers.held_seconds(guarded, now) for guarded in resting), default=0.0)
        if held_s:
            return ModelError(
                "rate_limited", "The provider asked to be left alone for a while.", retry_after_s=held_s
            )
        open_s = min((self._breakers.open_seconds(guarded, now) for guarded in resting), default=0.0)
        return ModelError(
            "overloaded", "Every key for this model failed repeatedly.", retry_after_s=max(open_s, 1.0)
        )

    async def next_candidate(self) -> ModelCandidate | None:
        """Return the candidate to try now; None if no attempt is left."""
        while True:
            while self._waiting:
                candidate = self._waiting.pop(0)
                if candidate.key is None or self._admits(_guarded(candidate, candidate.key)):
                    return candidate
                self._resting.append(candidate)
            if (last_resort := self._last_resort()) is not None:
                return last_resort
            if not self._retryable or self._retry_count == MAX_RETRIES:
                return None
            await asyncio.sleep(self._pause_s())
            self._waiting, self._retryable = self._retryable, []

    def _admits(self, guarded: BreakerKey) -> bool:
        now = self._ctx.clock.monotonic()
        if self._breakers.held_seconds(guarded, now):
            return False
        return not self._has_alternatives or self._breakers.admits(guarded, now)

    def _last_resort(self) -> ModelCandidate | None:
        """Return a key whose breaker is open if nothing else was tried and no other model will be."""
        if self._has_fallback or self._error is not None:
            return None
        now = self._ctx.clock.monotonic()
        for candidate in self._resting:
            if candidate.key and not self._breakers.held_seconds(_guarded(candidate, candidate.key), now):
                self._resting.remove(candidate)
                return candidate
        return None

    async def client(self, candidate: ModelCandidate) -> tuple[ModelProvider, ReplyRedactor]:
        if candidate.key is None:
            embedded = self._ctx.adapter(EmbeddedModels)
            # Indexing waits for missing model weights; a chat fails at once.
            if self._kind == "chat":
                require_available(embedded, candidate.model, self._model)
            return embedded.for_requester(self._ctx.requester), ReplyRedactor(Secret(""))
        access = await open_access(self._ctx, candidate.key, self._via)
        provider = provider_for(self._ctx.adapter(Egress), access, self._ctx.clock, timeouts=self._timeouts)
        return provider, ReplyRedactor(access.api_key)

    async def failed(self, candidate: ModelCandidate, error: RetinueError) -> None:
        """Record the failure; re-raise the error if neither another key nor a retry would help."""
        key = candidate.key
        if key is None:
            log.warning("embedded_model_failed", model=candidate.model, error=error.message)
            raise error
        log.warning("provider_key_failed", key=key.id, provider=key.provider, error=error.message)
        self._error = error
        if isinstance(error, KEY_UNUSABLE_ERRORS):
            return
        if not isinstance(error, ModelError) or not (error.other_key_may_help or error.retryable):
            raise error
        if error.kind in {"auth", "quota"}:
            # Missing credit or model access is refused too, but the key itself stays valid.
            if error.provider_status == 401:
                await _invalidate(self._ctx, key, error)
            return
        self._note_failure(_guarded(candidate, key), error)
        wait_s = error.retry_after_s or 0.0
        if error.kind in _TRANSIENT_KINDS and wait_s <= MAX_RETRY_SECONDS:
            self._retryable.append(candidate)
            self._requested_pause_s = max(self._requested_pause_s, wait_s)

    def _note_failure(self, guarded: BreakerKey, error: ModelError) -> None:
        """Remember the failure; a slow model or a spent rate limit is not a broken one."""
        now = self._ctx.clock.monotonic()
        if error.kind == "rate_limited":
            if error.retry_after_s:
                self._breakers.hold(guarded, now, error.retry_after_s)
        elif error.kind != "timeout":
            self._breakers.failed(guarded, now)

    async def answered(self, candidate: ModelCandidate) -> None:
        key = candidate.key
        if key is None:
            return
        self._breakers.forget(_guarded(candidate, key))
        is_recent = key.last_used_at is not None and key.last_used_at > self._ctx.clock.ahead(
            -LAST_USED_UPDATE_SECONDS
        )
        if is_recent and key.is_valid:
            return
        async with self._ctx.unit() as unit:
            await unit.db.execute(_MARK_USED, key_id=key.id, now=unit.now)

    def _pause_s(self) -> float:
        backoff_s = FIRST_RETRY_SECONDS * (1 << self._retry_count) * random.uniform(0.75, 1.25)  # noqa: S311  not a secret
        requested_s, self._requested_pause_s = self._requested_pause_s, 0.0
        self._retry_count += 1
        return max(backoff_s, requested_s)


def _guarded(candidate: ModelCandidate, key: ProviderKey) -> BreakerKey:
    return BreakerKey(key.id, candidate.model)


async def _invalidate(ctx: Context, key: ProviderKey, error: ModelError) -> None:
    async with ctx.unit() as unit:
        if await unit.db.execute(_INVALIDATE, key_id=key.id, seen_at=key.updated_at):
            unit.emit(
                ApiKeyInvalidated(
                    api_key_id=key.id, name=key.name, provider=key.provider, reason=error.message
                )
            )
