"""Import of API descriptions (OpenAPI 3.0 and 3.1, Swagger 2.0) into what a tool needs to call them."""

from retinue.adapters.openapi.description import (
    ApiDescription,
    ApiEndpoint,
    InvalidDocument,
    SkippedPart,
    SuggestedAuth,
)
from retinue.adapters.openapi.document_text import parse_text
from retinue.adapters.openapi.parser import parse_api

__all__ = [
    "ApiDescription",
    "ApiEndpoint",
    "InvalidDocument",
    "SkippedPart",
    "SuggestedAuth",
    "parse_api",
    "parse_text",
]
