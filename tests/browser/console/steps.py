"""Steps that journeys through the console share."""

import secrets
from typing import Any

import msgspec
import pyotp
import pytest

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer
from tests.browser.forms import violations as axe
from tests.browser.site import Site
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD

AGENTS = "/api/v1/agents"
# Each width and each scheme once; the other combinations have their time in the campaign.
LOOKS = [
    ("light", 1440),
    ("dark", 390),
    pytest.param("dark", 1440, marks=pytest.mark.slow),
    pytest.param("light", 390, marks=pytest.mark.slow),
]

__all__ = [
    "AGENTS",
    "LOOKS",
    "agent_that_asks_first",
    "agent_with_tool",
    "axe",
    "new_person",
    "open_page",
    "sign_in",
    "sign_in_as",
    "waiting_approval",
]


async def sign_in(page: Any) -> None:
    await page.get_by_label("Email").fill("admin@example.com")
    await page.get_by_label("Password", exact=True).fill(ADMIN_PASSWORD)
    await page.get_by_role("button", name="Sign in").click()


async def open_page(site: Site, page: Any, path: str) -> None:
    """Sign in as the administrator and wait for the page at this address; nothing moves on it.

    A colour that is halfway to another one has a contrast that nobody ever reads.
    """
    await page.emulate_media(reduced_motion="reduce")
    await page.goto(f"{site.url}/console{path}")
    await sign_in(page)
    await page.get_by_role("navigation").first.wait_for(state="attached")
    await page.get_by_role("heading", level=1).first.wait_for()
    await page.get_by_role("heading", name="Welcome back").wait_for(state="detached")


class SecondFactor(msgspec.Struct):
    secret: str
    recovery_codes: list[str]


class Person(msgspec.Struct):
    site: Site
    email: str
    password: str

    async def enable_second_factor(self) -> SecondFactor:
        port = self.site.server.port
        _, tokens = await call(
            port, "POST", "/auth/login", body={"email": self.email, "password": self.password}
        )
        token = tokens["access_token"]
        _, made = await call(port, "POST", "/api/v1/mfa/setup", token=token, body={})
        code = {"code": pyotp.TOTP(made["secret"]).now()}
        status, _ = await call(port, "POST", "/api/v1/mfa/enable", token=token, body=code)
        assert status == 200
        return SecondFactor(made["secret"], made["recovery_codes"])


async def new_person(site: Site) -> Person:
    person = Person(site, f"{secrets.token_hex(6)}@example.com", "Second-Step-1")
    body = {"email": person.email, "password": person.password, "first_name": "Ada", "last_name": "Sample"}
    status, answer = await call(site.server.port, "POST", "/auth/register", body=body)
    assert status == 201, answer
    return person


async def sign_in_as(site: Any, page: Any, person: Person, path: str) -> None:
    """Sign in as this person on the page at the address."""
    await page.emulate_media(reduced_motion="reduce")
    await page.goto(f"{site.url}/console{path}")
    await page.get_by_label("Email").fill(person.email)
    await page.get_by_label("Password", exact=True).fill(person.password)
    await page.get_by_role("button", name="Sign in").click()


async def agent_with_tool(site: Site, provider: ProviderServer, tool_url: str) -> tuple[str, str]:
    """Return the id of an agent that answers by the script of `provider`, and the slug of its tool."""
    name = f"m-{provider.url.rpartition(':')[2].partition('/')[0]}"
    key = {"provider": "openai_compatible", "name": name, "api_key": KEY, "base_url": f"{provider.url}/v1"}
    await site.call("POST", "/api/v1/api-keys", {**key, "models": [name]})
    agent = {"name": "Talker", "primary_model": f"openai_compatible/{name}", "system_prompt": "You help."}
    agent_id = (await site.call("POST", AGENTS, agent))["id"]
    config = {"config": {"url": tool_url, "method": "POST"}, "tool_type": "webhook", "auth_type": "none"}
    tool = (await site.call("POST", "/v1/tools", {"name": f"Orders {name}", "category": "custom", **config}))[
        "data"
    ]
    await site.call("POST", f"/v1/agents/{agent_id}/tools", {"tool_id": tool["id"]})
    return agent_id, tool["slug"]


async def agent_that_asks_first(site: Site, provider: ProviderServer, tool_url: str) -> tuple[str, str]:
    """Return an agent as `agent_with_tool` does, whose tool needs an approval in which the amount is open."""
    agent_id, slug = await agent_with_tool(site, provider, tool_url)
    (attached,) = (await site.call("GET", f"/v1/agents/{agent_id}/tools"))["data"]
    rule = {
        "approvers": {"roles": ["tenant_admin"]},
        "allow_self_approval": True,
        "editable_fields": ["amount"],
        "expires_in_s": 600,
    }
    await site.call("PUT", f"/v1/tools/{attached['tool_id']}", {"requires_approval": True, "approval": rule})
    return agent_id, slug


async def waiting_approval(site: Site, provider: ProviderServer, agent: tuple[str, str], order: int) -> str:
    """Let a model ask for a refund; return the id of the approval that it waits for."""
    agent_id, slug = agent
    call_input = msgspec.json.encode({"order": str(order), "amount": 184}).decode()
    provider.says("I ask a colleague.", Call(slug, call_input, f"call_{order}"))
    reply = await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": f"Refund order {order}"})
    return reply["tool_calls"][-1]["approval_id"]
