"""The embedded models as one provider without a key: chat, embeddings, speech."""

import copy
from array import array
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from msgspec import Struct

from retinue.adapters.embedded.chat import CONTEXT_TOKENS, EmbeddedChat
from retinue.adapters.embedded.host import Capability, ModelHost
from retinue.adapters.embedded.speech.synthesizer import SpeechSynthesizer
from retinue.adapters.embedded.speech.transcriber import Transcriber
from retinue.adapters.embedded.weights import (
    CHAT_WEIGHTS,
    EMBEDDING_WEIGHTS,
    PULL_HINT,
    TRANSCRIPTION_WEIGHTS,
    ModelWeights,
    find,
)
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import (
    Audio,
    ChatRequest,
    Delta,
    Embeddings,
    ModelInfo,
    ModelReply,
    ModelUsage,
    ReplyFinished,
    Transcription,
)
from retinue.kit.extras import ExtraName, install_hint, is_installed
from retinue.kit.fair_queue import NOBODY, QueuedCaller
from retinue.kit.json_types import JsonObject

LocalKind = Literal["chat", "embedding", "transcription", "speech"]

EMBEDDING_DIMENSIONS = 384
# Longer replies of the built-in chat model are repetition or invention.
DEMO_MAX_TOKENS = 256
SPEECH_MODEL = "hibari"
_PASSAGE_TOKENS = 256
# Training sends thousands of texts; slices let other requesters in between.
_TEXTS_PER_CALL = 8
_OWN_CONTEXT_TOKENS = 8192
_EMBEDDING = Capability(name="embeddings", program="retinue.adapters.embedded.minilm")


class LocalModel(Struct, frozen=True, kw_only=True):
    """A model on this machine: our weights, the operator's file, or weights shipped in a Python package."""

    name: str
    title: str
    kind: LocalKind
    extra: ExtraName
    context_window: int | None = None
    weights: ModelWeights | None = None
    path: Path | None = None


class EmbeddedModels:
    """A provider of the embedded models; loads no model and starts no process before the first call."""

    def __init__(self, models_folder: Path, own_model: str = "") -> None:
        """`own_model` is the path of the operator's GGUF file, which then is the default chat model."""
        self._folder = models_folder.absolute()
        self._requester = NOBODY
        self._models = {model.name: model for model in _models(own_model)}
        self._chats = {
            model.name: EmbeddedChat(
                model.path or self._folder / CHAT_WEIGHTS.model / CHAT_WEIGHTS.files[0].name,
                context=model.context_window or CONTEXT_TOKENS,
                brief_tokens=DEMO_MAX_TOKENS if model.weights is CHAT_WEIGHTS else 0,
            )
            for model in self._models.values()
            if model.kind == "chat"
        }
        self._embedding = ModelHost(_EMBEDDING, self._embedding_options)
        self._transcriber, self._speaker = Transcriber(self._folder), SpeechSynthesizer()

    def for_requester(self, requester: QueuedCaller) -> "EmbeddedModels":
        """Return the same models bound to a requester, which takes turns with others."""
        bound = copy.copy(self)
        bound._requester = requester  # noqa: SLF001  its own copy
        return bound

    def known(self) -> tuple[LocalModel, ...]:
        return tuple(self._models.values())

    def find(self, name: str) -> LocalModel | None:
        return self._models.get(name)

    def default(self, kind: LocalKind) -> LocalModel:
        """Return the first model of a kind; the operator's model comes before the built-in one."""
        return next(model for model in self._models.values() if model.kind == kind)

    def is_demo(self, name: str) -> bool:
        """Return whether a name is the built-in chat model, which only demonstrates that chat works."""
        model = self._models.get(name)
        return model is not None and model.weights is CHAT_WEIGHTS

    def obstacle(self, model: LocalModel) -> str | None:
        """Return why a model is unavailable, or None."""
        if not is_installed(model.extra):
            return f"its packages are missing: {install_hint(model.extra)}"
        if model.path is not None and not model.path.is_file():
            return f"RETINUE_LOCAL_MODEL names a missing file, {model.path.name}"
        if model.weights is not None and find(self._folder, model.weights) is None:
            return f"its weights are missing: {PULL_HINT}"
        return None

    async def chat(self, request: ChatRequest) -> ModelReply:
        async with aclosing(self.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, ReplyFinished):
                    return delta.reply
        raise ModelError("broken_stream", "The embedded model stopped before its reply was complete.")

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        self._require(request.model, "chat")
        async with aclosing(self._chats[request.model].stream(request, requester=self._requester)) as deltas:
            async for delta in deltas:
                yield delta

    async def embed(self, model: str, texts: Sequence[str], *, dimensions: int | None = None) -> Embeddings:
        self._require(model, "embedding")
        if dimensions not in {None, EMBEDDING_DIMENSIONS}:
            raise ModelError("invalid_request", f"{model} supports {EMBEDDING_DIMENSIONS} dimensions only.")
        vectors, tokens = [], 0
        for start in range(0, len(texts), _TEXTS_PER_CALL):
            payload = list(texts[start : start + _TEXTS_PER_CALL])
            async with aclosing(self._embedding.stream("embed", payload, requester=self._requester)) as parts:
                async for vector, count in parts:
                    vectors.append(array("f", vector).tolist())
                    tokens += count
        return Embeddings(vectors, ModelUsage(tokens, 0), model)

    async def transcribe(
        self, model: str, audio: Audio, *, language: str | None = None, prompt: str | None = None
    ) -> Transcription:
        self._require(model, "transcription")
        return await self._transcriber.transcribe(
            audio, language=language, prompt=prompt, requester=self._requester
        )

    async def speak(
        self, model: str, text: str, *, voice: str, format: str = "mp3", speed: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        self._require(model, "speech")
        audio = self._speaker.speak(text, voice=voice, format=format, speed=speed, requester=self._requester)
        async with aclosing(audio) as parts:
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
            raise ModelError("invalid_request", f"local/{name} is not a model for {kind}.")
        obstacle = self.obstacle(model)
        if obstacle is not None:
            raise ModelError("unreachable", f"local/{name} is unavailable: {obstacle}.")

    def _embedding_options(self) -> JsonObject:
        folder = str(self._folder / EMBEDDING_WEIGHTS.model)
        return {"folder": folder, "readable": [folder]}


def _models(own_model: str) -> list[LocalModel]:
    models = []
    if own_model:
        path = Path(own_model).expanduser().absolute()
        models.append(
            LocalModel(
                name=path.stem.lower(),
                title=path.stem,
                kind="chat",
                extra="local",
                context_window=_OWN_CONTEXT_TOKENS,
                path=path,
            )
        )
    return [
        *models,
        _builtin_model(CHAT_WEIGHTS, "chat", CONTEXT_TOKENS),
        _builtin_model(EMBEDDING_WEIGHTS, "embedding", _PASSAGE_TOKENS),
        _builtin_model(TRANSCRIPTION_WEIGHTS, "transcription"),
        LocalModel(name=SPEECH_MODEL, title="Hibari, an English voice", kind="speech", extra="speech"),
    ]


def _builtin_model(weights: ModelWeights, kind: LocalKind, context_window: int | None = None) -> LocalModel:
    return LocalModel(
        name=weights.model,
        title=weights.title,
        kind=kind,
        extra=weights.extra,
        context_window=context_window,
        weights=weights,
    )
