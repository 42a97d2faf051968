"""Estimates of the tokens of a request, for where no provider has counted them yet."""

from collections.abc import Iterable

import msgspec

from retinue.adapters.llm.messages import ChatRequest, ImageData, ImageUrl

# Typical text has about four characters per token.
CHARACTERS_PER_TOKEN = 4
MESSAGE_TOKENS = 4
"""Tokens of a message beside its text."""
IMAGE_TOKENS = 1_600
"""Tokens reserved for an image; providers report the actual number."""
MAX_UNLIMITED_REPLY_TOKENS = 16_384
"""Tokens reserved for a reply without a limit; with fewer tokens left, these are the limit."""


def estimate_tokens(characters: int) -> int:
    return characters // CHARACTERS_PER_TOKEN + 1


def estimate_request(request: ChatRequest) -> int:
    """Return what a prompt probably takes, with its tools.

    By bytes: a character that is no letter of the Latin alphabet is rarely less than a token by itself.
    """
    size, images = len(request.tail.encode(errors="replace")), 0
    for message in request.messages:
        size += len(message.text().encode(errors="replace"))
        size += sum(len(call.raw_arguments) or _json_size(call.arguments) for call in message.tool_calls)
        if not isinstance(message.content, str):
            images += sum(isinstance(part, ImageData | ImageUrl) for part in message.content)
    size += sum(map(_json_size, request.tools))
    return estimate_tokens(size) + MESSAGE_TOKENS * len(request.messages) + IMAGE_TOKENS * images


def estimate_texts(texts: Iterable[str]) -> int:
    """Return what texts to embed probably take."""
    return sum(estimate_tokens(len(text.encode(errors="replace"))) for text in texts)


def _json_size(value: object) -> int:
    return len(msgspec.json.encode(value))
