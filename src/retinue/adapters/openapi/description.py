"""The result of an import: independent of the source format and bounded in size."""

from typing import Literal

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

Method = Literal["GET", "POST", "PUT", "DELETE"]
AuthType = Literal["none", "api_key", "oauth2", "basic", "bearer"]


class InvalidDocument(Invalid):
    """The API description cannot be imported. Correct the listed problem."""

    def __init__(self, reason: str) -> None:
        super().__init__({"document": reason}, "The API description cannot be imported.")


class SkippedPart(msgspec.Struct, frozen=True):
    what: str
    why: str


class SuggestedAuth(msgspec.Struct, frozen=True):
    """A suggested authentication type and the non-secret parts of its configuration."""

    auth_type: AuthType
    auth_config: dict[str, str]


class ApiEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One operation; `name` comes from its `operation_id`, or from method and path if it has none.

    `input_schema` has the parameters and the body's properties side by side. If that would be ambiguous
    (`is_flat` is false), it has `path_params`, `query` and `body` instead. `output_schema` describes the body
    of a successful response.
    """

    name: str
    operation_id: str
    method: Method
    path: str
    summary: str
    description: str
    default_params: JsonObject
    default_headers: dict[str, str]
    input_schema: JsonObject
    is_flat: bool
    output_schema: JsonObject | None


class ApiDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed API description; `base_url` is None if the document names no absolute address."""

    title: str
    description: str
    version: str
    base_url: str | None
    endpoints: list[ApiEndpoint]
    auth: SuggestedAuth
    skipped: list[SkippedPart]
