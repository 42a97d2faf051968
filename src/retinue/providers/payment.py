"""Payment of one call of a model: held before a provider is asked, booked once it has answered (ADR 39)."""

from collections.abc import Callable

from msgspec.structs import asdict

from retinue.adapters.llm import Embeddings, ModelReply, Transcription
from retinue.kit.context import Context
from retinue.providers import key_budgets
from retinue.providers.model_resolution import ModelCandidate
from retinue.usage.enforcement import BudgetHold
from retinue.usage.model_call import BookedCall, CallKind, PlannedCall, SpendingHold

Measure = Callable[[str], PlannedCall]
"""Measures a call, given the id of its model; estimates take time, so only if somebody asks."""
Answer = ModelReply | Embeddings | Transcription


class CallPayment:
    """Who pays for one call: its hold, and the budgets of the key that is tried. Embedded models are free.

    Most calls are limited by nobody; `is_limited` says whether the hold has to be asked.
    """

    def __init__(self, ctx: Context, hold: SpendingHold, measure: Measure) -> None:
        self._ctx = ctx
        self._hold = hold
        self._measure = measure
        self._key_hold: BudgetHold | None = None
        self._is_booked = False
        self.is_limited = hold.is_limited
        self._is_key_limited = False
        self.reply_tokens: int | None = None
        """How many tokens the reply may have, once admitted; None if no budget limits it."""

    async def forget_key(self) -> None:
        """Release the budgets of the key that was tried before: they do not limit the next one."""
        self.reply_tokens = None
        if self._key_hold is not None:
            held, self._key_hold = self._key_hold, None
            await held.release()

    async def admit(self, candidate: ModelCandidate) -> None:
        """Raise if nobody pays for the call."""
        if candidate.key is not None:
            self.reply_tokens = await self._hold.admit(self._ctx, self._measure(candidate.id))

    def is_key_limited_for(self, candidate: ModelCandidate) -> bool:
        """Return whether budgets may limit the key."""
        key = candidate.key
        self._is_key_limited = key is not None and key_budgets.may_be_limited(self._ctx, key)
        return self._is_key_limited

    async def admit_key(self, candidate: ModelCandidate) -> None:
        """Raise if the budgets of the key do not pay for the call; those of another key may."""
        assert candidate.key is not None
        call = self._measure(candidate.id)
        self._key_hold, affordable = await key_budgets.hold_key(self._ctx, candidate.key, call)
        if affordable is not None:
            self.reply_tokens = min(affordable, self.reply_tokens or affordable)

    async def book(self, candidate: ModelCandidate, answer: Answer | None = None) -> None:
        """Count the call, once; the sound and the vectors of embedded models are not worth a row."""
        if self._is_booked or (candidate.key is None and type(answer) is not ModelReply):
            return
        self._is_booked = True
        call = self._booked(candidate, answer)
        await self._hold.book(self._ctx, call)
        if self._is_key_limited and candidate.key is not None:
            await key_budgets.count_key_usage(self._ctx, candidate.key, call)

    def _booked(self, candidate: ModelCandidate, answer: Answer | None) -> BookedCall:
        usage = answer.usage if isinstance(answer, ModelReply | Embeddings) else None
        if usage is not None:
            kind: CallKind = "chat" if type(answer) is ModelReply else "embedding"
            return BookedCall(kind=kind, model=candidate.id, usage=usage)
        fields = asdict(self._measure(candidate.id))
        if isinstance(answer, Transcription) and answer.duration_seconds is not None:
            fields["seconds"] = answer.duration_seconds
        text = answer.text if isinstance(answer, ModelReply) else ""
        return BookedCall(**fields, reply_characters=len(text))

    async def release(self) -> None:
        """Release what is held; a call that nobody limits holds nothing."""
        if self._key_hold is not None:
            await self.forget_key()
        if self.is_limited:
            await self._hold.release()
