"""What is left of a description once it is read: nothing of its format, and nothing unbounded."""

from typing import Any, Literal

import msgspec

from retinue.kit.errors import Invalid

Method = Literal["GET", "POST", "PUT", "DELETE"]
AuthType = Literal["none", "api_key", "oauth2", "basic", "bearer"]


class InvalidDocument(Invalid):
    """The API description cannot be imported."""

    def __init__(self, why: str) -> None:
        super().__init__({"document": why}, "The API description cannot be imported.")


class Skipped(msgspec.Struct, frozen=True):
    what: str
    why: str


class Auth(msgspec.Struct, frozen=True):
    """A suggestion: the type and the parts of its configuration that are no secrets."""

    auth_type: AuthType
    auth_config: dict[str, str]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """`name` is made of the document's own `operation_id`, or of method and path where it has none.

    `input_schema` has the parameters and the body's properties side by side.

    Where that would not tell what goes where (`is_flat` is false), it has `path_params`, `query` and `body`
    instead. `output_schema` describes the body of a successful answer.
    """

    name: str
    operation_id: str
    method: Method
    path: str
    summary: str
    description: str
    default_params: dict[str, Any]
    default_headers: dict[str, str]
    input_schema: dict[str, Any]
    is_flat: bool
    output_schema: dict[str, Any] | None


class Api(msgspec.Struct, frozen=True, kw_only=True):
    """`base_url` is None when the document names no absolute address."""

    title: str
    description: str
    version: str
    base_url: str | None
    endpoints: list[Endpoint]
    auth: Auth
    skipped: list[Skipped]
