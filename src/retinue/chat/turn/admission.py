"""Admission of a message: the one way from a request to its stored question, in a fixed order.

Agent in use, pinned version, files, sight of the model, slot, budgets, transcription, conversion, seeds,
storage. What costs nothing comes first; what costs time or money follows once the budgets are held.
"""

from typing import Protocol, Self

from retinue.chat.attachments.preparation import RequestedFiles, convert, load_files
from retinue.chat.models import Message
from retinue.chat.playground import Trial
from retinue.chat.trail import TrailRecorder
from retinue.chat.turn import repeated_requests, storage
from retinue.chat.turn.billing import BudgetReservation
from retinue.chat.turn.placement import RequestedPlace, place_turn
from retinue.chat.turn.preconditions import require_answerable, require_not_archived
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.runner import PartListener, StoreResult, run_turn
from retinue.chat.turn.slots import acquire_turn_slot, charge_turn_rate
from retinue.chat.turn.storage import PendingTurn
from retinue.chat.turn.suspension import store_result_or_suspend
from retinue.kit.context import Context
from retinue.kit.limits import Lease


class SpokenMessage(Protocol):
    """A message that must be transcribed before it can be answered."""

    async def load(self, ctx: Context, request: TurnRequest) -> None:
        """Raise if it cannot be transcribed."""

    async def transcribe(
        self, ctx: Context, request: TurnRequest, reservation: BudgetReservation
    ) -> TurnRequest: ...


class AdmittedTurn:
    """A turn whose question is stored, with its slot and budgets; the caller must release it.

    `reply` is set if an earlier attempt of the same request was already answered.
    """

    __slots__ = ("_reservation", "_slot", "pending", "reply")

    def __init__(
        self,
        pending: PendingTurn,
        reply: Message | None,
        slot: Lease | None = None,
        reservation: BudgetReservation | None = None,
    ) -> None:
        self.pending = pending
        self.reply = reply
        self._slot = slot
        self._reservation = reservation

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()

    async def answer(
        self,
        ctx: Context,
        *,
        on_part: PartListener | None = None,
        trail: TrailRecorder | None = None,
        store: StoreResult = store_result_or_suspend,
    ) -> Message:
        """Return the reply, which `run_turn` makes if there is none yet."""
        if self.reply is not None:
            return self.reply
        return await run_turn(
            ctx, self.pending, on_part=on_part, trail=trail, store=store, reservation=self._reservation
        )

    async def release(self) -> None:
        if self._reservation is not None:
            await self._reservation.release()
        if self._slot is not None:
            slot, self._slot = self._slot, None
            await slot.release()


async def admit(
    ctx: Context,
    request: TurnRequest,
    *,
    files: RequestedFiles | None = None,
    trial: Trial | None = None,
    recording: SpokenMessage | None = None,
    place: RequestedPlace | None = None,
) -> AdmittedTurn:
    """Store a message that this process answers; `ctx` must have no open transaction."""
    require_not_archived(request.agent)
    if trial is not None:
        request = await trial.pin(ctx, request)
    if files is not None:
        request = await load_files(ctx, request, files)
    if place is not None:
        request = await place_turn(ctx, request, place)
    if recording is not None:
        await recording.load(ctx, request)
    # The answer to a recording also holds its transcription, which is not stored.
    if ctx.claim is not None and recording is None:
        answered = await repeated_requests.find_answered(ctx, request)
        if answered is not None:
            return AdmittedTurn(*answered)
    async with _Admission(ctx, await acquire_turn_slot(ctx)) as admission:
        await require_answerable(ctx, request, admission.reservation)
        if recording is not None:
            request = await recording.transcribe(ctx, request, admission.reservation)
        if request.attachments:
            request = await convert(ctx, request, admission.reservation)
        if trial is not None:
            request = await trial.seed(ctx, request)
        return admission.hand_over(*await repeated_requests.store_question_once(ctx, request))


async def admit_within_turn(ctx: Context, request: TurnRequest, *, needs_slot: bool) -> AdmittedTurn:
    """Store a message that a tool sends.

    If an agent called the tool, its own turn already holds a slot. The Idempotency-Key of the request is not
    for this turn, which may be one of several.
    """
    require_not_archived(request.agent)
    async with _Admission(ctx, await acquire_turn_slot(ctx) if needs_slot else None) as admission:
        await require_answerable(ctx, request, admission.reservation)
        return admission.hand_over(await storage.start_turn(ctx, request))


async def admit_for_worker(
    ctx: Context,
    request: TurnRequest,
    unit: Context | None = None,
    *,
    files: RequestedFiles | None = None,
    place: RequestedPlace | None = None,
) -> PendingTurn:
    """Store a message that a worker answers, in the transaction of `ctx`.

    In a `unit` of somebody else, the worker converts the files and finds out whether the message can be
    answered: both may write in transactions of their own, which would wait for this one.
    """
    if files is not None:
        request = await load_files(ctx, request, files)
    if place is not None:
        request = await place_turn(ctx, request, place)
    if unit is not None:
        return await storage.start_turn(ctx, request, unit)
    require_not_archived(request.agent)
    await charge_turn_rate(ctx, ctx.principal.limits)
    await require_answerable(ctx, request)
    if request.attachments:
        request = await convert(ctx, request)
    return await storage.start_turn(ctx, request, ctx)


class _Admission:
    """The slot and the budgets of a turn until its question is stored; a refusal releases both."""

    __slots__ = ("_slot", "reservation")

    def __init__(self, ctx: Context, slot: Lease | None) -> None:
        self._slot = slot
        self.reservation = BudgetReservation(ctx.detached())

    def hand_over(self, pending: PendingTurn, reply: Message | None = None) -> AdmittedTurn:
        return AdmittedTurn(pending, reply, self._slot, self.reservation)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, error: object, *_: object) -> None:
        if error is not None:
            await self.reservation.release()
            if self._slot is not None:
                await self._slot.release()
