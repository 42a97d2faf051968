"""The part of a provider's client that is the same in every protocol."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable

from retinue.adapters.api_client import json_body
from retinue.adapters.llm.messages import ChatRequest, Delta, ModelReply
from retinue.adapters.llm.profiles import ProviderProfile
from retinue.adapters.llm.reply_parser import ReplyParser
from retinue.adapters.llm.transport import ModelTransport
from retinue.kit.json_types import JsonObject


class ChatClient(ABC):
    """Sends chat requests; each protocol has a subclass."""

    _chat_operation: str

    def __init__(
        self,
        transport: ModelTransport,
        provider: str,
        profile: ProviderProfile,
        url_for: Callable[[str, str], str],
    ) -> None:
        """`url_for` returns the URL of an operation for a model, which is empty where none applies."""
        self._wire = transport
        self._provider = provider
        self._profile = profile
        self._url_for = url_for

    async def chat(self, request: ChatRequest) -> ModelReply:
        parser = self._parser(request)
        body = self._chat_body(request, is_streamed=False)
        url = self._url_for(self._chat_operation, request.model)
        await self._wire.post(url, json_body(body), parser.parse_whole)
        return parser.reply()

    def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        body = self._chat_body(request, is_streamed=True)
        url = self._url_for(self._chat_operation, request.model)
        return self._wire.stream(url, json_body(body), self._parser(request))

    @abstractmethod
    def _chat_body(self, request: ChatRequest, *, is_streamed: bool) -> JsonObject:
        """Return the body of a chat request."""

    @abstractmethod
    def _parser(self, request: ChatRequest) -> ReplyParser:
        """Return a parser for the reply to a request."""
