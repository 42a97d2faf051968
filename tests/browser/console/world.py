"""Objects of every kind that the console shows, made for one person of one role."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.browser.console.steps import AGENTS, Person, agent_that_asks_first, new_person
from tests.browser.site import Site
from tests.e2e.load import call
from tests.tools.servers.rest_api import rest_api

_FORM = (
    b'--walk\r\nContent-Disposition: form-data; name="files"; filename="guide.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nA parcel goes back within two weeks.\r\n--walk--\r\n"
)
_PUBLISHED = {"status": "published"}


class World(msgspec.Struct):
    """The ids of one person's objects, and the address of each console screen that shows them."""

    person: Person
    user_id: str
    role: str
    permissions: frozenset[str]
    name: str
    agent_id: str
    conversation_id: str
    trace_id: str
    approval_id: str
    tool_id: str

    def screens(self) -> dict[str, str | None]:
        """Return each address with the permission without which it is the page of a refusal."""
        agent = f"/agents/{self.agent_id}"
        return {
            "/": None,
            "/inbox": None,
            "/inbox/preferences": None,
            "/profile": None,
            "/chat": "agents:chat",
            "/chat?list=true": "agents:chat",
            "/welcome?step=agent": None,
            "/approvals": "approvals:read",
            f"/approvals?id={self.approval_id}": "approvals:read",
            "/approvals?show=decided": "approvals:read",
            f"/conversations?agent={self.agent_id}": "conversations:read",
            f"/conversations/{self.conversation_id}": "conversations:read",
            "/traces": "traces:read",
            f"/traces/{self.trace_id}": "traces:read",
            "/operate": "admin:tenants",
            "/operate/jobs": "admin:tenants",
            "/operate/mails": "admin:tenants",
            "/operate/organizations": "admin:tenants",
            "/settings/audit": "audit:read",
            "/settings/audit/receivers": "audit:read",
            "/settings/organization": "admin:users",
            "/settings/organization/file": None,
            "/reference": None,
            "/reference/list_agents": None,
            "/settings/people": "admin:users",
            f"/settings/people?search={self.person.email}&person={self.user_id}": "admin:users",
            "/settings/roles": "admin:users",
            "/settings/models": "api_keys:read",
            "/settings/exporters": "traces:read",
            "/channels": "notification_channels:read",
            "/channels/new": "notification_channels:write",
            "/credentials": "credentials:read",
            f"{agent}/versions?version=2&against=1": "agents:read",
            f"{agent}/compare": "agents:read",
            f"{agent}/knowledge": "agents:read",
            f"{agent}/share": "agents:read",
            f"{agent}/log": "agents:read",
            agent: "agents:read",
            f"/agents?search={self.name}": "agents:read",
            "/tools": "tools:read",
            "/tools/new": "tools:write",
            f"/tools/{self.tool_id}": "tools:read",
            f"/tools/{self.tool_id}/executions": "tools:read",
            f"/tools/{self.tool_id}/statistics": "tools:read",
            f"/tools/{self.tool_id}/uses": "tools:read",
            "/usage": "usage:read",
            "/usage?by=model&what=tokens": "usage:read",
            "/usage/budgets": "usage:read",
            "/usage/budgets/new": "usage:write",
            "/usage/prices": "agents:read",
            "/usage/limits": "usage:read",
        }


async def _token(person: Person) -> str:
    me = {"email": person.email, "password": person.password}
    status, answer = await call(person.site.server.port, "POST", "/auth/login", body=me)
    assert status == 200, answer
    return answer["access_token"]


async def _versions(site: Site, agent_id: str, name: str) -> None:
    """Two published versions, and a draft that differs from both."""
    await site.call("PUT", f"{AGENTS}/{agent_id}", {"name": name, **_PUBLISHED})
    await site.call("PUT", f"{AGENTS}/{agent_id}", {"system_prompt": "You help with parcels."})
    await site.call("POST", f"{AGENTS}/{agent_id}/publish")
    draft = await site.call("GET", f"{AGENTS}/{agent_id}/draft")
    changed = {**draft["snapshot"], "system_prompt": "You help with parcels and letters."}
    await site.call("PUT", f"{AGENTS}/{agent_id}/draft", {"snapshot": changed})


async def _knowledge(site: Site, agent_id: str) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=walk"}
    path = f"{AGENTS}/{agent_id}/train"
    status, answer = await call(site.server.port, "POST", path, token=site.token, headers=kind, form=_FORM)
    assert status < 300, answer


async def _approval(
    site: Site, provider: ProviderServer, agent: tuple[str, str], token: str
) -> dict[str, Any]:
    """Let a model ask for a refund in a turn of the token's owner; return the reply."""
    agent_id, slug = agent
    provider.says("I ask a colleague.", Call(slug, '{"order": "7", "amount": 184}', f"call_{token[-6:]}"))
    path = f"{AGENTS}/{agent_id}/chat"
    status, reply = await call(
        site.server.port, "POST", path, token=token, body={"message": "Refund order 7"}
    )
    assert status == 200, reply
    return reply


@asynccontextmanager
async def world_of(site: Site, provider: ProviderServer, role: str) -> AsyncIterator[World]:
    """Yield a person of this role and what an administrator has made; the person's chats are their own."""
    person = await new_person(site)
    users = await site.call("GET", f"/users?search={person.email}")
    await site.call("PUT", f"/users/{users['users'][0]['id']}/role", {"role": role})
    token = await _token(person)
    _, held = await call(site.server.port, "GET", "/me/permissions", token=token)
    name = f"Walk-{role}-{person.email[:4]}"
    async with rest_api() as remote:
        agent = await agent_that_asks_first(site, provider, f"{remote.url}/refunds")
        agent_id = agent[0]
        (attached,) = (await site.call("GET", f"/v1/agents/{agent_id}/tools"))["data"]
        rule = {"approvers": {"roles": [role]}, "allow_self_approval": True, "expires_in_s": 600}
        await site.call("PUT", f"/v1/tools/{attached['tool_id']}", {"approval": rule})
        await _versions(site, agent_id, name)
        await _knowledge(site, agent_id)
        await site.call("POST", "/api/v1/embed/api-keys", {"agent_id": agent_id, "name": "Shop"})
        waiting = await _approval(site, provider, agent, site.token)
        await _approval(site, provider, agent, site.token)
        mine = token if "agents:chat" in held["permissions"] else site.token
        reply = await _approval(site, provider, agent, mine)
        yield World(
            person=person,
            user_id=users["users"][0]["id"],
            role=role,
            permissions=frozenset(held["permissions"]),
            name=name,
            agent_id=agent_id,
            conversation_id=reply["conversation_id"],
            trace_id=reply["trace_id"],
            approval_id=waiting["tool_calls"][-1]["approval_id"],
            tool_id=attached["tool_id"],
        )
