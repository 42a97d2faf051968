"""People who only chat, the agents that they ask, and the page on which they do."""

from contextlib import asynccontextmanager

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import AGENTS, agent_with_tool, new_person, sign_in_as
from tests.e2e.load import call
from tests.tools.servers.rest_api import rest_api


@asynccontextmanager
async def chat_agent(site, name="Lamp desk", make=agent_with_tool):
    """A published agent that answers by a script; its id, the slug of its tool and the script."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, slug = await make(site, provider, f"{remote.url}/refunds")
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"name": name})
        await site.call("POST", f"{AGENTS}/{agent_id}/publish", {})
        yield agent_id, slug, provider


async def token_of(person):
    me = {"email": person.email, "password": person.password}
    _, tokens = await call(person.site.server.port, "POST", "/auth/login", body=me)
    return tokens["access_token"]


async def call_as(person, method, path, body=None):
    """Call the API as this person."""
    token = await token_of(person)
    status, answer = await call(person.site.server.port, method, path, token=token, body=body)
    assert status < 300, (status, answer)
    return answer


async def chatting_person(site, role="agent_user"):
    person = await new_person(site)
    (user,) = (await site.call("GET", f"/users?search={person.email}"))["users"]
    await site.call("PUT", f"/users/{user['id']}/role", {"role": role})
    return person


async def open_chat(site, page, person, agent_id, conversation_id=None):
    """Sign in on the page of a conversation, or of a new one with this agent."""
    path = f"/chat/{conversation_id}" if conversation_id else f"/chat?agent={agent_id}"
    await sign_in_as(site, page, person, path)
    await field_of(page).wait_for()
    await page.get_by_role("heading", name="Welcome back").wait_for(state="detached")


def field_of(page):
    return page.get_by_role("textbox", name="Lamp desk")


async def ask(page, text):
    field = field_of(page)
    await field.fill(text)
    await field.press("Enter")


def last_reply(page):
    return page.get_by_role("article", name="Lamp desk").last


async def read_whole_reply(page, text):
    """Wait for a reply that has ended: until then the keys of versions and of editing rest."""
    await page.get_by_role("log").get_by_text(text).wait_for()
    await last_reply(page).get_by_role("button", name="Write again").wait_for()
    await page.get_by_role("button", name="Edit and send again").last.wait_for()
