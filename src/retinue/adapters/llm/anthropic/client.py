"""The client for Anthropic's Messages API."""

from collections.abc import AsyncGenerator, Callable
from typing import NoReturn
from urllib.parse import quote

import msgspec
from msgspec import Struct

from retinue.adapters.api_client import json_body
from retinue.adapters.llm.anthropic.replies import AnthropicReplyParser
from retinue.adapters.llm.anthropic.requests import messages_body
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import ChatRequest, Delta, ModelInfo, ModelReply
from retinue.adapters.llm.profiles import ProviderProfile
from retinue.adapters.llm.transport import ModelTransport

_PER_PAGE = 1000
_MAX_PAGES = 10


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
        self,
        transport: ModelTransport,
        provider: str,
        profile: ProviderProfile,
        url_for: Callable[[str, str], str],
    ) -> None:
        self._wire = transport
        self._provider = provider
        self._profile = profile
        self._url_for = url_for

    async def chat(self, request: ChatRequest) -> ModelReply:
        parser = self._parser(request)
        body = messages_body(request, self._provider, self._profile, is_streamed=False)
        await self._wire.post(self._url_for("messages", request.model), json_body(body), parser.parse_whole)
        return parser.reply()

    def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        body = messages_body(request, self._provider, self._profile, is_streamed=True)
        url = self._url_for("messages", request.model)
        return self._wire.stream(url, json_body(body), self._parser(request))

    async def models(self) -> list[ModelInfo]:
        infos: list[ModelInfo] = []
        url = f"{self._url_for('models', '')}?limit={_PER_PAGE}"
        after = ""
        for _ in range(_MAX_PAGES):
            page = await self._wire.get(url + after, _decode_page)
            infos += [_model_info(listed) for listed in page.data]
            if not page.has_more or not page.last_id:
                break
            after = f"&after_id={quote(page.last_id, safe='')}"
        return infos

    async def embed(self, *_: object, **__: object) -> NoReturn:
        raise _unsupported("embeddings")

    async def transcribe(self, *_: object, **__: object) -> NoReturn:
        raise _unsupported("transcription")

    def speak(self, *_: object, **__: object) -> NoReturn:
        raise _unsupported("speech")

    def _parser(self, request: ChatRequest) -> AnthropicReplyParser:
        return AnthropicReplyParser(self._provider, request.model, self._wire.reported)


def _model_info(listed: _Listed) -> ModelInfo:
    return ModelInfo(listed.id, listed.display_name or listed.id, listed.max_input_tokens)


def _unsupported(feature: str) -> ModelError:
    return ModelError("invalid_request", f"This provider does not offer {feature}.")
