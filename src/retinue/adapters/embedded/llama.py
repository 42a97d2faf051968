"""Chat in a child process: llama.cpp with the weights of one GGUF file.

The library always opens an HTTP server. It gets a socket file in the child's own folder instead of a port,
and a random key; only this process uses it, to count tokens.
"""

import queue
import secrets
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import msgspec
import xllamacpp  # type: ignore[import-untyped]  # no type hints

from retinue.adapters.embedded.frames import ModelCallRefused
from retinue.adapters.embedded.prompt import (
    ChatCall,
    ChatEnd,
    ChatPart,
    ProgressChunk,
    PromptTool,
    PromptTurn,
    TextChunk,
    ToolChoice,
    fit_to_context,
    merge_turns,
    tool_choice_prompt,
    tool_choice_schema,
    tool_input_prompt,
)
from retinue.adapters.embedded.repetition import RepetitionDetector
from retinue.adapters.embedded.schema_constraints import ANY_OBJECT, build_constraint, first_character
from retinue.kit.json_types import JsonObject
from retinue.kit.machine import available_cores

_SOCKET = "llama.sock"
# Small batches, so that cancelling a call with a long prompt frees the model soon.
_BATCH_TOKENS = 128
_MAX_INPUT_TOKENS = 512
# Marks the end of the queue between the library's thread and ours.
_QUEUE_END = object()


class CallProgress(msgspec.Struct):
    """The state of one call and its cost so far.

    `is_cut` is true if the last answer reached its limit.
    """

    is_cancelled: Callable[[], bool]
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_cut: bool = False

    def read(self, chunk: JsonObject) -> str:
        """Return the text of a chunk, and record its usage and finish reason."""
        error = chunk.get("error")
        if error:
            kind = "invalid_request" if error.get("code") == 400 else "overloaded"
            raise ModelCallRefused(str(error.get("message")), kind=kind)
        usage = chunk.get("usage")
        if usage:
            self.prompt_tokens += usage["prompt_tokens"]
            self.completion_tokens += usage["completion_tokens"]
        text = ""
        for choice in chunk.get("choices", ()):
            text += choice.get("delta", {}).get("content") or ""
            if choice.get("finish_reason"):
                self.is_cut = choice["finish_reason"] == "length"
        return text


