"""Import of API descriptions (OpenAPI 3.0 and 3.1, Swagger 2.0) into what a tool needs to call them."""

from retinue.adapters.openapi.description import (
    ApiDescription,
    ApiEndpoint,
    BodyType,
    InvalidDocument,
    SkippedPart,
    SuggestedAuth,
    ValueStyle,
)
from retinue.adapters.openapi.document_text import parse_text
from retinue.adapters.openapi.parser import parse_api
from retinue.adapters.openapi.text_reader import DocumentReaderUnavailable, read_excerpt, read_text

__all__ = [
    "ApiDescription",
    "ApiEndpoint",
    "BodyType",
    "DocumentReaderUnavailable",
    "InvalidDocument",
    "SkippedPart",
    "SuggestedAuth",
    "ValueStyle",
    "parse_api",
    "parse_text",
    "read_excerpt",
    "read_text",
]
