"""The client for Anthropic's Messages API."""

from typing import NoReturn
from urllib.parse import quote

import msgspec
from msgspec import Struct

from retinue.adapters.llm.anthropic.replies import AnthropicReplyParser
from retinue.adapters.llm.anthropic.requests import messages_body
from retinue.adapters.llm.chat_client import ChatClient
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import ChatRequest, ModelInfo
from retinue.kit.json_types import JsonObject

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


class AnthropicClient(ChatClient):
    _chat_operation = "messages"

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

    def _chat_body(self, request: ChatRequest, *, is_streamed: bool) -> JsonObject:
        return messages_body(request, self._provider, self._profile, is_streamed=is_streamed)

    def _parser(self, request: ChatRequest) -> AnthropicReplyParser:
        return AnthropicReplyParser(self._provider, request.model, self._wire.reported)


def _model_info(listed: _Listed) -> ModelInfo:
    return ModelInfo(listed.id, listed.display_name or listed.id, listed.max_input_tokens)


def _unsupported(feature: str) -> ModelError:
    return ModelError("invalid_request", f"This provider does not offer {feature}.")
