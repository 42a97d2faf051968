"""Import of an OpenAPI document as one `rest_api` tool with an endpoint for each operation."""

import asyncio
from typing import cast

import msgspec
from msgspec import UNSET, Raw

from retinue.adapters.openapi import ApiDescription, ApiEndpoint, parse_api, read_excerpt
from retinue.kit.context import Context
from retinue.kit.egress import Egress
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.tools import service, slugs
from retinue.tools.config.known_keys import url_problems
from retinue.tools.models import AuthType, ToolType
from retinue.tools.schemas import (
    EndpointFound,
    ImportOpenApi,
    ImportPreview,
    PartSkipped,
    ToolCreate,
    ToolImported,
)

# The configuration is loaded for every run.
_MAX_CONFIG_BYTES = 1024 * 1024
_MAX_REASONS = 3
_MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
_MAX_FETCH_SECONDS = 20.0
_MAX_REDIRECTS = 3


async def create(ctx: Context, body: ImportOpenApi) -> ToolImported:
    api, tool_body = await _read_tool(ctx, body)
    async with ctx.unit() as unit:
        tool = await service.create(unit, tool_body, is_imported=True)
    return ToolImported.of(tool, **_summary_fields(api))


async def preview(ctx: Context, body: ImportOpenApi) -> ImportPreview:
    """Return the tool that would be created; its `auth_config` never contains secrets."""
    api, tool_body = await _read_tool(ctx, body)
    suggested = api.auth.auth_config if tool_body.auth_type == api.auth.auth_type else {}
    return ImportPreview.of(
        tool_body,
        slug=slugs.from_name(tool_body.name),
        description=tool_body.description or "",
        auth_config=suggested,
        **_summary_fields(api),
    )


async def _read_tool(ctx: Context, body: ImportOpenApi) -> tuple[ApiDescription, ToolCreate]:
    text = await _read_document(ctx, body)
    excerpt = await read_excerpt(text, body.operations, ctx.requester)
    if excerpt.unknown:
        raise Invalid({f"operations.{position}": "is not in the document" for position in excerpt.unknown})
    # In a thread, because a thousand operations take a second of CPU time.
    api = await asyncio.to_thread(parse_api, excerpt.document, excerpt.names)
    if not api.endpoints:
        raise Invalid({"document": _describe_unusable(api)})
    return api, ToolCreate(
        name=body.name or api.title,
        description=api.description,
        category=body.category,
        tool_type=ToolType.rest_api,
        config=_config(api, body.base_url),
        input_schema=_input_schema(api.endpoints),
        **_authentication(api, body),
    )


async def _read_document(ctx: Context, body: ImportOpenApi) -> bytes:
    if (body.url is None) is (body.document is UNSET):
        raise Invalid({"document": "or url is required, and only one of them"})
    if body.url is not None:
        return await _fetch(ctx, body.url)
    return await asyncio.to_thread(_document_text, bytes(cast("Raw", body.document)))


async def _fetch(ctx: Context, url: str) -> bytes:
    """Return the document at an address that egress allows; whatever goes wrong is about the `url`."""
    try:
        async with ctx.adapter(Egress).request(
            "GET",
            url,
            timeout_s=_MAX_FETCH_SECONDS,
            headers={"Accept": "application/json, application/yaml, text/yaml, */*;q=0.5"},
            max_bytes=_MAX_DOCUMENT_BYTES,
            require_https=True,
            follow_redirects=_MAX_REDIRECTS,
        ) as response:
            status, text = response.status, await response.read()
    except RetinueError as error:
        raise Invalid({"url": error.message}) from None
    if not 200 <= status < 300:
        raise Invalid({"url": f"answered with status {status}"})
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Invalid({"url": "has no text in UTF-8"}) from None
    return text


def _document_text(document: bytes) -> bytes:
    """Return the text of a document that was sent as an object or as a text."""
    if document[:1] == b"{":
        return document
    if document[:1] != b'"':
        raise Invalid({"document": "must be an object or a text"})
    try:
        return msgspec.json.decode(document, type=str).encode()
    except (msgspec.DecodeError, UnicodeError):
        raise Invalid({"document": "is not text in UTF-8"}) from None


def _describe_unusable(api: ApiDescription) -> str:
    reasons = "; ".join(f"{part.what}: {part.why}" for part in api.skipped[:_MAX_REASONS])
    return "has no operation that a tool can call" + (f" ({reasons})" if reasons else "")


def _config(api: ApiDescription, base_url: str | None) -> JsonObject:
    address = base_url or api.base_url
    if address is None:
        raise Invalid({"base_url": "is required because the document has no server URL"})
    problems = dict(url_problems("base_url", address))
    if problems:
        raise Invalid(problems)
    config = {
        "base_url": address,
        "endpoints": {endpoint.name: _endpoint(endpoint) for endpoint in api.endpoints},
    }
    size = len(msgspec.json.encode(config))
    if size > _MAX_CONFIG_BYTES:
        found = f"{len(api.endpoints)} operations make a configuration of {size / 1024**2:.1f} MiB"
        raise Invalid({"operations": f"{found}, and 1 MiB is stored; name fewer"})
    return config


def _endpoint(endpoint: ApiEndpoint) -> JsonObject:
    """Return the endpoint with the description and schema that models are shown."""
    described: JsonObject = {
        "method": endpoint.method,
        "path": endpoint.path,
        "description": endpoint.summary or endpoint.description,
        "input_schema": endpoint.input_schema,
    }
    for name in ("default_params", "default_headers", "query_styles", "body_styles"):
        if values := getattr(endpoint, name):
            described[name] = values
    if endpoint.body_type != "json":
        described["body_type"] = endpoint.body_type
    return described


def _input_schema(endpoints: list[ApiEndpoint]) -> JsonObject:
    if len(endpoints) == 1:
        return endpoints[0].input_schema
    return {"type": "object", "properties": {"endpoint": {"type": "string"}}, "required": ["endpoint"]}


def _authentication(api: ApiDescription, body: ImportOpenApi) -> JsonObject:
    """Return the caller's authentication; the document's suggestion applies unless its type differs."""
    suggested = AuthType(api.auth.auth_type)
    auth_type = body.auth_type or suggested
    suggested_config = api.auth.auth_config if auth_type is suggested else {}
    return {"auth_type": auth_type, "auth_config": {**suggested_config, **(body.auth_config or {})} or None}


def _summary_fields(api: ApiDescription) -> JsonObject:
    return {
        "endpoints": [EndpointFound.of(endpoint) for endpoint in api.endpoints],
        "skipped": [PartSkipped.of(part) for part in api.skipped],
    }
