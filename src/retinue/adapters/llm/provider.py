"""What every provider offers, and how one is reached with a key."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from retinue.adapters.llm.messages import (
    Audio,
    ChatReply,
    ChatRequest,
    Delta,
    Embeddings,
    ModelInfo,
    Transcription,
)
from retinue.kit.secrets import Secret


class ProviderAccess(Struct, frozen=True, kw_only=True):
    """A key and where it is used; without `base_url` the provider's own, `api_version` is for Azure alone."""

    provider: str
    api_key: Secret
    base_url: str | None = None
    api_version: str | None = None


class Provider(Protocol):
    """Everything raises ModelError; nothing is tried twice, because only the caller knows the next key."""

    async def chat(self, request: ChatRequest) -> ChatReply: ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        """Text as it arrives, then each tool call, then Done; closing the generator hangs up."""
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
        """The sound as it arrives."""
        ...

    async def models(self) -> list[ModelInfo]:
        """The models the key may use, which is also the cheapest way to test a key."""
        ...
