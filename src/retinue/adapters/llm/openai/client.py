"""A client of OpenAI's protocol for one key."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

import msgspec

from retinue.adapters.llm.messages import (
    Audio,
    ChatReply,
    ChatRequest,
    Delta,
    Embeddings,
    ModelInfo,
    Transcription,
)
from retinue.adapters.llm.multipart import encode_form
from retinue.adapters.llm.openai.listings import read_embeddings, read_models, read_transcription
from retinue.adapters.llm.openai.replies import CompletionReading
from retinue.adapters.llm.openai.requests import chat_body
from retinue.adapters.llm.profiles import Profile
from retinue.adapters.llm.wire import Wire

_encode = msgspec.json.Encoder().encode


class OpenAiClient:
    def __init__(
        self, wire: Wire, provider: str, profile: Profile, url_for: Callable[[str, str], str]
    ) -> None:
        """`url_for` gives the URL of an operation for a model, or of one without."""
        self._wire = wire
        self._provider = provider
        self._profile = profile
        self._url_for = url_for

    async def chat(self, request: ChatRequest) -> ChatReply:
        reading = self._reading(request)
        body = chat_body(request, self._provider, self._profile, is_streamed=False)
        url = self._url_for("chat/completions", request.model)
        await self._wire.post(url, _encode(body), reading.take_whole)
        return reading.reply()

    def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        body = chat_body(request, self._provider, self._profile, is_streamed=True)
        url = self._url_for("chat/completions", request.model)
        return self._wire.stream(url, _encode(body), self._reading(request))

    async def embed(self, model: str, texts: Sequence[str], *, dimensions: int | None = None) -> Embeddings:
        body: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
        if dimensions is not None:
            body["dimensions"] = dimensions
        read = read_embeddings(model, len(texts))
        return await self._wire.post(self._url_for("embeddings", model), _encode(body), read)

    async def transcribe(
        self, model: str, audio: Audio, *, language: str | None = None, prompt: str | None = None
    ) -> Transcription:
        fields = {
            "model": model,
            # Only the Whisper models can tell the language and the duration.
            "response_format": "verbose_json" if "whisper" in model else "json",
            "language": language or "",
            "prompt": prompt or "",
        }
        content, content_type = encode_form(_given(fields), audio)
        url = self._url_for("audio/transcriptions", model)
        return await self._wire.post(url, content, read_transcription, content_type=content_type)

    def speak(
        self, model: str, text: str, *, voice: str, format: str = "mp3", speed: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        body: dict[str, Any] = {"model": model, "input": text, "voice": voice, "response_format": format}
        if speed is not None:
            body["speed"] = speed
        return self._wire.stream_bytes(self._url_for("audio/speech", model), _encode(body))

    async def models(self) -> list[ModelInfo]:
        return await self._wire.get(self._url_for("models", ""), read_models(self._profile.model_prefix))

    def _reading(self, request: ChatRequest) -> CompletionReading:
        return CompletionReading(self._provider, request.model, self._wire.reported)


def _given(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}
