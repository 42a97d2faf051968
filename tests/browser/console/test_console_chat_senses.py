"""Sources of answers on the page Chat, and messages that are spoken, on a server with models for both."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.adapters.llm_as_openai import Answer
from tests.adapters.llm_server import KEY, ProviderServer, provider_server
from tests.adapters.recordings import plain_wav, tone
from tests.browser.conftest import CHROMIUM, PATIENCE_MS
from tests.browser.console.chat_threads import ask, call_as, chatting_person, field_of, open_chat
from tests.browser.console.steps import AGENTS, axe
from tests.browser.site import Site
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess
from tests.factories.knowledge import EMBEDDING_MODEL

FILES = (
    b'--chat\r\nContent-Disposition: form-data; name="files"; filename="globe.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nThe Opal globe takes E27 bulbs of at most 9 W.\r\n"
    b'--chat\r\nContent-Disposition: form-data; name="files"; filename="dimmer.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nThe Opal globe with a Rondo bulb dims to 3 percent.\r\n--chat--\r\n"
)
FAKE_MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


class SpeakingProvider(ProviderServer):
    """A provider whose speech a browser can play."""

    def _answer(self, request):
        if request.path.endswith("/audio/speech"):
            return Answer(body=plain_wav(tone(0.4)), headers={"Content-Type": "audio/wav"})
        return super()._answer(request)


@pytest.fixture(scope="module")
async def studio(tmp_path_factory):
    """A server that hears, speaks and finds by models of the test, and the script of its provider."""
    folder: Path = tmp_path_factory.mktemp("studio")
    async with provider_server(SpeakingProvider()) as provider:
        server = ServerProcess(
            folder,
            is_shared=True,
            RETINUE_DEFAULT_PLAN="enterprise",
            RETINUE_EMBEDDING_MODEL=EMBEDDING_MODEL,
            RETINUE_STT_MODEL="openai_compatible/whisper-1",
            RETINUE_TTS_MODEL="openai_compatible/tts-1",
        )
        server.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{server.port}"
        async with server:
            await server.start()
            site = await Site(server).sign_in()
            key = {"provider": "openai_compatible", "api_key": KEY, "base_url": f"{provider.url}/v1"}
            models = ["m", "whisper-1", "tts-1", EMBEDDING_MODEL.partition("/")[2]]
            await site.call("POST", "/api/v1/api-keys", {**key, "name": "All", "models": models})
            yield site, provider


async def lamp_desk(site):
    body = {"name": "Lamp desk", "primary_model": "openai_compatible/m", "system_prompt": "You help."}
    agent_id = (await site.call("POST", AGENTS, body))["id"]
    await site.call("POST", f"{AGENTS}/{agent_id}/publish", {})
    return agent_id


async def train(site, agent_id):
    kind = {"Content-Type": "multipart/form-data; boundary=chat"}
    path = f"{AGENTS}/{agent_id}/train"
    status, answer = await call(site.server.port, "POST", path, token=site.token, headers=kind, form=FILES)
    assert status < 300, answer
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while not await is_indexed(site, agent_id):
            await asyncio.sleep(0.1)


async def is_indexed(site, agent_id):
    documents = (await site.call("GET", f"{AGENTS}/{agent_id}/documents"))["data"]
    return [one["status"] for one in documents] == ["indexed", "indexed"]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
async def test_a_source_opens_beside_its_answer(studio, page, scheme, width):
    site, provider = studio
    person = await chatting_person(site)
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 900})
    agent_id = await lamp_desk(site)
    await train(site, agent_id)
    await open_chat(site, page, person, agent_id)
    provider.says("It takes E27 [1] and dims [2].")
    await ask(page, "Which bulb does the Opal globe take?")
    await page.get_by_role("log").get_by_role("button", name="Source 1").click()
    panel = page.get_by_role("complementary", name="Source")
    await panel.get_by_role("blockquote").wait_for()
    first = await panel.get_by_role("heading", level=2).inner_text()
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("log").focus()
    await page.keyboard.press("j")
    await expect(panel.get_by_role("heading", level=2)).not_to_have_text(first)
    await page.keyboard.press("k")
    await expect(panel.get_by_role("heading", level=2)).to_have_text(first)
    await page.reload()
    await expect(panel.get_by_role("heading", level=2)).to_have_text(first)
    await panel.get_by_role("button", name="Close").click()
    await expect(panel).to_have_count(0)


@pytest.fixture
async def ears():
    """A browser whose microphone hears a tone."""
    from playwright.async_api import async_playwright

    async with async_playwright() as started:
        chromium = await started.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *FAKE_MICROPHONE],
        )
        context = await chromium.new_context(locale="en-GB", permissions=["microphone"])
        context.set_default_timeout(PATIENCE_MS)
        yield await context.new_page()
        await chromium.close()


async def test_a_message_is_spoken_and_its_answer_read_aloud(studio, ears):
    site, provider = studio
    person = await chatting_person(site)
    agent_id = await lamp_desk(site)
    await open_chat(site, ears, person, agent_id)
    await ears.get_by_role("button", name="Speak your message").click()
    await ears.get_by_role("button", name="Discard the recording").click()
    await field_of(ears).wait_for()
    await ears.get_by_role("button", name="Speak your message").click()
    await ears.get_by_role("status").filter(has_text="Recording").wait_for(state="attached")
    assert await axe(ears) == []
    provider.says("I heard you.")
    await ears.get_by_role("button", name="Send the recording").click()
    await ears.get_by_role("log").get_by_text("I heard you.").wait_for()
    # What the model for transcription has understood stands there as the question.
    await expect(ears.get_by_role("article", name="You")).to_contain_text("bytes")
    async with ears.expect_response(lambda answer: answer.url.endswith("/chat/tts")) as spoken:
        await ears.get_by_role("button", name="Read aloud").click()
    assert (await spoken.value).status == 200
    await expect(ears.get_by_role("button", name="Read aloud")).to_be_visible()
    await expect(ears.get_by_text("cannot be read aloud")).to_have_count(0)
    conversation = ears.url.rpartition("/")[2].partition("?")[0]
    assert (await call_as(person, "GET", f"/api/v1/conversations/{conversation}"))["message_count"] == 2


async def test_a_microphone_that_is_not_there_is_said_in_words(studio, page):
    site, _ = studio
    person = await chatting_person(site)
    agent_id = await lamp_desk(site)
    await open_chat(site, page, person, agent_id)
    await page.get_by_role("button", name="Speak your message").click()
    await page.get_by_role("alert").filter(has_text="microphone").wait_for()
    assert await axe(page) == []
