"""The tools, sub-agents and web search of a turn under the names the model sees."""

import re
from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from itertools import chain

import msgspec

from retinue.adapters.llm import ToolCall, ToolSpec
from retinue.agents.capabilities import AttachedAgent, AttachedTool, Capabilities, capabilities
from retinue.agents.models import Agent
from retinue.agents.search_engine import WEB_SEARCH_SPEC
from retinue.chat.engine.attachment_reader import READ_ATTACHMENT_SPEC
from retinue.chat.engine.budget import MAX_DELEGATION_DEPTH
from retinue.chat.engine.page_reader import READ_PAGE_SPEC
from retinue.chat.engine.recall import RECALL_SPEC
from retinue.chat.engine.task import TurnTask
from retinue.chat.engine.tool_functions import (
    ToolFunction,
    as_single_function,
    joined,
    tool_functions_of,
)
from retinue.chat.engine.tool_search import (
    CALL_SPEC,
    FIND_SPEC,
    MAX_ALWAYS_OFFERED,
    MAX_SEARCHED_FUNCTIONS,
    is_searched,
    unwrap_call,
    wrap_call,
)
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject

_MAX_FUNCTION_NAME_LENGTH = 64
_DELEGATION_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "What is to be done, complete in itself."},
        "context": {"type": "string", "description": "What the other agent needs to know for it."},
    },
    "required": ["task"],
}


class OwnFunction(StrEnum):
    """A function of the engine itself."""

    web_search = "web_search"
    tool_search = "tool_search"
    call_tool = "call_tool"
    read_attachment = "read_attachment"
    read_page = "read_page"
    recall = "recall"


ToolboxEntry = ToolFunction | AttachedAgent | OwnFunction


class Toolbox(msgspec.Struct, frozen=True):
    """The functions by name, and the `specs` of those that a model is offered.

    A REST tool can also be called by its slug alone. The model finds the `searched` functions by the tool
    search, and calls them by `call_tool`.
    """

    specs: tuple[ToolSpec, ...] = ()
    by_name: Mapping[str, ToolboxEntry] = {}
    searched: Mapping[str, ToolFunction] = {}

    @classmethod
    def of(
        cls,
        agent: Agent,
        capabilities: Capabilities,
        *,
        may_delegate: bool,
        has_documents: bool = False,
        has_recall: bool = False,
    ) -> "Toolbox":
        offered, searched = _tool_offers(agent, capabilities.tools)
        for sub_agent in capabilities.sub_agents if may_delegate else ():
            name = _free_name(f"delegate_to_{_slug(sub_agent.agent.name)}", offered)
            offered[name] = ToolSpec(name, _describe_delegation(sub_agent), _DELEGATION_SCHEMA), sub_agent
        own = {
            OwnFunction.web_search: (WEB_SEARCH_SPEC, agent.web_search.enabled),
            OwnFunction.read_page: (READ_PAGE_SPEC, agent.web_search.enabled and agent.web_search.read_pages),
            OwnFunction.read_attachment: (READ_ATTACHMENT_SPEC, has_documents),
            OwnFunction.recall: (RECALL_SPEC, has_recall),
        }
        for function, (spec, is_offered) in own.items():
            if is_offered:
                name = _free_name(spec.name, offered)
                offered[name] = msgspec.structs.replace(spec, name=name), function
        by_slug = {attached.tool.slug: as_single_function(attached) for attached in capabilities.tools}
        by_name = {name: entry for name, (_, entry) in offered.items()}
        specs = tuple(spec for spec, _ in offered.values())
        return cls(specs, {**by_slug, **searched, **by_name}, searched)

    def requested(self, call: ToolCall) -> ToolCall:
        """Return the function that the model calls, also by `call_tool`."""
        return unwrap_call(call, self.searched) if self.searched else call

    def as_written(self, call: ToolCall) -> ToolCall:
        """Return a requested call as the model writes it."""
        return wrap_call(call) if call.name in self.searched else call

    def names_of(self, *functions: OwnFunction) -> tuple[str, ...]:
        return tuple(name for name, entry in self.by_name.items() if entry in functions)

    def find_sub_agent(self, agent_id: str) -> AttachedAgent | None:
        """Return the sub-agent by its id, because its function name changes with the agent's name."""
        sub_agents_offered = (entry for entry in self.by_name.values() if isinstance(entry, AttachedAgent))
        return next((sub_agent for sub_agent in sub_agents_offered if sub_agent.agent.id == agent_id), None)


async def load_toolbox(ctx: Context, task: TurnTask, *, has_recall: bool) -> Toolbox:
    """Return what the model of a turn is offered; an agent without any function costs no query."""
    agent, has_documents = task.agent, bool(task.documents)
    has_own = agent.web_search.enabled or has_documents or has_recall
    if not (agent.tool_count or agent.sub_agent_count or has_own):
        return Toolbox()
    return Toolbox.of(
        agent,
        await capabilities(ctx, agent, task.pinned),
        may_delegate=task.depth < MAX_DELEGATION_DEPTH,
        has_documents=has_documents,
        has_recall=has_recall,
    )


def _tool_offers(
    agent: Agent, tools: Sequence[AttachedTool]
) -> tuple[dict[str, tuple[ToolSpec, ToolboxEntry]], dict[str, ToolFunction]]:
    """Return the functions to offer, and those that the agent searches."""
    offered: dict[str, tuple[ToolSpec, ToolboxEntry]] = {}
    by_tool = [tool_functions_of(attached) for attached in tools]
    functions = list(chain.from_iterable(by_tool))
    if not is_searched(agent.tool_search, functions):
        for function in chain.from_iterable(map(joined, by_tool)):
            name = _free_name(function.name, offered)
            offered[name] = _spec(name, function), function
        return offered, {}
    own = {
        FIND_SPEC.name: (FIND_SPEC, OwnFunction.tool_search),
        CALL_SPEC.name: (CALL_SPEC, OwnFunction.call_tool),
    }
    searched: dict[str, ToolFunction] = {}
    taken = set(own)
    for function in functions[:MAX_SEARCHED_FUNCTIONS]:
        name = _free_name(function.name, taken)
        taken.add(name)
        if function.attached.attachment.always_offered and len(offered) < MAX_ALWAYS_OFFERED:
            offered[name] = _spec(name, function), function
        else:
            searched[name] = function
    return {**offered, **own}, searched


def _spec(name: str, function: ToolFunction) -> ToolSpec:
    return ToolSpec(name, function.description, function.schema)


def _describe_delegation(sub_agent: AttachedAgent) -> str:
    about = sub_agent.relation.delegation_prompt or sub_agent.agent.description or "a task that is its own"
    return f"Hand a task to the agent {sub_agent.agent.name}: {about}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "agent"


def _free_name(preferred_name: str, taken: Container[str]) -> str:
    name = preferred_name[:_MAX_FUNCTION_NAME_LENGTH]
    number = 1
    while name in taken:
        number += 1
        name = f"{preferred_name[: _MAX_FUNCTION_NAME_LENGTH - 4]}_{number}"
    return name
