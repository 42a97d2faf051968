"""Content blocks of MCP for agents: a model gets no base64 as text, which it could not read."""

import base64
import binascii

from retinue.kit.json_types import JsonObject
from retinue.tools.executors.call import ExecutorCall, ImageBlock

_MAX_TYPE_LENGTH = 100
_IMAGE = "image"
_RESOURCE = "resource"
_NOT_BASE64 = "The content is not valid base64."


def take_binary(call: ExecutorCall, content: list[JsonObject]) -> list[JsonObject]:
    """Return the blocks without binary content; images are kept with the call, for those who can see."""
    return [_without_binary(call, block) for block in content]


def _without_binary(call: ExecutorCall, block: JsonObject) -> JsonObject:
    resource = block.get("resource")
    if block.get("type") == _RESOURCE and isinstance(resource, dict) and "blob" in resource:
        rest = {name: value for name, value in resource.items() if name != "blob"}
        return {**block, "resource": _render_result(call, rest, resource["blob"])}
    if "data" not in block:
        return block
    rest = {name: block[name] for name in ("type", "mimeType") if name in block}
    return _render_result(call, rest, block["data"])


def _render_result(call: ExecutorCall, rest: JsonObject, data: object) -> JsonObject:
    """Return what stands for binary content in the output."""
    kind = str(rest.get("mimeType", ""))[:_MAX_TYPE_LENGTH]
    try:
        content = base64.b64decode(data, validate=True) if isinstance(data, str) else b""
    except (binascii.Error, ValueError):
        return {**rest, "left_out": _NOT_BASE64}
    if rest.get("type") == _IMAGE or kind.startswith(f"{_IMAGE}/"):
        call.image_blocks.append(ImageBlock(content, rest))
        return rest
    return {**rest, "left_out": f"Content of the type {kind or 'unknown'}, {len(content)} bytes."}
