"""Descriptions of HTTP APIs (OpenAPI 3.0 and 3.1, Swagger 2.0), read into what a tool needs to call them."""

from retinue.adapters.openapi.description import Api, Auth, Endpoint, InvalidDocument, Skipped
from retinue.adapters.openapi.documents import read_text
from retinue.adapters.openapi.reading import read_api

__all__ = ["Api", "Auth", "Endpoint", "InvalidDocument", "Skipped", "read_api", "read_text"]
