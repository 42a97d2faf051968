"""The extras of `pip install 'retinue[…]'`: packages that only some installations have.

Code that needs one asks here before it imports such a package, so that an installation without the extra
gives an answer that names it instead of an ImportError. What belongs to an extra is declared in
pyproject.toml; `tests/contract/test_dependencies.py` compares it with the modules below.
"""

import functools
import importlib.util
from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

ExtraName = Literal["local", "speech", "mysql", "ssh", "documents"]


class Extra(Struct, frozen=True):
    """The purpose of an extra, and the modules of it that our code imports."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS: Mapping[ExtraName, Extra] = {
    "local": Extra("Embedded models for chat and embeddings", ("onnxruntime", "tokenizers", "xllamacpp")),
    "speech": Extra("Embedded models for speech", ("av", "faster_whisper", "hibari", "lameenc")),
    "mysql": Extra("MySQL and MariaDB", ("aiomysql", "pymysql")),
    "ssh": Extra("SSH logins", ("asyncssh", "bcrypt")),
    "documents": Extra("XLSX files", ("python_calamine",)),
}


def install_hint(name: ExtraName) -> str:
    return f"run `pip install 'retinue[{name}]'`"


@functools.cache
def is_installed(name: ExtraName) -> bool:
    """Return whether every package of an extra is there; a package added later counts after a restart."""
    return all(map(_can_import, EXTRAS[name].modules))


def _can_import(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def require_extra(name: ExtraName, refusal: Callable[[str], Exception]) -> None:
    """Raise `refusal`, called with a message that names the command, if the extra is not installed."""
    if not is_installed(name):
        raise refusal(
            f"{EXTRAS[name].purpose} need packages that are not installed. "
            f"On the server, {install_hint(name)} and restart it."
        )
