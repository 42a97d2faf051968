"""The embedded models as one provider: chat, embeddings, speech, without any key."""

import copy
from array import array
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from retinue.adapters.embedded.chat import CONTEXT, EmbeddedChat
from retinue.adapters.embedded.host import Capability, Host
from retinue.adapters.embedded.speech.speaker import Speaker
from retinue.adapters.embedded.speech.transcriber import Transcriber
from retinue.adapters.embedded.weights import CHAT, EMBEDDING, PULL_HINT, TRANSCRIPTION, Weights, find
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import (
    Audio,
    ChatReply,
    ChatRequest,
    Delta,
    Done,
    Embeddings,
    ModelInfo,
    Transcription,
    Usage,
)

LocalKind = Literal["chat", "embedding", "transcription", "speech"]

DIMENSIONS = 384
SPEECH_MODEL = "hibari"
_TOKENS_OF_A_PASSAGE = 256
# A training run hands over thousands of texts; between two slices others get their turn.
_SLICE = 8
_OWN_CONTEXT = 8192
_EMBEDDING = Capability(name="embeddings", program="retinue.adapters.embedded.minilm")


class LocalModel(Struct, frozen=True, kw_only=True):
    """A model of this machine: with our weights, with the operator's file, or with what its package holds."""

    name: str
    title: str
    kind: LocalKind
    context_window: int | None = None
    weights: Weights | None = None
    path: Path | None = None


class EmbeddedModels:
    """A provider; nothing is loaded, and no process started, before the first question."""

    def __init__(self, models_folder: Path, own_model: str = "") -> None:
        """`own_model` is the path of the operator's GGUF file, which then answers by default."""
        self._folder = models_folder.absolute()
        self._who = ""
        self._models = {model.name: model for model in _models(own_model)}
        self._chats = {
            model.name: EmbeddedChat(
                model.path or self._folder / CHAT.model / CHAT.files[0].name,
                context=model.context_window or CONTEXT,
            )
            for model in self._models.values()
            if model.kind == "chat"
        }
        self._embedding = Host(_EMBEDDING, self._embedding_options)
        self._transcriber, self._speaker = Transcriber(self._folder), Speaker()

    def asked_by(self, who: str) -> "EmbeddedModels":
        """The same models for one who takes turns with all others."""
        mine = copy.copy(self)
        mine._who = who  # noqa: SLF001  a copy of itself
        return mine

    def known(self) -> tuple[LocalModel, ...]:
        return tuple(self._models.values())

    def find(self, name: str) -> LocalModel | None:
        return self._models.get(name)

    def default(self, kind: LocalKind) -> LocalModel:
        """The first of its kind; the operator's own model comes before ours."""
        return next(model for model in self._models.values() if model.kind == kind)

    def obstacle(self, model: LocalModel) -> str | None:
        """Why a model cannot answer now."""
        if model.path is not None and not model.path.is_file():
            return f"there is no file {model.path.name} where RETINUE_LOCAL_MODEL says"
        if model.weights is not None and find(self._folder, model.weights) is None:
            return f"its weights are not here: {PULL_HINT}"
        return None

    async def chat(self, request: ChatRequest) -> ChatReply:
        async with aclosing(self.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Done):
                    return delta.reply
        raise ModelError("broken_stream", "The embedded model ended without an end.")

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        self._require(request.model, "chat")
        async with aclosing(self._chats[request.model].stream(request, who=self._who)) as deltas:
            async for delta in deltas:
                yield delta

    async def embed(self, model: str, texts: Sequence[str], *, dimensions: int | None = None) -> Embeddings:
        self._require(model, "embedding")
        if dimensions not in {None, DIMENSIONS}:
            raise ModelError("invalid_request", f"{model} makes vectors of {DIMENSIONS} numbers only.")
        vectors, tokens = [], 0
        for start in range(0, len(texts), _SLICE):
            payload = list(texts[start : start + _SLICE])
            async with aclosing(self._embedding.stream("embed", payload, who=self._who)) as parts:
                async for vector, count in parts:
                    vectors.append(array("f", vector).tolist())
                    tokens += count
        return Embeddings(vectors, Usage(tokens, 0), model)

    async def transcribe(
        self, model: str, audio: Audio, *, language: str | None = None, prompt: str | None = None
    ) -> Transcription:
        self._require(model, "transcription")
        return await self._transcriber.transcribe(audio, language=language, prompt=prompt, who=self._who)

    async def speak(
        self, model: str, text: str, *, voice: str, format: str = "mp3", speed: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        self._require(model, "speech")
        spoken = self._speaker.speak(text, voice=voice, format=format, speed=speed, who=self._who)
        async with aclosing(spoken) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[ModelInfo]:
        return [
            ModelInfo(model.name, model.title, model.context_window)
            for model in self._models.values()
            if self.obstacle(model) is None
        ]

    async def close(self) -> None:
        for part in (*(chat.host for chat in self._chats.values()), self._embedding):
            await part.close()
        await self._transcriber.close()
        await self._speaker.close()

    def _require(self, name: str, kind: LocalKind) -> None:
        model = self._models.get(name)
        if model is None or model.kind != kind:
            raise ModelError("invalid_request", f"local/{name} is no model for {kind}.")
        obstacle = self.obstacle(model)
        if obstacle is not None:
            raise ModelError("unreachable", f"local/{name} cannot answer: {obstacle}.")

    def _embedding_options(self) -> dict[str, Any]:
        folder = str(self._folder / EMBEDDING.model)
        return {"folder": folder, "readable": [folder]}


def _models(own_model: str) -> list[LocalModel]:
    made = []
    if own_model:
        path = Path(own_model).expanduser().absolute()
        made.append(
            LocalModel(
                name=path.stem.lower(), title=path.stem, kind="chat", context_window=_OWN_CONTEXT, path=path
            )
        )
    return [
        *made,
        _ours(CHAT, "chat", CONTEXT),
        _ours(EMBEDDING, "embedding", _TOKENS_OF_A_PASSAGE),
        _ours(TRANSCRIPTION, "transcription"),
        LocalModel(name=SPEECH_MODEL, title="Hibari, an English voice", kind="speech"),
    ]


def _ours(weights: Weights, kind: LocalKind, context_window: int | None = None) -> LocalModel:
    return LocalModel(
        name=weights.model, title=weights.title, kind=kind, context_window=context_window, weights=weights
    )
