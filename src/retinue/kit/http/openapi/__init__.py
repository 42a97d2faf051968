"""The service described in OpenAPI 3.1, from the declarations of its routes alone."""

from retinue.kit.http.openapi.document import describe

__all__ = ["describe"]
