"""Texts of people and tools, read when spans are exported: spans themselves only refer to them.

So what was deleted, erased or never logged is not exported.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent, AgentVersion, LogSettings
from retinue.chat.models import Message
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject
from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.spans import Span
from retinue.tools.models import ToolExecution

MAX_CONTENT_LENGTH = 32_768

_messages, _executions, _agents = Message.__table__, ToolExecution.__table__, Agent.__table__
_QUESTIONS = Statement(
    sa.select(_messages.c.reply_id, _messages.c.content).where(in_list(_messages.c.reply_id, "ids"))
)
_REPLIES = Statement(sa.select(_messages.c.id, _messages.c.content).where(in_list(_messages.c.id, "ids")))
_EXECUTIONS = Statement(
    sa.select(_executions.c.id, _executions.c.agent_id, _executions.c.input, _executions.c.output).where(
        in_list(_executions.c.id, "ids")
    )
)
_LOG_SETTINGS = Statement(sa.select(_agents.c.id, _agents.c.log_settings).where(in_list(_agents.c.id, "ids")))
_decode_settings = msgspec.json.Decoder(LogSettings).decode


async def load_content(ctx: Context, parts: Sequence[TracePart]) -> dict[str, JsonObject]:
    """Return the attributes with content, by the id of their span."""
    spans = [(part, span) for part in parts for span in part.spans]
    message_ids = {span.message_id for _, span in spans if span.message_id is not None}
    execution_ids = {span.execution_id for _, span in spans if span.execution_id is not None}
    executions = {
        row[0]: row[1:] for row in await ctx.db.rows(_EXECUTIONS, ids=list_parameter(execution_ids))
    }
    agent_ids = {part.agent_id for part in parts} | {execution[0] for execution in executions.values()}
    logging = await _log_settings(ctx, {id for id in agent_ids if id is not None})
    replies = await _texts(ctx, _REPLIES, message_ids)
    questions = await _texts(ctx, _QUESTIONS, message_ids)
    instructions = await _instructions(ctx, spans)
    found: dict[str, JsonObject] = {}
    for part, span in spans:
        content: JsonObject = {}
        may_show_messages = part.agent_id in logging and logging[part.agent_id].log_messages
        if span.message_id is not None and may_show_messages:
            content |= _messages_of(questions.get(span.message_id), replies.get(span.message_id))
            content[names.SYSTEM_INSTRUCTIONS] = instructions.get(_version_of(part, span))
        if span.execution_id in executions:
            agent_id, arguments, result = executions[span.execution_id]
            if agent_id is None or (agent_id in logging and _logs_calls(logging[agent_id])):
                content[names.TOOL_CALL_ARGUMENTS] = _cut(arguments)
                content[names.TOOL_CALL_RESULT] = None if result is None else _cut(result)
        if content:
            found[span.span_id] = content
    return found


async def _log_settings(ctx: Context, agent_ids: set[str]) -> dict[str | None, LogSettings]:
    rows = await ctx.db.rows(_LOG_SETTINGS, ids=list_parameter(agent_ids))
    return {id: _decode_settings(settings) for id, settings in rows}


async def _texts(ctx: Context, statement: Statement[Any], ids: set[str]) -> dict[str, str]:
    return dict(await ctx.db.rows(statement, ids=list_parameter(ids)))


def _version_of(part: TracePart, span: Span) -> tuple[str | None, Any]:
    return part.agent_id, span.attributes.get(names.AGENT_VERSION)


async def _instructions(
    ctx: Context, spans: Sequence[tuple[TracePart, Span]]
) -> dict[tuple[str | None, Any], str]:
    """Return the prompts of the agents' versions that answered, as they were written."""
    wanted = {_version_of(part, span) for part, span in spans if span.message_id is not None}
    found: dict[tuple[str | None, Any], str] = {}
    for agent_id, number in wanted:
        if agent_id is None or type(number) is not int:
            continue
        version = await ctx.db.find(AgentVersion, agent_id=agent_id, version=number)
        if version is not None:
            prompt = {"type": "text", "content": _cut(version.snapshot.get("system_prompt") or "")}
            found[agent_id, number] = msgspec.json.encode([prompt]).decode()
    return found


def _logs_calls(settings: LogSettings) -> bool:
    return settings.log_messages and settings.log_tool_calls


def _messages_of(question: str | None, reply: str | None) -> JsonObject:
    return {
        names.INPUT_MESSAGES: None if question is None else _message("user", question),
        names.OUTPUT_MESSAGES: None if reply is None else _message("assistant", reply),
    }


def _message(role: str, text: str) -> str:
    """Return a list of one message as JSON, as the conventions have it."""
    message = {"role": role, "parts": [{"type": "text", "content": _cut(text)}]}
    return msgspec.json.encode([message]).decode()


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CONTENT_LENGTH else f"{text[:MAX_CONTENT_LENGTH]}…"
