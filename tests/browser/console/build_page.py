"""The build page of an agent that answers by a script, and what one does there."""

import asyncio
from contextlib import asynccontextmanager

from tests.adapters.llm_as_openai import event
from tests.adapters.llm_server import STREAM_HEAD, chunked, provider_server
from tests.browser.console.steps import AGENTS, agent_with_tool
from tests.tools.servers.rest_api import rest_api


@asynccontextmanager
async def talker(site, make=agent_with_tool):
    """An agent that answers by a script; its id, the slug of its tool and the script."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, slug = await make(site, provider, f"{remote.url}/refunds")
        await site.call("POST", f"{AGENTS}/{agent_id}/publish", {})
        yield agent_id, slug, provider


def instructions(page):
    """Return the editor, which replaces the plain field."""
    return page.locator(".cm-content")


def system_prompt(provider):
    return provider.last.json["messages"][0]["content"]


async def say(page, text):
    await page.get_by_label("Say something").fill(text)
    await page.keyboard.press("Enter")


async def write(page, text):
    await instructions(page).click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type(text)


async def draft_of(site, agent_id):
    return await site.call("GET", f"{AGENTS}/{agent_id}/draft")


async def production(site, agent_id):
    return (await site.call("GET", f"{AGENTS}/{agent_id}"))["system_prompt"]


def speak_slowly(words, pause_s, gate=None):
    """A provider that streams these words one by one; before the last it waits for the gate."""

    async def speak(_reader, writer):
        writer.write(STREAM_HEAD)
        for number, word in enumerate(words):
            chunk = {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
            writer.write(
                chunked(event({"id": "c", "object": "chat.completion.chunk", "model": "m", **chunk}))
            )
            await writer.drain()
            if gate is not None and number == len(words) - 2:
                await gate.wait()
            await asyncio.sleep(pause_s)
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        writer.write(chunked(event({"id": "c", "object": "chat.completion.chunk", "model": "m", **end})))
        writer.write(chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()

    return speak
