"""The result of an import: independent of the source format and bounded in size."""

from typing import Literal

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
BodyType = Literal["json", "form", "multipart"]
ValueStyle = Literal["repeat", "brackets", "comma", "space", "pipe", "json", "file"]
"""How a value becomes pairs of a query or a form.

`repeat`, the default, repeats the name for each item of a list and writes objects as JSON. `brackets` writes
`name[key]` and `name[0]`; `comma`, `space` and `pipe` join the items of a list; `json` writes lists as JSON
too; `file` is the content of a file in a multipart body.
"""
AuthType = Literal["none", "api_key", "oauth2", "basic", "bearer"]


class InvalidDocument(Invalid):
    """The API description cannot be imported. Correct the listed problem."""

    def __init__(self, reason: str) -> None:
        super().__init__({"document": reason}, "The API description cannot be imported.")
        self.reason = reason


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
    (`is_flat` is false), it has `path_params`, `query`, `headers` and `body` instead. `output_schema`
    describes the body of a successful response. `query_styles` and `body_styles` name the values that are not
    written in the default style.
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
    body_type: BodyType
    query_styles: dict[str, ValueStyle]
    body_styles: dict[str, ValueStyle]
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
