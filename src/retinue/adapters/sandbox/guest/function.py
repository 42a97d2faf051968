"""Runs the code of a Python function: the text becomes a module, and one of its functions is called.

In WebAssembly this file is part of every call, so it imports only what is cheap there.
"""

import json
import sys
import traceback
from importlib.machinery import SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any, Self

_FILE = "main.py"
_ENTRYPOINT_NAMES = ("main", "handler", "run", "execute")
MAX_OUTPUT_BYTES = 1024 * 1024
_MAX_MESSAGE_LENGTH = 2000
_MAX_TRACEBACK_LINES = 20


class _Text(SourceFileLoader):
    """Loads a module from text instead of a file."""

    def __init__(self, text: str) -> None:
        super().__init__("main", _FILE)
        self._text = text

    def get_data(self, _path: str) -> bytes:
        return self._text.encode()

    def path_stats(self, path: str) -> Any:
        raise FileNotFoundError(path)


class ResultCapture:
    """Captures the result of a function call, or its exception, as the text of a reply."""

    def __init__(self) -> None:
        self._text = ""

    def __enter__(self) -> Self:
        return self

    def give(self, value: object) -> None:
        self._text = output(json.dumps(value, ensure_ascii=False, allow_nan=False))

    def __exit__(self, _kind: object, error: BaseException | None, _place: object) -> bool:
        # Running out of memory is reported later, once the code's objects are freed.
        if error is not None and not isinstance(error, MemoryError):
            _print_traceback(error)
            self._text = failure("runtime_error", _describe_error(error))
        return True

    @property
    def text(self) -> str:
        """Return a JSON object with the output, or with the kind and message of the error."""
        return self._text or failure("memory_exceeded", "The code exceeded its memory limit.")


def answer(source: str, input: object) -> str:
    with ResultCapture() as capture:
        value = begin(source, input)
        capture.give(_run_awaitable(value) if hasattr(value, "__await__") else value)
    return capture.text


def begin(source: str, input: object) -> Any:
    """Call the function and return its result, which may have to be awaited."""
    return _find_entrypoint(_load(source))(input)


def output(encoded: str) -> str:
    """Return the reply for a value that is already encoded as JSON."""
    if len(encoded) > MAX_OUTPUT_BYTES:
        return failure("output_too_large", "The output is larger than 1 MiB.")
    return f'{{"output":{encoded}}}'


def failure(kind: str, message: str) -> str:
    return json.dumps({"kind": kind, "error": message[:_MAX_MESSAGE_LENGTH]})


def _load(source: str) -> ModuleType:
    loader, module = _Text(source), ModuleType("main")
    module.__file__, module.__loader__ = _FILE, loader
    # Dataclasses and others look up their module.
    sys.modules["main"] = module
    loader.exec_module(module)
    return module


def _find_entrypoint(module: ModuleType) -> Any:
    names = vars(module)
    for name in _ENTRYPOINT_NAMES:
        if callable(names.get(name)):
            return names[name]
    own = [
        value for value in names.values() if isinstance(value, FunctionType) and value.__module__ == "main"
    ]
    public = [value for value in own if not value.__name__.startswith("_")]
    if len(public) != 1:
        raise NameError("the code must define a function main(input)")
    return public[0]


def _run_awaitable(value: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _print_traceback(error: BaseException) -> None:
    """Print the end of the traceback, starting at the user's code."""
    place = error.__traceback__
    while place and place.tb_frame.f_code.co_filename != _FILE:
        place = place.tb_next
    traceback.print_exception(type(error), error, place, limit=-_MAX_TRACEBACK_LINES)


def _describe_error(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception_only(type(error), error)).strip()
    except Exception:  # noqa: BLE001 - an exception's message is user code too
        return type(error).__name__
