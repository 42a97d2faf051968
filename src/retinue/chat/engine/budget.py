"""The limits of one turn and its sub-agents; nothing in a model's output can lift them."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from retinue.adapters.llm import ModelReply, ModelUsage
from retinue.adapters.llm.estimates import MAX_UNLIMITED_REPLY_TOKENS, estimate_tokens
from retinue.chat.engine.parts import ReplyDetails
from retinue.chat.engine.suspended import SuspendedTurn
from retinue.chat.engine.turn_totals import TurnTotals
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject
from retinue.tools.models import ToolImage
from retinue.usage.allowance import CallShare, SpendingAllowance, SpendingLimit
from retinue.usage.model_call import BookedCall, PlannedCall
from retinue.usage.price_book import PriceBook
from retinue.usage.unpriced import UnpricedRule

MAX_ROUNDS = 10
MAX_TOOL_CALLS = 25
MAX_SAME_CALLS = 2
MAX_DELEGATION_DEPTH = 5
MAX_CONCURRENT_CALLS = 4
MAX_TURN_TOKENS = 200_000
MAX_REPLY_CHARACTERS = 1_000_000
MAX_TURN_SECONDS = 3600.0
"""The most that the setting for the time of a turn can be."""
_LOCAL_PREFIX = "local/"
MAX_TURN_IMAGES = 10
"""Images of results that the models of a turn are shown."""
MAX_TURN_IMAGE_BYTES = 10 * 1024 * 1024


class OutOfTokens(RetinueError):
    """The turn needs more tokens than it may use. Shorten the message or start a new conversation."""

    status, code = 422, "token_budget_exceeded"


class TurnBudget:
    """The limits of a turn, and the hold (`SpendingHold`) that its calls of models share.

    `totals` cover the agent and all sub-agents so far, including calls that were cut off. `tokens` is what
    the caller may still use. `unpriced` is the rule of a budget that refuses models without a price, and
    `limits` are what blocking budgets leave for the turn.
    """

    def __init__(
        self,
        prices: PriceBook,
        tokens: int | None = None,
        unpriced: UnpricedRule | None = None,
        limits: Iterable[SpendingLimit] = (),
    ) -> None:
        self.prices = prices
        self.totals = TurnTotals(prices)
        self._unpriced = unpriced
        own = [] if tokens is None else [SpendingLimit(left=tokens, is_in_usd=False, refuse=OutOfTokens)]
        self._allowance = SpendingAllowance(prices, [*own, *limits])
        self.is_limited = self._allowance.is_limited or unpriced is not None
        self._tokens = MAX_TURN_TOKENS if tokens is None else min(tokens, MAX_TURN_TOKENS)
        self._is_capped = tokens is not None
        self._calls = MAX_TOOL_CALLS
        self.is_spent = False
        self._seen: Counter[bytes] = Counter()
        self._images, self._image_bytes = MAX_TURN_IMAGES, MAX_TURN_IMAGE_BYTES

    def remaining_limits(self) -> JsonObject:
        """Return what is left for a turn that is suspended here and resumed later."""
        seen = {call.decode(): times for call, times in self._seen.items()}
        return {
            "tokens_left": self._tokens,
            "calls_left": self._calls,
            "seen": seen,
            "is_spent": self.is_spent,
            "images_left": self._images,
            "image_bytes_left": self._image_bytes,
        }

    def restore_limits(self, details: ReplyDetails, paused: SuspendedTurn) -> None:
        """Restore what a suspended turn had used and what it had left."""
        self.totals.restore(details)
        self._tokens = min(self._tokens, paused.tokens_left)
        self._calls, self.is_spent = paused.calls_left, paused.is_spent
        self._seen = Counter({call.encode(): times for call, times in paused.seen.items()})
        if paused.images_left is not None:
            self._images, self._image_bytes = paused.images_left, paused.image_bytes_left

    def reserve(self, model: str, prompt_tokens: int, max_reply_tokens: int | None) -> "Reservation":
        """Reserve tokens for a model call, so that concurrent calls cannot use them as well."""
        if self._tokens <= 0 or prompt_tokens >= MAX_TURN_TOKENS:
            raise OutOfTokens
        reply_tokens = min(max_reply_tokens or MAX_UNLIMITED_REPLY_TOKENS, self._tokens)
        is_unlimited = max_reply_tokens is None and reply_tokens == MAX_UNLIMITED_REPLY_TOKENS
        reserved_tokens = min(self._tokens, prompt_tokens + reply_tokens)
        self._tokens -= reserved_tokens
        return Reservation(
            budget=self,
            model=model,
            prompt_tokens=prompt_tokens,
            reply_limit=None if is_unlimited else reply_tokens,
            reserved_tokens=reserved_tokens,
        )

    def settle(self, reserved: "Reservation", reply_characters: int, *, is_upkeep: bool = False) -> None:
        """Release a reservation and charge the tokens used, estimated if the provider did not count.

        A call with `is_upkeep` counts against the limit of a caller or budget, not against the turn's own.
        """
        used = reserved.used or ModelUsage(reserved.prompt_tokens, estimate_tokens(reply_characters))
        self._tokens += reserved.reserved_tokens
        if self._is_capped or not is_upkeep:
            self._tokens -= used.prompt_tokens + used.completion_tokens
        self.return_share(reserved)
        if not reserved.is_refunded:
            self._count(reserved.model, used)

    async def admit(self, _ctx: Context, call: PlannedCall) -> int | None:
        """Raise if a call beside the replies, such as an embedding, costs more than is left."""
        self.require_price(call)
        self._allowance.require(call.cost(self.prices), call.prompt_tokens)
        return None

    async def book(self, _ctx: Context, call: BookedCall) -> None:
        self._count(call.model, call.counted_usage())

    async def release(self) -> None:
        """Do nothing: the reservation of the turn releases its budgets after its end was stored."""

    def take_share(self, reserved: "Reservation", call: PlannedCall) -> int:
        """Take what a reply may cost from the budgets; return how many tokens it may have."""
        self.return_share(reserved)
        prompt_tokens = max(call.prompt_tokens, reserved.prompt_tokens)
        wanted = call.reply_tokens or MAX_UNLIMITED_REPLY_TOKENS
        reserved.share = self._allowance.take(call.model, prompt_tokens, wanted)
        return reserved.share.reply_tokens

    def return_share(self, reserved: "Reservation") -> None:
        if reserved.share is not None:
            self._allowance.give_back(reserved.share)
            reserved.share = None

    def require_price(self, call: PlannedCall) -> None:
        """Raise ModelUnpriced if a budget refuses models without a price."""
        if self._unpriced is not None and call.cost(self.prices) is None:
            raise self._unpriced.refusal(call.model)

    def _count(self, model: str, used: ModelUsage) -> None:
        nano_usd = self.totals.add(model, used)
        # Embedded models cost nothing.
        if self.is_limited and not model.startswith(_LOCAL_PREFIX):
            self._allowance.charge(nano_usd, used.prompt_tokens + used.completion_tokens)

    def admits(self, agent_id: str, name: str, arguments: JsonObject) -> bool:
        """Return whether a call is allowed: within the total and not repeated too often.

        The first refusal spends the budget: the model is then asked to answer without tools.
        """
        call = msgspec.json.encode((agent_id, name, arguments), order="sorted")
        self._seen[call] += 1
        if self._calls <= 0 or self._seen[call] > MAX_SAME_CALLS:
            self.is_spent = True
            return False
        self._calls -= 1
        return True

    def admit_images(self, images: Iterable[ToolImage]) -> tuple[ToolImage, ...]:
        """Return the images of a result; models are shown none once the turn has too many."""
        admitted = []
        for image in images:
            is_shown = self._images > 0 and image.size_bytes <= self._image_bytes
            if is_shown:
                self._images -= 1
                self._image_bytes -= image.size_bytes
            admitted.append(msgspec.structs.replace(image, is_shown=is_shown))
        return tuple(admitted)


class Reservation(msgspec.Struct, kw_only=True):
    """The hold (`SpendingHold`) of one reply within a turn; `used` is the actual usage, once known.

    `reply_limit` is the limit to send to the model, if any. `share` is what was taken from the budgets. A
    call that failed at once is refunded. `is_refused` says that the budgets could not pay for the prompt,
    `is_cut` that they pay for a shorter reply only.
    """

    budget: TurnBudget
    model: str
    prompt_tokens: int
    reply_limit: int | None
    reserved_tokens: int
    used: ModelUsage | None = None
    share: CallShare | None = None
    is_refunded: bool = False
    is_refused: bool = False
    is_cut: bool = False

    @property
    def is_limited(self) -> bool:
        return self.budget.is_limited

    async def admit(self, _ctx: Context, call: PlannedCall) -> int | None:
        self.budget.require_price(call)
        self.is_refused = True
        reply_tokens = self.budget.take_share(self, call)
        self.is_refused = False
        self.is_cut = reply_tokens is not None and reply_tokens < (
            call.reply_tokens or MAX_UNLIMITED_REPLY_TOKENS
        )
        return reply_tokens

    async def book(self, _ctx: Context, call: BookedCall) -> None:
        """Note what a reply took; the turn counts it when it settles the reservation, once."""
        self.model = call.model
        self.used = call.usage or ModelUsage(self.prompt_tokens, estimate_tokens(call.reply_characters))

    def book_quotation(self, quoted: ModelReply) -> None:
        """Note what a reply took that was quoted from documents, without a call."""
        self.model, self.used = quoted.model, quoted.usage

    async def release(self) -> None:
        """Do nothing: the turn settles its reservations."""

    def refund(self) -> None:
        self.used, self.is_refunded = ModelUsage(0, 0), True
