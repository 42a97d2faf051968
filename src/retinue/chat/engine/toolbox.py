"""What an agent may use in a turn, under the names that the model is told."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from retinue.adapters.llm import ToolSpec
from retinue.agents.capabilities import AttachedAgent, Capabilities
from retinue.agents.models import Agent
from retinue.agents.searching import WEB_SEARCH_SPEC
from retinue.chat.engine.offers import Offer, offers_of, whole

_LONGEST_NAME = 64
_DELEGATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "What is to be done, complete in itself."},
        "context": {"type": "string", "description": "What the other agent needs to know for it."},
    },
    "required": ["task"],
}


class WebSearching(msgspec.Struct, frozen=True):
    """The web search of an agent, as something to use."""


Usable = Offer | AttachedAgent | WebSearching


class Toolbox(msgspec.Struct, frozen=True):
    """What is offered, and what a name means; a REST tool is understood by its slug alone as well."""

    specs: tuple[ToolSpec, ...] = ()
    by_name: Mapping[str, Usable] = {}

    @classmethod
    def of(cls, agent: Agent, capabilities: Capabilities, *, may_delegate: bool) -> "Toolbox":
        offered: dict[str, tuple[ToolSpec, Usable]] = {}
        for attached in capabilities.tools:
            for offer in offers_of(attached):
                name = _free_name(offer.name, offered)
                offered[name] = ToolSpec(name, offer.description, offer.schema), offer
        for helper in capabilities.sub_agents if may_delegate else ():
            name = _free_name(f"delegate_to_{_slug(helper.agent.name)}", offered)
            offered[name] = ToolSpec(name, _delegation(helper), _DELEGATION_SCHEMA), helper
        if agent.web_search.enabled:
            name = _free_name(WEB_SEARCH_SPEC.name, offered)
            offered[name] = msgspec.structs.replace(WEB_SEARCH_SPEC, name=name), WebSearching()
        by_slug = {attached.tool.slug: whole(attached) for attached in capabilities.tools}
        by_name = {name: used for name, (_, used) in offered.items()}
        return cls(tuple(spec for spec, _ in offered.values()), {**by_slug, **by_name})

    def find_helper(self, agent_id: str) -> AttachedAgent | None:
        """By its id: the name that it is offered under changes with its own."""
        helpers = (used for used in self.by_name.values() if isinstance(used, AttachedAgent))
        return next((helper for helper in helpers if helper.agent.id == agent_id), None)


def _delegation(helper: AttachedAgent) -> str:
    about = helper.relation.delegation_prompt or helper.agent.description or "a task that is its own"
    return f"Hand a task to the agent {helper.agent.name}: {about}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "agent"


def _free_name(wanted: str, taken: Mapping[str, Any]) -> str:
    name = wanted[:_LONGEST_NAME]
    number = 1
    while name in taken:
        number += 1
        name = f"{wanted[: _LONGEST_NAME - 4]}_{number}"
    return name
