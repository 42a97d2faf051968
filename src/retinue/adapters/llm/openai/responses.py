"""Parse the other responses of OpenAI's protocol: embeddings, transcriptions and model lists."""

import math
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import Embeddings, ModelInfo, Transcription
from retinue.adapters.llm.usage import openai_usage
from retinue.kit.json_types import JsonObject

# Each server names the context window differently, or leaves it out.
_WINDOW_FIELDS = ("context_window", "context_length", "max_context_length", "max_model_len")


class _Vector(Struct):
    embedding: list[float]
    index: int | None = None


class _Vectors(Struct):
    data: list[_Vector]
    model: str | None = None
    usage: Any = None


class _Transcript(Struct):
    text: str
    language: str | None = None
    duration: float | str | None = None
    usage: Any = None


class _Models(Struct):
    data: list[JsonObject] | None


_decode_vectors = msgspec.json.Decoder(_Vectors).decode
_decode_transcript = msgspec.json.Decoder(_Transcript).decode
_decode_models = msgspec.json.Decoder(_Models).decode


def embeddings_parser(model: str, count: int) -> Callable[[bytes], Embeddings]:
    def read(body: bytes) -> Embeddings:
        response = _decode_vectors(body)
        vectors: list[list[float]] = [[] for _ in range(count)]
        for position, vector in enumerate(response.data):
            index = position if vector.index is None else vector.index
            if 0 <= index < count:
                vectors[index] = vector.embedding
        if len(response.data) != count or len({len(vector) for vector in vectors}) > 1 or [] in vectors:
            raise ModelError("bad_answer", "It must contain one vector per text, all of the same length.")
        return Embeddings(vectors, openai_usage(response.usage), response.model or model)

    return read


def parse_transcription(body: bytes) -> Transcription:
    transcript = _decode_transcript(body)
    usage = transcript.usage if isinstance(transcript.usage, dict) else {}
    duration = usage.get("seconds") if transcript.duration is None else transcript.duration
    return Transcription(transcript.text, transcript.language or None, _seconds(duration))


def models_parser(prefix: str) -> Callable[[bytes], list[ModelInfo]]:
    def read(body: bytes) -> list[ModelInfo]:
        listed = _decode_models(body).data or []
        return [_model_info(entry, prefix) for entry in listed if isinstance(entry.get("id"), str)]

    return read


def _model_info(entry: JsonObject, prefix: str) -> ModelInfo:
    id = entry["id"].removeprefix(prefix)
    name = entry.get("display_name") or entry.get("name")
    windows = (entry.get(field) for field in _WINDOW_FIELDS)
    window = next((value for value in windows if type(value) is int and value > 0), None)
    return ModelInfo(id, name if isinstance(name, str) else id, window)


def _seconds(duration: object) -> float | None:
    try:
        seconds = float(duration) if isinstance(duration, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
