"""A client of Anthropic's protocol for one key."""

from collections.abc import AsyncGenerator, Callable
from typing import NoReturn
from urllib.parse import quote

import msgspec
from msgspec import Struct

from retinue.adapters.llm.anthropic.replies import MessageReading
from retinue.adapters.llm.anthropic.requests import messages_body
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import ChatReply, ChatRequest, Delta, ModelInfo
from retinue.adapters.llm.profiles import Profile
from retinue.adapters.llm.wire import Wire

_PER_PAGE = 1000
_MOST_PAGES = 10

_encode = msgspec.json.Encoder().encode


class _Listed(Struct):
    id: str
    display_name: str | None = None
    max_input_tokens: int | None = None


class _Page(Struct):
    data: list[_Listed]
    has_more: bool = False
    last_id: str | None = None


_decode_page = msgspec.json.Decoder(_Page).decode


class AnthropicClient:
    def __init__(
        self, wire: Wire, provider: str, profile: Profile, url_for: Callable[[str, str], str]
    ) -> None:
        self._wire = wire
        self._provider = provider
        self._profile = profile
        self._url_for = url_for

    async def chat(self, request: ChatRequest) -> ChatReply:
        reading = self._reading(request)
        body = messages_body(request, self._provider, self._profile, is_streamed=False)
        await self._wire.post(self._url_for("messages", request.model), _encode(body), reading.take_whole)
        return reading.reply()

    def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        body = messages_body(request, self._provider, self._profile, is_streamed=True)
        url = self._url_for("messages", request.model)
        return self._wire.stream(url, _encode(body), self._reading(request))

    async def models(self) -> list[ModelInfo]:
        found: list[ModelInfo] = []
        url = f"{self._url_for('models', '')}?limit={_PER_PAGE}"
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self._wire.get(url + after, _decode_page)
            found += [_model_info(listed) for listed in page.data]
            if not page.has_more or not page.last_id:
                break
            after = f"&after_id={quote(page.last_id, safe='')}"
        return found

    async def embed(self, *_: object, **__: object) -> NoReturn:
        raise _not_offered("embeddings")

    async def transcribe(self, *_: object, **__: object) -> NoReturn:
        raise _not_offered("transcription")

    def speak(self, *_: object, **__: object) -> NoReturn:
        raise _not_offered("speech")

    def _reading(self, request: ChatRequest) -> MessageReading:
        return MessageReading(self._provider, request.model, self._wire.reported)


def _model_info(listed: _Listed) -> ModelInfo:
    return ModelInfo(listed.id, listed.display_name or listed.id, listed.max_input_tokens)


def _not_offered(what: str) -> ModelError:
    return ModelError("invalid_request", f"It offers no {what}.")
