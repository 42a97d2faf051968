"""The form of errors on routes that speak another protocol than ours."""

from collections.abc import Callable, Mapping

import msgspec

from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject


class ErrorFormat(msgspec.Struct, frozen=True):
    """Builds the body and further headers of an error; `shape` describes the body for the API reference."""

    body: Callable[[RetinueError], JsonObject]
    headers: Callable[[RetinueError], Mapping[str, str]]
    shape: type[msgspec.Struct]
