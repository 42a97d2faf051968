"""The client for OpenAI's API."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from retinue.adapters.api_client import json_body
from retinue.adapters.llm.chat_client import ChatClient
from retinue.adapters.llm.messages import (
    Audio,
    ChatRequest,
    Embeddings,
    ModelInfo,
    Transcription,
)
from retinue.adapters.llm.openai.replies import OpenAiReplyParser
from retinue.adapters.llm.openai.requests import chat_body
from retinue.adapters.llm.openai.responses import embeddings_parser, models_parser, parse_transcription
from retinue.adapters.multipart import FormFile, multipart_body
from retinue.kit.json_types import JsonObject


class OpenAiClient(ChatClient):
    _chat_operation = "chat/completions"

    async def embed(self, model: str, texts: Sequence[str], *, dimensions: int | None = None) -> Embeddings:
        body: JsonObject = {"model": model, "input": list(texts), "encoding_format": "float"}
        if dimensions is not None:
            body["dimensions"] = dimensions
        read = embeddings_parser(model, len(texts))
        return await self._wire.post(self._url_for("embeddings", model), json_body(body), read)

    async def transcribe(
        self, model: str, audio: Audio, *, language: str | None = None, prompt: str | None = None
    ) -> Transcription:
        fields = {
            "model": model,
            # Only Whisper models report the language and the duration.
            "response_format": "verbose_json" if "whisper" in model else "json",
            "language": language or "",
            "prompt": prompt or "",
        }
        file = FormFile(audio.content, audio.filename or "audio", audio.mime_type)
        body = multipart_body(_without_empty(fields), file)
        return await self._wire.post(self._url_for("audio/transcriptions", model), body, parse_transcription)

    def speak(
        self, model: str, text: str, *, voice: str, format: str = "mp3", speed: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        body: JsonObject = {"model": model, "input": text, "voice": voice, "response_format": format}
        if speed is not None:
            body["speed"] = speed
        return self._wire.stream_bytes(self._url_for("audio/speech", model), json_body(body))

    async def models(self) -> list[ModelInfo]:
        return await self._wire.get(self._url_for("models", ""), models_parser(self._profile.model_prefix))

    def _chat_body(self, request: ChatRequest, *, is_streamed: bool) -> JsonObject:
        return chat_body(request, self._provider, self._profile, is_streamed=is_streamed)

    def _parser(self, request: ChatRequest) -> OpenAiReplyParser:
        return OpenAiReplyParser(self._provider, request.model, self._wire.reported)


def _without_empty(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}
