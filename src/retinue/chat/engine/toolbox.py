"""The tools, sub-agents and web search of a turn under the names the model sees."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from retinue.adapters.llm import ToolSpec
from retinue.agents.capabilities import AttachedAgent, Capabilities
from retinue.agents.models import Agent
from retinue.agents.search_engine import WEB_SEARCH_SPEC
from retinue.chat.engine.tool_functions import ToolFunction, as_single_function, tool_functions_of
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


class WebSearchTool(msgspec.Struct, frozen=True):
    """Marks the agent's web search in the toolbox."""


ToolboxEntry = ToolFunction | AttachedAgent | WebSearchTool


class Toolbox(msgspec.Struct, frozen=True):
    """The offered functions by name; a REST tool can also be called by its slug alone."""

    specs: tuple[ToolSpec, ...] = ()
    by_name: Mapping[str, ToolboxEntry] = {}

    @classmethod
    def of(cls, agent: Agent, capabilities: Capabilities, *, may_delegate: bool) -> "Toolbox":
        offered: dict[str, tuple[ToolSpec, ToolboxEntry]] = {}
        for attached in capabilities.tools:
            for offer in tool_functions_of(attached):
                name = _free_name(offer.name, offered)
                offered[name] = ToolSpec(name, offer.description, offer.schema), offer
        for sub_agent in capabilities.sub_agents if may_delegate else ():
            name = _free_name(f"delegate_to_{_slug(sub_agent.agent.name)}", offered)
            offered[name] = ToolSpec(name, _describe_delegation(sub_agent), _DELEGATION_SCHEMA), sub_agent
        if agent.web_search.enabled:
            name = _free_name(WEB_SEARCH_SPEC.name, offered)
            offered[name] = msgspec.structs.replace(WEB_SEARCH_SPEC, name=name), WebSearchTool()
        by_slug = {attached.tool.slug: as_single_function(attached) for attached in capabilities.tools}
        by_name = {name: entry for name, (_, entry) in offered.items()}
        return cls(tuple(spec for spec, _ in offered.values()), {**by_slug, **by_name})

    def find_sub_agent(self, agent_id: str) -> AttachedAgent | None:
        """Return the sub-agent by its id, because its function name changes with the agent's name."""
        sub_agents_offered = (entry for entry in self.by_name.values() if isinstance(entry, AttachedAgent))
        return next((sub_agent for sub_agent in sub_agents_offered if sub_agent.agent.id == agent_id), None)


def _describe_delegation(sub_agent: AttachedAgent) -> str:
    about = sub_agent.relation.delegation_prompt or sub_agent.agent.description or "a task that is its own"
    return f"Hand a task to the agent {sub_agent.agent.name}: {about}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "agent"


def _free_name(wanted: str, taken: Mapping[str, Any]) -> str:
    name = wanted[:_MAX_FUNCTION_NAME_LENGTH]
    number = 1
    while name in taken:
        number += 1
        name = f"{wanted[: _MAX_FUNCTION_NAME_LENGTH - 4]}_{number}"
    return name
