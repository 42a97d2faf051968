"""Anthropic's wire format from the server's side, as strict about requests as the real one."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tests.adapters.llm_replies import Answer, Reply, pieces

_numbers = itertools.count(1)
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
MODELS = [f"claude-{number}" for number in range(5)]


def check_key(request, key: str) -> Answer | None:
    if request.headers.get("x-api-key") == key:
        return None
    return error(401, "authentication_error", f"invalid x-api-key {request.headers.get('x-api-key')}")


def answer(request, next_reply) -> Answer:
    match request.method, request.path.rpartition("/v1")[2]:
        case "POST", "/messages":
            return messages(request.json, next_reply)
        case "GET", "/models":
            return list_models(request.query)
    return error(404, "not_found_error", f"{request.method} {request.path}")


def error(status: int, type_: str, message: str) -> Answer:
    return Answer(
        status, msgspec.json.encode({"type": "error", "error": {"type": type_, "message": message}})
    )


def messages(body: dict[str, Any], next_reply) -> Answer:
    if complaint := next(_complaints(body), None):
        return error(400, "invalid_request_error", complaint)
    heard = [block["text"] for block in body["messages"][-1]["content"] if block["type"] == "text"]
    reply = next_reply(" ".join(heard))
    content = _content(reply)
    stop = reply.finish or ("tool_use" if reply.calls else "end_turn")
    usage = {
        "input_tokens": 9,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 2,
        **(reply.usage or {}),
    }
    message = {
        "id": f"msg_{next(_numbers)}", "type": "message", "role": "assistant", "model": body["model"],
        "content": content, "stop_reason": stop, "stop_sequence": None,
        "usage": {"output_tokens": len(content) + 10, **usage},
    }  # fmt: skip
    if not body.get("stream"):
        return Answer(body=msgspec.json.encode(message))
    return Answer(events=_events(message, reply))


def _content(reply: Reply) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append(
            {"type": "thinking", "thinking": reply.reasoning, "signature": f"signed:{reply.reasoning}"}
        )
        content.append({"type": "redacted_thinking", "data": "c2VjcmV0"})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    for call in reply.calls:
        id = f"toolu_{next(_numbers):020}" if call.id is None else call.id
        content.append(
            {"type": "tool_use", "id": id, "name": call.name, "input": msgspec.Raw(call.arguments.encode())}
        )
    return content


def _complaints(body: dict[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: Field required"
    if body["model"].startswith("claude-opus-5") and {"temperature", "top_p"} & set(body):
        yield "`temperature` is deprecated for this model."
    if {"temperature", "top_p"} <= set(body):
        yield "`temperature` and `top_p` cannot both be specified for this model."
    if not 0 <= body.get("temperature", 0) <= 1:
        yield "temperature: range: 0..1"
    if any(tool["input_schema"].get("type") != "object" for tool in body.get("tools", [])):
        yield "tools.0.custom.input_schema.type: Field required"
    yield from _format_complaints(body)
    turns = body["messages"]
    if not turns or turns[0]["role"] != "user":
        yield "messages: first message must use the user role"
    for before, turn in itertools.pairwise([{"role": "", "content": []}, *turns]):
        yield from _turn_complaints(before, turn)


def _format_complaints(body: dict[str, Any]) -> Iterator[str]:
    config = body.get("output_config", {})
    if config.get("effort", "low") not in {"low", "medium", "high", "xhigh", "max"}:
        yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    if "format" not in config:
        return
    if body["model"].startswith("claude-3"):
        yield "output_config: this model does not support structured outputs."
    yield from _unsupported_keywords(config["format"]["schema"])


def _unsupported_keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _unsupported_keywords(part)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield "output_config.format.schema: 'additionalProperties' must be explicitly set to false"
    if unknown := {"minLength", "maxLength", "pattern", "minimum", "maximum", "maxItems"} & set(schema):
        yield f"output_config.format.schema: {sorted(unknown)} not supported"
    for part in schema.values():
        yield from _unsupported_keywords(part)


def _turn_complaints(before: dict[str, Any], turn: dict[str, Any]) -> Iterator[str]:
    if turn["role"] == before["role"]:
        yield "messages: roles must alternate"
    if any(block["type"] == "text" and not block["text"] for block in turn["content"]):
        yield "messages: text content blocks must be non-empty"
    asked = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
    given = [block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"]
    if asked != given or len(set(asked)) != len(asked):
        yield f"tool_use ids {asked} were found without tool_result blocks immediately after: {given}"
    if not all(_TOOL_ID.fullmatch(id) for id in asked):
        yield "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    for block in turn["content"]:
        if block["type"] == "thinking" and block["signature"] != f"signed:{block['thinking']}":
            yield "Invalid `signature` in `thinking` block"


def _events(message: dict[str, Any], reply: Reply) -> list[bytes]:
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    events = [event("message_start", message=begun), event("ping")]
    for index, block in enumerate(message["content"]):
        empty, deltas = _grown(block)
        events.append(event("content_block_start", index=index, content_block=empty))
        events += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(event("content_block_stop", index=index))
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    counted = {"output_tokens": message["usage"]["output_tokens"]}
    return [*events, event("message_delta", delta=end, usage=counted), event("message_stop")]


def _grown(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and the deltas that complete it."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            return {"type": "text", "text": ""}, deltas
        case "tool_use":
            written = bytes(block["input"]).decode()
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(written)]]
            return {**block, "input": {}}, deltas
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    return block, []


def event(type_: str, **fields: Any) -> bytes:
    data = msgspec.json.encode({"type": type_, **fields})
    return b"event: " + type_.encode() + b"\ndata: " + data + b"\n\n"


def list_models(query: dict[str, list[str]]) -> Answer:
    """Two models a page, whatever was asked for."""
    start = MODELS.index(query["after_id"][0]) + 1 if "after_id" in query else 0
    page = MODELS[start : start + 2]
    data = [
        {"type": "model", "id": id, "display_name": id.title(), "created_at": "2026-01-01T00:00:00Z"}
        for id in page
    ]
    more = start + 2 < len(MODELS)
    return Answer(
        body=msgspec.json.encode({"data": data, "has_more": more, "first_id": page[0], "last_id": page[-1]})
    )
