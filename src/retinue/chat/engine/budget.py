"""What one turn may take, its sub-agents included; nothing a model says can lift it."""

from collections import Counter
from typing import Any

import msgspec

from retinue.chat.engine.pausing import Paused
from retinue.chat.words import TokenUsage
from retinue.kit.errors import RetinueError

MAX_ROUNDS = 10
MAX_CALLS = 25
MAX_SAME_CALLS = 2
MAX_DEPTH = 5
MAX_CALLS_AT_ONCE = 4
MAX_TOKENS = 200_000
MAX_REPLY_CHARACTERS = 1_000_000
MAX_SECONDS = 120.0

# Estimates for what no provider has counted yet; real text has about four characters to a token.
_CHARACTERS_PER_TOKEN = 4


class OutOfTokens(RetinueError):
    """The turn has used up the tokens it may take."""

    status, code = 422, "token_budget_exceeded"


class Budget:
    """`usage` is what everyone in the turn took so far, also those who were cut off."""

    def __init__(self, tokens: int | None = None) -> None:
        self.usage = TokenUsage()
        self._tokens = MAX_TOKENS if tokens is None else min(tokens, MAX_TOKENS)
        self._calls = MAX_CALLS
        self.is_spent = False
        self._seen: Counter[bytes] = Counter()

    def left(self) -> dict[str, Any]:
        """What a turn that pauses here has left when it goes on."""
        seen = {call.decode(): times for call, times in self._seen.items()}
        return {
            "tokens_left": self._tokens,
            "calls_left": self._calls,
            "seen": seen,
            "is_spent": self.is_spent,
        }

    def go_on(self, usage: TokenUsage, paused: Paused) -> None:
        """With what a paused turn had left."""
        self.usage, self._tokens = usage, min(self._tokens, paused.tokens_left)
        self._calls, self.is_spent = paused.calls_left, paused.is_spent
        self._seen = Counter({call.encode(): times for call, times in paused.seen.items()})

    def reserve(self, prompt_tokens: int, wanted: int) -> "Reservation":
        """Room for a question and its reply, which those who ask at the same time no longer have."""
        if self._tokens <= 0 or prompt_tokens >= MAX_TOKENS:
            raise OutOfTokens
        reply_tokens = min(wanted, self._tokens)
        held = min(self._tokens, prompt_tokens + reply_tokens)
        self._tokens -= held
        return Reservation(prompt_tokens=prompt_tokens, reply_tokens=reply_tokens, held=held)

    def settle(self, reserved: "Reservation", heard_characters: int) -> None:
        """What was reserved is free again but for what was taken, by estimate where nobody said it."""
        took = reserved.took or (reserved.prompt_tokens, estimated_tokens(heard_characters))
        self._tokens += reserved.held - sum(took)
        self.usage = self.usage.plus(*took)

    def admits(self, agent_id: str, name: str, arguments: dict[str, Any]) -> bool:
        """Whether a call may be made: not too many in all, and not the same one again and again.

        The first refusal spends the budget: the model is then asked for its answer, without any tools.
        """
        call = msgspec.json.encode((agent_id, name, arguments), order="sorted")
        self._seen[call] += 1
        if self._calls <= 0 or self._seen[call] > MAX_SAME_CALLS:
            self.is_spent = True
            return False
        self._calls -= 1
        return True


class Reservation(msgspec.Struct, kw_only=True):
    """Tokens that are kept for one question and its reply; `took` is what they came to, once it is known."""

    prompt_tokens: int
    reply_tokens: int
    held: int
    took: tuple[int, int] | None = None


def estimated_tokens(characters: int) -> int:
    return characters // _CHARACTERS_PER_TOKEN + 1
