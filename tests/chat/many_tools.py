"""An agent with 200 functions, and searches among them."""

from typing import Any

import msgspec

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]

ACTIONS = {
    "create": ("POST", "Creates"),
    "list": ("GET", "Lists"),
    "change": ("PATCH", "Changes"),
    "delete": ("DELETE", "Deletes"),
    "export": ("GET", "Exports"),
}
SUBJECTS = {
    "Shop": ("order", "refund", "parcel", "voucher", "product", "price", "stock_level", "supplier"),
    "Crm": ("customer", "contact", "deal", "note", "call_record", "campaign", "segment", "complaint"),
    "Office": (
        "invoice",
        "contract",
        "meeting_room",
        "holiday_request",
        "expense",
        "badge",
        "desk",
        "printer",
    ),
    "It": (
        "server",
        "backup",
        "certificate",
        "firewall_rule",
        "mailbox",
        "password_reset",
        "incident",
        "domain",
    ),
    "Hr": ("employee", "salary", "applicant", "interview", "training_course", "sick_note", "bonus", "team"),
}


def endpoints(subjects: tuple[str, ...]) -> Json:
    return {
        f"{action}_{subject}": {
            "method": method,
            "path": f"/echo/{subject}",
            "description": f"{verb} a {subject.replace('_', ' ')}.",
            "input_schema": {
                "type": "object",
                "properties": {"query": {"type": "object"}, "body": {"type": "object"}},
                "additionalProperties": False,
            },
        }
        for subject in subjects
        for action, (method, verb) in ACTIONS.items()
    }


async def attach_tools(admin: Api, agent: Json, remote: RestApi) -> list[Json]:
    """Five tools with 200 functions together."""
    made = []
    for name, subjects in SUBJECTS.items():
        config = {"base_url": remote.url, "endpoints": endpoints(subjects)}
        tool = await make_tool(admin, name=name, description=f"The {name} system", config=config)
        await attach_tool(admin, agent, tool)
        made.append(tool)
    return made


def search(query: str, **more: Any) -> Call:
    return Call("tool_search", msgspec.json.encode({"query": query, **more}).decode(), "call_find")


async def search_functions(
    admin: Api, agent: Json, provider: ProviderServer, query: str, **more: Any
) -> list[str]:
    provider.says("", search(query, **more))
    provider.says("Found.")
    reply = await reply_to(admin, agent)
    return [one["name"] for one in reply["tool_calls"][0]["output"]]
