"""An OpenAPI description becomes one REST tool, with an endpoint for each operation."""

import asyncio
from typing import Any

import msgspec

from retinue.adapters.openapi import Api, Endpoint, read_api, read_text
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tools import service, slugs
from retinue.tools.known_keys import url_problems
from retinue.tools.models import AuthType, ToolType
from retinue.tools.schemas import (
    EndpointFound,
    ImportOpenApi,
    ImportPreview,
    JsonObject,
    PartSkipped,
    ToolCreate,
    ToolImported,
)

# What is read at every run.
_LARGEST_CONFIG = 1024 * 1024


async def create(ctx: Context, body: ImportOpenApi) -> ToolImported:
    api, wanted = await _read(body)
    tool = await service.create(ctx, wanted)
    return ToolImported.of(tool, **_found(api))


async def preview(body: ImportOpenApi) -> ImportPreview:
    """What would be created; the suggested `auth_config` has no secrets, and those given are not repeated."""
    api, wanted = await _read(body)
    suggested = api.auth.auth_config if wanted.auth_type == api.auth.auth_type else {}
    return ImportPreview.of(
        wanted,
        slug=slugs.from_name(wanted.name),
        description=wanted.description or "",
        auth_config=suggested,
        **_found(api),
    )


async def _read(body: ImportOpenApi) -> tuple[Api, ToolCreate]:
    # A large document keeps the processor busy for a second.
    api = _chosen(await asyncio.to_thread(_read_document, body.document), body.operations)
    return api, ToolCreate(
        name=body.name or api.title,
        description=api.description,
        category=body.category,
        tool_type=ToolType.rest_api,
        config=_config(api, body.base_url),
        input_schema=_input_schema(api.endpoints),
        **_authentication(api, body),
    )


def _read_document(document: JsonObject | str) -> Api:
    return read_api(read_text(document.encode()) if isinstance(document, str) else document)


def _chosen(api: Api, operations: list[str] | None) -> Api:
    if not api.endpoints:
        raise Invalid({"document": "has no operation that a tool can call"})
    if operations is None:
        return api
    by_name = {endpoint.operation_id: endpoint for endpoint in api.endpoints if endpoint.operation_id}
    by_name |= {endpoint.name: endpoint for endpoint in api.endpoints}
    unknown = [position for position, name in enumerate(operations) if name not in by_name]
    if unknown:
        raise Invalid({f"operations.{position}": "there is no such operation" for position in unknown})
    chosen = {by_name[name].name: by_name[name] for name in operations}
    return msgspec.structs.replace(api, endpoints=list(chosen.values()))


def _config(api: Api, base_url: str | None) -> JsonObject:
    address = base_url or api.base_url
    if address is None:
        raise Invalid({"base_url": "is required, because the document names no address"})
    problems = dict(url_problems("base_url", address))
    if problems:
        raise Invalid(problems)
    config = {
        "base_url": address,
        "endpoints": {endpoint.name: _endpoint(endpoint) for endpoint in api.endpoints},
    }
    if len(msgspec.json.encode(config)) > _LARGEST_CONFIG:
        raise Invalid({"operations": "are too many for one tool; choose some of them"})
    return config


def _endpoint(endpoint: Endpoint) -> JsonObject:
    """What is called, and beside it what tells a model how to call it."""
    described: dict[str, Any] = {
        "method": endpoint.method,
        "path": endpoint.path,
        "description": endpoint.summary or endpoint.description,
        "input_schema": endpoint.input_schema,
    }
    if endpoint.default_params:
        described["default_params"] = endpoint.default_params
    if endpoint.default_headers:
        described["default_headers"] = endpoint.default_headers
    return described


def _input_schema(endpoints: list[Endpoint]) -> JsonObject:
    if len(endpoints) == 1:
        return endpoints[0].input_schema
    return {"type": "object", "properties": {"endpoint": {"type": "string"}}, "required": ["endpoint"]}


def _authentication(api: Api, body: ImportOpenApi) -> dict[str, Any]:
    """What the caller says; otherwise what the document suggests, with the caller's secrets in it."""
    suggested = AuthType(api.auth.auth_type)
    auth_type = body.auth_type or suggested
    known = api.auth.auth_config if auth_type is suggested else {}
    return {"auth_type": auth_type, "auth_config": {**known, **(body.auth_config or {})} or None}


def _found(api: Api) -> dict[str, Any]:
    return {
        "endpoints": [EndpointFound.of(endpoint) for endpoint in api.endpoints],
        "skipped": [PartSkipped.of(part) for part in api.skipped],
    }
