"""Warnings about secrets that may not be sent where a file says: they were entered for another address.

An apply moves no secret (ADR 8), whoever applies: such a tool, channel or web search fails when it is used,
until somebody who may reveal the secret saves it. The plan says so before.
"""

from collections.abc import AsyncIterator

from retinue.agents.models import Agent
from retinue.agents.queries import load_tools
from retinue.agents.search_engine import destination_of as search_destination
from retinue.credentials.models import Credential
from retinue.credentials.secret_access import may_be_sent
from retinue.kit.context import Context
from retinue.notifications.configs import destination_of as channel_destination
from retinue.notifications.models import Channel
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tools.config.configuration import apply_override, destination_of
from retinue.tools.models import Tool


async def destination_warnings(
    ctx: Context, names: ReferenceIndex, changes: list[PlannedChange]
) -> list[str]:
    """Return a warning for each object of the applied file whose secret may not go to its address."""
    return [
        f"{change.location}: {problem} Somebody who may reveal the secret must save it in this tenant."
        for change in changes
        if change.action != "delete"
        async for problem in _problems(ctx, names.records[change.section][change.name])
        if problem
    ]


async def _problems(ctx: Context, record: object) -> AsyncIterator[str]:
    # Read again: the index holds the records as they were before the file was applied.
    if isinstance(record, Tool):
        tool = await ctx.db.get(Tool, record.id)
        if tool is not None:
            yield await _tool_problem(ctx, tool)
    elif isinstance(record, Channel):
        channel = await ctx.db.get(Channel, record.id)
        if channel is not None:
            yield await _channel_problem(ctx, channel)
    elif isinstance(record, Agent):
        agent = await ctx.db.get(Agent, record.id)
        if agent is not None:
            yield await _search_problem(ctx, agent)
            for problem in await _override_problems(ctx, agent):
                yield problem


async def _tool_problem(ctx: Context, tool: Tool) -> str:
    destination = destination_of(tool.tool_type, tool.config)
    if tool.credential_id is not None:
        return await _credential_problem(ctx, tool.credential_id, destination, tool.auth_destination)
    return _own_problem(destination, tool.auth_destination) if tool.auth_config is not None else ""


async def _channel_problem(ctx: Context, channel: Channel) -> str:
    destination = channel_destination(channel.provider, channel.config)
    if channel.credential_id is not None:
        return await _credential_problem(ctx, channel.credential_id, destination, destination)
    return _own_problem(destination, channel.destination) if channel.secret_keys else ""


async def _search_problem(ctx: Context, agent: Agent) -> str:
    search = agent.web_search
    if search.credential_id is None:
        return ""
    destination = search_destination(ctx.settings, search)
    return await _credential_problem(ctx, search.credential_id, destination, search.credential_destination)


async def _override_problems(ctx: Context, agent: Agent) -> list[str]:
    found = []
    for attached in await load_tools(ctx, agent):
        tool, override = attached.tool, attached.attachment.config_override
        if not override or (tool.credential_id is None and tool.auth_config is None):
            continue
        effective = destination_of(tool.tool_type, apply_override(tool.config, override))
        if effective and effective not in {tool.auth_destination, attached.attachment.override_destination}:
            found.append(f"with its override, {tool.slug} may not send its secret to {effective}.")
    return found


async def _credential_problem(ctx: Context, credential_id: str, destination: str, bound: str) -> str:
    credential = await ctx.db.get(Credential, credential_id)
    if credential is None or (may_be_sent(credential, destination) and bound == destination):
        return ""
    return f"the credential {credential.name} may not be sent to {destination or 'what has no address'}."


def _own_problem(destination: str, entered_for: str) -> str:
    if destination == entered_for:
        return ""
    return f"its secret was entered for {entered_for or 'no address'}, not for {destination or 'none'}."
