"""Structured replies of models that refuse the field for them: these get a note in words instead.

Which models these are is learned from a 400, in memory and separately in each process.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from retinue.adapters.llm import ChatRequest, Delta, ModelError, ModelReply, with_format_note
from retinue.kit.context import Context
from retinue.providers.circuit_breakers import BreakerKey
from retinue.providers.model_resolution import ModelCandidate

REMEMBERED_SECONDS = 3600.0
_MAX_REMEMBERED = 4096
_REFUSALS = frozenset({400, 422})


class RefusedFormats:
    """The models that refused the field for structured replies, each with one provider key, for an hour."""

    def __init__(self, most: int = _MAX_REMEMBERED) -> None:
        self._max_remembered = most
        self._until: OrderedDict[BreakerKey, float] = OrderedDict()

    def has(self, asked: BreakerKey, now: float) -> bool:
        return self._until.get(asked, now) > now

    def add(self, asked: BreakerKey, now: float) -> None:
        self._until[asked] = now + REMEMBERED_SECONDS
        self._until.move_to_end(asked)
        if len(self._until) > self._max_remembered:
            self._until.popitem(last=False)


class FormattedCall:
    """One call for a structured reply: with the provider's field, or once more with the note."""

    def __init__(self, ctx: Context, candidate: ModelCandidate, request: ChatRequest) -> None:
        self._ctx = ctx
        self._asked = BreakerKey(candidate.key.id if candidate.key is not None else "", candidate.model)
        self._refused = ctx.state(RefusedFormats)
        self._request = request
        self._noted = with_format_note(request)

    @property
    def _is_known(self) -> bool:
        return self._refused.has(self._asked, self._ctx.clock.monotonic())

    def _remember(self) -> None:
        self._refused.add(self._asked, self._ctx.clock.monotonic())

    async def chat(self, ask: Callable[[ChatRequest], Awaitable[ModelReply]]) -> ModelReply:
        if self._is_known:
            return await ask(self._noted)
        try:
            return await ask(self._request)
        except ModelError as error:
            if error.provider_status not in _REFUSALS:
                raise
        # Remembered only if the note helped: the provider may have refused something else.
        reply = await ask(self._noted)
        self._remember()
        return reply

    async def stream(
        self, ask: Callable[[ChatRequest], AsyncGenerator[Delta, None]]
    ) -> AsyncGenerator[Delta, None]:
        if not self._is_known:
            has_begun = False
            try:
                async with aclosing(ask(self._request)) as deltas:
                    async for delta in deltas:
                        has_begun = True
                        yield delta
            except ModelError as error:
                if has_begun or error.provider_status not in _REFUSALS:
                    raise
            else:
                return
        async with aclosing(ask(self._noted)) as deltas:
            async for delta in deltas:
                if not self._is_known:
                    self._remember()
                yield delta
