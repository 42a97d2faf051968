"""OpenAI's wire format from the server's side, with the rules that some models and providers add to it."""

import email
import itertools
import re
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from tests.adapters.llm_replies import Answer, Reply, pieces

_numbers = itertools.count(1)
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
BAG_OF_WORDS = "bag-of-words"
MODELS = ["gpt-4o-mini", "o4-mini", "text-embedding-3-small", "whisper-1"]


def check_key(request, key: str) -> Answer | None:
    given = request.headers.get("api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
    if given == key:
        return None
    # Providers quote parts of what they were given; this one quotes all of it.
    return error(401, f"Incorrect API key provided: {given}.", "invalid_request_error", "invalid_api_key")


def answer(request, next_reply) -> Answer:
    match request.method, re.search(r"/(chat/completions|embeddings|audio/\w+|models|)$", request.path)[1]:
        case "POST", "chat/completions":
            return chat(request.json, next_reply)
        case "POST", "embeddings":
            return embeddings(request.json)
        case "POST", "audio/transcriptions":
            return transcription(request)
        case "POST", "audio/speech":
            return speech(request.json)
        case "GET", "models":
            return list_models()
    return error(404, f"Invalid URL ({request.method} {request.path})", "invalid_request_error")


def error(status: int, message: str, type_: str, code: str | None = None) -> Answer:
    shape = {"error": {"message": message, "type": type_, "param": None, "code": code}}
    return Answer(status, msgspec.json.encode(shape))


def chat(body: dict[str, Any], next_reply) -> Answer:
    if not isinstance(body.get("messages"), list) or not body.get("model"):
        return error(400, "you must provide a model and messages", "invalid_request_error")
    if complaint := _format_complaint(body):
        return error(400, complaint, "invalid_request_error")
    if refused := _complaint(body):
        return refused
    reply = next_reply(_last_text(body["messages"]))
    calls = [{**call, "index": index} for index, call in enumerate(_calls(reply, body["model"]))]
    usage = reply.usage or _usage(reply)
    finish = reply.finish or ("tool_calls" if calls else "stop")
    if body.get("stream"):
        return Answer(events=_events(body, reply, calls, finish, usage))
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if calls:
        message["tool_calls"] = [{name: call[name] for name in call if name != "index"} for call in calls]
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return _json(_envelope(body, reply, "chat.completion", choices=[choice], usage=usage))


def _complaint(body: dict[str, Any]) -> Answer | None:
    """The rules by which providers differ, each with the words of the provider that has it."""
    model = body["model"]
    if re.match(r"o\d|gpt-5", model) and (
        refused := {"temperature", "top_p", "stop", "max_tokens"} & set(body)
    ):
        return error(
            400, f"Unsupported parameter: {sorted(refused)}", "invalid_request_error", "unsupported_parameter"
        )
    calls = [call for message in body["messages"] for call in message.get("tool_calls", [])]
    if model.startswith("mistral"):
        if extra := {"stream_options", "max_completion_tokens"} & set(body):
            detail = [
                {"type": "extra_forbidden", "loc": ["body", *extra], "msg": "Extra inputs are not permitted"}
            ]
            return Answer(422, msgspec.json.encode({"object": "error", "message": {"detail": detail}}))
        if odd := [call["id"] for call in calls if not _MISTRAL_ID.fullmatch(call["id"])]:
            return error(
                400, f"Tool call id was {odd[0]} but must be a-z, A-Z, 0-9, with a length of 9.", "x"
            )
    if model.startswith("gemini-3") and any("extra_content" not in call for call in calls):
        return error(400, "Function call is missing a thought_signature.", "invalid_request_error")
    if model.startswith("deepseek"):
        for message in body["messages"]:
            if message.get("tool_calls") and "reasoning_content" not in message:
                return error(
                    400, "The reasoning_content must be passed back to the API.", "invalid_request_error"
                )
    return _order_complaint(body["messages"])


def _format_complaint(body: dict[str, Any]) -> str | None:
    """A model that knows no formats, and what OpenAI says of a schema that is not as strict as it claims."""
    wanted = body.get("response_format", {})
    if body["model"].startswith("plain") and wanted:
        return "'response_format' is not supported with this model."
    if (
        wanted.get("type") == "json_object"
        and "json" not in msgspec.json.encode(body["messages"]).decode().lower()
    ):
        return "'messages' must contain the word 'json' in some form, to use 'response_format'."
    schema = wanted.get("json_schema", {})
    if schema.get("strict"):
        return next(_loose_objects(schema["schema"]), None)
    return None


def _loose_objects(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _loose_objects(part)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield "Invalid schema for response_format: 'additionalProperties' must be supplied and false."
        if set(schema.get("required", [])) != set(schema.get("properties", {})):
            yield "Invalid schema for response_format: 'required' must include every key in properties."
    if unknown := {"minLength", "maxLength", "allOf", "not", "uniqueItems"} & set(schema):
        yield f"Invalid schema for response_format: {sorted(unknown)} is not permitted."
    for part in schema.values():
        yield from _loose_objects(part)


def _order_complaint(messages: list[dict[str, Any]]) -> Answer | None:
    """Every call has its result right after it, and no result stands alone."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return error(
                    400, "messages with role 'tool' must answer a tool_call", "invalid_request_error"
                )
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return error(400, f"tool_call_ids without results: {sorted(waiting)}", "invalid_request_error")
        for call in message.get("tool_calls", []):
            msgspec.json.decode(call["function"]["arguments"], type=dict)
            waiting.add(call["id"])
    return error(400, f"tool_call_ids without results: {sorted(waiting)}", "x") if waiting else None


def _last_text(messages: list[dict[str, Any]]) -> str:
    content = messages[-1].get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def _calls(reply: Reply, model: str) -> list[dict[str, Any]]:
    calls = []
    for call in reply.calls:
        made = {
            "id": f"call_{next(_numbers):024}" if call.id is None else call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        if model.startswith("gemini-3"):
            made["extra_content"] = {"google": {"thought_signature": f"signed-{call.name}"}}
        calls.append(made)
    return calls


def _usage(reply: Reply) -> dict[str, Any]:
    written = len(pieces(reply.text)) + len(reply.calls)
    details = {"cached_tokens": 2}
    return {
        "prompt_tokens": 9,
        "completion_tokens": written,
        "total_tokens": 9 + written,
        "prompt_tokens_details": details,
    }


def _envelope(body: dict[str, Any], reply: Reply, kind: str, **fields: Any) -> dict[str, Any]:
    model = reply.model or f"{body['model']}-2024-07-18"
    return {"id": "chatcmpl-123", "object": kind, "created": 1694268190, "model": model, **fields}


def _events(body, reply: Reply, calls, finish: str, usage: Any) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"reasoning_content": piece} for piece in pieces(reply.reasoning)]
    deltas += [{"content": piece} for piece in pieces(reply.text)]
    for call in calls:
        function = call["function"]
        deltas.append({"tool_calls": [{**call, "function": {"name": function["name"], "arguments": ""}}]})
        for piece in pieces(function["arguments"]):
            deltas.append({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]})
    wants_usage = body.get("stream_options", {}).get("include_usage") or body["model"].startswith("mistral")
    chunks = [{"choices": [_choice(delta)]} for delta in deltas]
    chunks.append({"choices": [_choice({}, finish)]})
    if wants_usage:
        chunks.append({"choices": [], "usage": usage})
    made = [_envelope(body, reply, "chat.completion.chunk", **chunk) for chunk in chunks]
    return [*(event(chunk) for chunk in made), b"data: [DONE]\n\n"]


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def event(value: Any) -> bytes:
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def embeddings(body: dict[str, Any]) -> Answer:
    made = bag_of_words if body["model"] == BAG_OF_WORDS else _by_length
    data = [
        {"object": "embedding", "index": index, "embedding": made(text, body.get("dimensions", 4))}
        for index, text in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    # The order is said by the index alone.
    return _json({"object": "list", "data": data[::-1], "model": body["model"], "usage": usage})


def _by_length(text: str, size: int) -> list[float]:
    return [float(len(text)), *[0.5] * (size - 1)]


def bag_of_words(text: str, _size: int = 0) -> list[float]:
    """Texts with words in common are alike: each word counts at a place that its spelling decides."""
    vector = [0.0] * 256
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % len(vector)] += 1.0
    return vector


def transcription(request) -> Answer:
    form = email.message_from_bytes(
        b"Content-Type: " + request.headers["content-type"].encode() + b"\r\n\r\n" + request.body
    )
    fields = {part.get_param("name", header="content-disposition"): part for part in form.get_payload()}
    audio = fields["file"].get_payload(decode=True)
    heard = f"{fields['file'].get_filename()} has {len(audio)} bytes"
    if fields["response_format"].get_payload() == "verbose_json":
        return _json(
            {"task": "transcribe", "language": "english", "duration": "8.5", "text": heard, "segments": []}
        )
    return _json({"text": heard, "usage": {"type": "tokens", "total_tokens": 3}})


def speech(body: dict[str, Any]) -> Answer:
    sound = f"{body['response_format']}:{body['voice']}:{body['input']}".encode() * 100
    return Answer(body=sound, headers={"Content-Type": "audio/mpeg"})


def list_models() -> Answer:
    models = [{"id": id, "object": "model", "created": 1, "owned_by": "system"} for id in MODELS]
    models.append(
        {"id": "models/gemini-3-pro", "object": "model", "owned_by": "google", "display_name": "Gemini 3"}
    )
    models.append({"id": "llama", "object": "model", "max_model_len": 131072, "owned_by": "vllm"})
    return _json({"object": "list", "data": models})


def _json(value: Any) -> Answer:
    return Answer(body=msgspec.json.encode(value))
