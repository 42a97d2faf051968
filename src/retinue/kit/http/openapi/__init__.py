"""The OpenAPI 3.1 document, generated from the route declarations."""

from retinue.kit.http.openapi.document import describe

__all__ = ["describe"]
