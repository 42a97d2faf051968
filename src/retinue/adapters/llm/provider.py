"""The protocol that every provider's client implements, and the access data it needs."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from retinue.adapters.llm.messages import (
    Audio,
    ChatRequest,
    Delta,
    Embeddings,
    ModelInfo,
    ModelReply,
    Transcription,
)
from retinue.kit.secrets import Secret


class ProviderAccess(Struct, frozen=True, kw_only=True):
    """A key and its endpoint; `base_url` defaults to the provider's own, `api_version` is for Azure."""

    provider: str
    api_key: Secret
    base_url: str | None = None
    api_version: str | None = None


class ModelProvider(Protocol):
    """A provider's operations. They raise ModelError and never retry: only the caller knows the next key."""

    async def chat(self, request: ChatRequest) -> ModelReply: ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        """Yield text as it arrives, then tool calls, then ReplyFinished; closing the generator hangs up."""
        ...

    async def embed(
        self, model: str, texts: Sequence[str], *, dimensions: int | None = None
    ) -> Embeddings: ...

    async def transcribe(
        self, model: str, audio: Audio, *, language: str | None = None, prompt: str | None = None
    ) -> Transcription: ...

    def speak(
        self, model: str, text: str, *, voice: str, format: str = "mp3", speed: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield the audio as it arrives."""
        ...

    async def models(self) -> list[ModelInfo]:
        """Return the models that the key can use; this is also the cheapest way to test a key."""
        ...
