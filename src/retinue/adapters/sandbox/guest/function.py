"""Runs the code of a Python function: the text becomes a module, one function of it is called.

In WebAssembly this file is part of every call, so it imports only what is cheap there.
"""

import json
import sys
import traceback
from importlib.machinery import SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any, Self

_FILE = "main.py"
_NAMES = ("main", "handler", "run", "execute")
LARGEST_OUTPUT = 1024 * 1024
_LONGEST_MESSAGE = 2000
_MOST_LINES = 20


class _Text(SourceFileLoader):
    """Loads a file that is not there."""

    def __init__(self, text: str) -> None:
        super().__init__("main", _FILE)
        self._text = text

    def get_data(self, _path: str) -> bytes:
        return self._text.encode()

    def path_stats(self, path: str) -> Any:
        raise FileNotFoundError(path)


class Answer:
    """Around the call of a function: what it gives, or what it raises, is the text in the end."""

    def __init__(self) -> None:
        self._text = ""

    def __enter__(self) -> Self:
        return self

    def give(self, value: Any) -> None:
        self._text = output(json.dumps(value, ensure_ascii=False, allow_nan=False))

    def __exit__(self, _kind: object, error: BaseException | None, _place: object) -> bool:
        # Too little memory is told later, when nothing holds on to it any more.
        if error is not None and not isinstance(error, MemoryError):
            _show(error)
            self._text = failure("runtime_error", _described(error))
        return True

    @property
    def text(self) -> str:
        """A JSON object with the output, or with the kind and text of the error."""
        return self._text or failure("memory_exceeded", "The code used more memory than it may.")


def answer(source: str, given: Any) -> str:
    with Answer() as made:
        value = begin(source, given)
        made.give(_awaited(value) if hasattr(value, "__await__") else value)
    return made.text


def begin(source: str, given: Any) -> Any:
    """What the function returns, which may have to be awaited."""
    return _pick(_load(source))(given)


def output(encoded: str) -> str:
    """The answer for a value that was already written as JSON."""
    if len(encoded) > LARGEST_OUTPUT:
        return failure("output_too_large", "The output is larger than 1 MiB.")
    return f'{{"output":{encoded}}}'


def failure(kind: str, message: str) -> str:
    return json.dumps({"kind": kind, "error": message[:_LONGEST_MESSAGE]})


def _load(source: str) -> ModuleType:
    loader, module = _Text(source), ModuleType("main")
    module.__file__, module.__loader__ = _FILE, loader
    # Dataclasses and the like look their module up.
    sys.modules["main"] = module
    loader.exec_module(module)
    return module


def _pick(module: ModuleType) -> Any:
    names = vars(module)
    for name in _NAMES:
        if callable(names.get(name)):
            return names[name]
    own = [each for each in names.values() if isinstance(each, FunctionType) and each.__module__ == "main"]
    public = [each for each in own if not each.__name__.startswith("_")]
    if len(public) != 1:
        raise NameError("the code must define a function main(input)")
    return public[0]


def _awaited(value: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _show(error: BaseException) -> None:
    """The end of the traceback, from the first line of the user's own on."""
    place = error.__traceback__
    while place and place.tb_frame.f_code.co_filename != _FILE:
        place = place.tb_next
    traceback.print_exception(type(error), error, place, limit=-_MOST_LINES)


def _described(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception_only(type(error), error)).strip()
    except Exception:  # noqa: BLE001 - an error's own text is user code, too
        return type(error).__name__