class LlamaModel:
    def __init__(self, path: str, *, context: int, parallel: int) -> None:
        self._key = secrets.token_hex(32)
        self._context = context
        threads = max(1, available_cores() - 1)
        params = xllamacpp.CommonParams()
        params.model.path = path
        params.n_ctx, params.n_parallel = context * parallel, parallel
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.n_batch = params.n_ubatch = _BATCH_TOKENS
        params.cache_ram_mib = 0
        params.hostnames, params.api_keys, params.n_threads_http = [_SOCKET], [self._key], 1
        params.ui = params.warmup = False
        params.verbosity = -1
        self._server = xllamacpp.Server(params)

    def chat(self, call: ChatCall, is_cancelled: Callable[[], bool]) -> Iterator[ChatPart]:
        progress = CallProgress(is_cancelled)
        tool = yield from self._choose_tool(call, progress)
        if tool is None:
            yield from self._generate_reply(call, call.turns, call.schema, call.max_tokens, progress)
        elif tool.schema.get("properties"):
            texts = []
            for part in self._generate_reply(
                call, tool_input_prompt(call, tool), tool.schema, _MAX_INPUT_TOKENS, progress
            ):
                if isinstance(part, TextChunk):
                    texts.append(part.text)
                else:
                    yield part
            yield ToolChoice(tool.name, "".join(texts))
        else:
            yield ToolChoice(tool.name, "{}")
        yield ChatEnd(progress.is_cut, progress.prompt_tokens, progress.completion_tokens)

    def _choose_tool(
        self, call: ChatCall, progress: "CallProgress"
    ) -> Generator[ChatPart, None, PromptTool | None]:
        """Return the tool to call, or None if the model should answer with text."""
        if not call.tools:
            return None
        if len(call.tools) == 1 and not call.may_answer:
            return call.tools[0]
        request = self._request(call, tool_choice_prompt(call), tool_choice_schema(call), _MAX_INPUT_TOKENS)
        request["temperature"] = 0
        chosen = ""
        for part in self._generate(request, progress):
            if isinstance(part, TextChunk):
                chosen += part.text
            else:
                yield part
        fallback = None if call.may_answer else call.tools[0]
        return next((tool for tool in call.tools if f'"{tool.name}"' == chosen), fallback)

    def _generate_reply(
        self,
        call: ChatCall,
        turns: list[PromptTurn],
        schema: JsonObject | None,
        max_tokens: int,
        progress: "CallProgress",
    ) -> Iterator[ChatPart]:
        """Yield the reply; fall back to any JSON object if the library silently ignores the schema."""
        if schema is None:
            yield from self._generate_text(call, turns, max_tokens, progress)
            return
        for constraint in (schema, ANY_OBJECT):
            first_text = first_character(constraint)
            with closing(
                self._generate(self._request(call, turns, constraint, max_tokens), progress)
            ) as parts:
                for part in parts:
                    if first_text and isinstance(part, TextChunk):
                        if not part.text.lstrip().startswith(first_text) and constraint is not ANY_OBJECT:
                            break
                        first_text = ""
                    yield part
                else:
                    return

    def _generate_text(
        self, call: ChatCall, turns: list[PromptTurn], max_tokens: int, progress: "CallProgress"
    ) -> Iterator[ChatPart]:
        """Yield text until it repeats itself or reaches the length of a brief answer."""
        detector = RepetitionDetector(call.brief_tokens)
        is_shortened = 0 < call.brief_tokens < max_tokens
        token_limit = call.brief_tokens if is_shortened else max_tokens
        with closing(self._generate(self._request(call, turns, None, token_limit), progress)) as parts:
            for part in parts:
                yield part
                if isinstance(part, TextChunk) and detector.should_stop_after(part.text):
                    # The usage would have come with the last chunk, which we do not wait for.
                    progress.is_cut = True
                    progress.prompt_tokens += self._count(turns)
                    progress.completion_tokens += detector.pieces
                    break
        if progress.is_cut and is_shortened and detector.is_within_sentence:
            yield TextChunk("…")

    def _request(
        self, call: ChatCall, turns: list[PromptTurn], schema: JsonObject | None, max_tokens: int
    ) -> JsonObject:
        reserve = min(max_tokens, self._context // 4)
        fitting = fit_to_context(turns, self._count, self._context - reserve)
        request: JsonObject = {
            "messages": merge_turns(fitting),
            "max_tokens": max_tokens,
            "temperature": call.temperature,
            "top_p": call.top_p,
            "stop": call.stop,
            "stream": True,
            "stream_options": {"include_usage": True},
            # Lets the library notice cancellation between the batches of a long prompt.
            "return_progress": True,
        }
        if schema is not None:
            request["grammar"] = xllamacpp.json_schema_to_grammar(build_constraint(schema))
        return request

    def _generate(self, request: JsonObject, progress: "CallProgress") -> Generator[ChatPart, None, None]:
        """Yield the text as it is generated; the library's thread stops when this generator does."""
        chunks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        is_over = threading.Event()

        def on_chunk(chunk: object) -> bool:
            chunks.put(chunk)
            return is_over.is_set() or progress.is_cancelled()

        def generate() -> None:
            try:
                self._server.handle_chat_completions(request, on_chunk)
            except Exception as error:  # noqa: BLE001  re-raised by the consumer
                chunks.put(error)
            finally:
                chunks.put(_QUEUE_END)

        worker = threading.Thread(target=generate, daemon=True)
        worker.start()
        try:
            while (chunk := chunks.get()) is not _QUEUE_END:
                if isinstance(chunk, Exception):
                    raise chunk
                text = progress.read(chunk)
                yield TextChunk(text) if text else ProgressChunk()
        finally:
            is_over.set()
            worker.join()

    def _count(self, turns: list[PromptTurn]) -> int:
        body = msgspec.json.encode({"messages": merge_turns(turns)})
        head = (
            "POST /v1/chat/completions/input_tokens HTTP/1.0\r\n"
            f"Authorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(_SOCKET)
            connection.sendall(head.encode() + body)
            response = b"".join(iter(lambda: connection.recv(65536), b""))
        _, _, payload = response.partition(b"\r\n\r\n")
        return int(msgspec.json.decode(payload)["input_tokens"])


def load(options: JsonObject) -> Callable[[str, Any, Callable[[], bool]], Iterator[Any]]:
    model = LlamaModel(options["path"], context=options["context"], parallel=options["parallel"])

    def serve(_method: str, payload: Any, is_cancelled: Callable[[], bool]) -> Iterator[Any]:
        return model.chat(msgspec.convert(payload, ChatCall), is_cancelled)

    return serve
