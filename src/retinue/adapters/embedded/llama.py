"""Chat in a child process: llama.cpp with the weights of one GGUF file.

The library opens an HTTP server whether one wants it or not. It gets a socket file in the child's own folder
instead of a port, where this process alone counts tokens, and a key that nobody else knows.
"""

import os
import queue
import secrets
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import msgspec
import xllamacpp  # type: ignore[import-untyped]  # it has no types

from retinue.adapters.embedded.conversation import (
    ChatCall,
    ChatPart,
    Over,
    Text,
    Tool,
    Turn,
    Use,
    Working,
    choices,
    choosing,
    filling,
    fitted,
    merged,
)
from retinue.adapters.embedded.frames import Refused
from retinue.adapters.embedded.loops import Listener
from retinue.adapters.embedded.schemas import ANY_OBJECT, constraint, first_mark

_SOCKET = "llama.sock"
# Small enough that a caller who hangs up while a long prompt is read does not hold the model for long.
_BATCH = 128
_LONGEST_INPUT = 512
# The end of the queue between the library's thread and ours.
_END = object()


class Work(msgspec.Struct):
    """One call: whether anybody still waits for it, and what it has cost so far.

    `is_cut` says that the last answer reached its limit.
    """

    is_cancelled: Callable[[], bool]
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_cut: bool = False

    def read(self, chunk: dict[str, Any]) -> str:
        """The text of a chunk; what it says of the cost and the end is written down."""
        error = chunk.get("error")
        if error:
            kind = "invalid_request" if error.get("code") == 400 else "overloaded"
            raise Refused(str(error.get("message")), kind=kind)
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


class Llama:
    def __init__(self, path: str, *, context: int, parallel: int) -> None:
        self._key = secrets.token_hex(32)
        self._context = context
        threads = max(1, len(os.sched_getaffinity(0)) - 1)
        params = xllamacpp.CommonParams()
        params.model.path = path
        params.n_ctx, params.n_parallel = context * parallel, parallel
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.n_batch = params.n_ubatch = _BATCH
        params.cache_ram_mib = 0
        params.hostnames, params.api_keys, params.n_threads_http = [_SOCKET], [self._key], 1
        params.ui = params.warmup = False
        params.verbosity = -1
        self._server = xllamacpp.Server(params)

    def chat(self, call: ChatCall, is_cancelled: Callable[[], bool]) -> Iterator[ChatPart]:
        work = Work(is_cancelled)
        tool = yield from self._chosen(call, work)
        if tool is None:
            yield from self._written(call, call.turns, call.schema, call.max_tokens, work)
        elif tool.schema.get("properties"):
            texts = []
            for part in self._written(call, filling(call, tool), tool.schema, _LONGEST_INPUT, work):
                if isinstance(part, Text):
                    texts.append(part.text)
                else:
                    yield part
            yield Use(tool.name, "".join(texts))
        else:
            yield Use(tool.name, "{}")
        yield Over(work.is_cut, work.prompt_tokens, work.completion_tokens)

    def _chosen(self, call: ChatCall, work: "Work") -> Generator[ChatPart, None, Tool | None]:
        """The tool to use; none when the model is to answer in words."""
        if not call.tools:
            return None
        if len(call.tools) == 1 and not call.may_answer:
            return call.tools[0]
        request = self._request(call, choosing(call), choices(call), _LONGEST_INPUT)
        request["temperature"] = 0
        chosen = ""
        for part in self._generated(request, work):
            if isinstance(part, Text):
                chosen += part.text
            else:
                yield part
        fallback = None if call.may_answer else call.tools[0]
        return next((tool for tool in call.tools if f'"{tool.name}"' == chosen), fallback)

    def _written(
        self, call: ChatCall, turns: list[Turn], schema: dict[str, Any] | None, max_tokens: int, work: "Work"
    ) -> Iterator[ChatPart]:
        """The answer; a schema the library cannot use, which it does not say, gives way to any object."""
        if schema is None:
            yield from self._told(call, turns, max_tokens, work)
            return
        for wanted in (schema, ANY_OBJECT):
            mark = first_mark(wanted)
            with closing(self._generated(self._request(call, turns, wanted, max_tokens), work)) as parts:
                for part in parts:
                    if mark and isinstance(part, Text):
                        if not part.text.lstrip().startswith(mark) and wanted is not ANY_OBJECT:
                            break
                        mark = ""
                    yield part
                else:
                    return

    def _told(self, call: ChatCall, turns: list[Turn], max_tokens: int, work: "Work") -> Iterator[ChatPart]:
        """Words, until they go round in circles."""
        listener = Listener()
        with closing(self._generated(self._request(call, turns, None, max_tokens), work)) as parts:
            for part in parts:
                yield part
                if isinstance(part, Text) and listener.is_tired_of(part.text):
                    # What it has cost would have come with its end.
                    work.is_cut = True
                    work.prompt_tokens += self._count(turns)
                    work.completion_tokens += listener.pieces
                    break

    def _request(
        self, call: ChatCall, turns: list[Turn], schema: dict[str, Any] | None, max_tokens: int
    ) -> dict[str, Any]:
        reserve = min(max_tokens, self._context // 4)
        kept = fitted(turns, self._count, self._context - reserve)
        request: dict[str, Any] = {
            "messages": merged(kept),
            "max_tokens": max_tokens,
            "temperature": call.temperature,
            "top_p": call.top_p,
            "stop": call.stop,
            "stream": True,
            "stream_options": {"include_usage": True},
            # With it the library looks up between the batches of a long prompt.
            "return_progress": True,
        }
        if schema is not None:
            request["grammar"] = xllamacpp.json_schema_to_grammar(constraint(schema))
        return request

    def _generated(self, request: dict[str, Any], work: "Work") -> Generator[ChatPart, None, None]:
        """The text piece by piece; the library works in a thread of its own and stops when we do."""
        heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        is_over = threading.Event()

        def hear(chunk: Any) -> bool:
            heard.put(chunk)
            return is_over.is_set() or work.is_cancelled()

        def generate() -> None:
            try:
                self._server.handle_chat_completions(request, hear)
            except Exception as error:  # noqa: BLE001  it is raised where the text is awaited
                heard.put(error)
            finally:
                heard.put(_END)

        worker = threading.Thread(target=generate, daemon=True)
        worker.start()
        try:
            while (chunk := heard.get()) is not _END:
                if isinstance(chunk, Exception):
                    raise chunk
                text = work.read(chunk)
                yield Text(text) if text else Working()
        finally:
            is_over.set()
            worker.join()

    def _count(self, turns: list[Turn]) -> int:
        body = msgspec.json.encode({"messages": merged(turns)})
        head = (
            "POST /v1/chat/completions/input_tokens HTTP/1.0\r\n"
            f"Authorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(_SOCKET)
            connection.sendall(head.encode() + body)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        _, _, counted = answer.partition(b"\r\n\r\n")
        return int(msgspec.json.decode(counted)["input_tokens"])


def load(options: dict[str, Any]) -> Callable[[str, Any, Callable[[], bool]], Iterator[Any]]:
    model = Llama(options["path"], context=options["context"], parallel=options["parallel"])

    def serve(_method: str, payload: Any, is_cancelled: Callable[[], bool]) -> Iterator[Any]:
        return model.chat(msgspec.convert(payload, ChatCall), is_cancelled)

    return serve
