"""V7: what a destination says back of our secrets gets into nothing that we answer, keep or log."""

import base64

import pytest
from aiohttp import web

from retinue.kit.db.databases import direct_url
from tests.canaries import hits, read_everything_stored
from tests.captured_logs import captured_logs
from tests.factories.tools import endpoint, make_tool, run_tool, try_tool

pytestmark = pytest.mark.either_database

SECRET = 'tok/"ü+4711=CANARY&end'


@pytest.fixture
def logged(service):
    with captured_logs(service.settings) as written:
        yield written


class Echoing:
    """Says back the whole request as it came, as text, in an error, or in base64."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[bytes] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        told = "\n".join([request.raw_path, *(f"{name}: {value}" for name, value in request.headers.items())])
        told += "\n" + (await request.text())
        self.seen.append(told.encode())
        if request.path.startswith("/base64"):
            told = base64.b64encode(b"xy" + told.encode()).decode()
        status = 403 if request.path.startswith("/failing") else 200
        return web.json_response({"told": told, "again": [told, {told: 1}]}, status=status)


@pytest.fixture
async def echo_server():
    api = Echoing()
    runner = web.ServerRunner(web.Server(api.answer), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    api.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield api
    await runner.cleanup()


AUTHENTICATIONS = {
    "bearer": {"token": SECRET.replace("ü", "u").replace('"', "'")},
    "api_key": {"api_key_header": "X-Key", "api_key_value": SECRET.replace("ü", "u")},
    "query": {"api_key_header": "key", "api_key_value": SECRET, "api_key_location": "query"},
    "basic": {"username": "ada", "password": SECRET},
    "custom": {"headers": {"X-Token": SECRET.replace("ü", "u")}, "query": {"sig": SECRET}},
}


def secrets_of(auth_config: dict) -> list[str]:
    values = [
        *auth_config.values(),
        *auth_config.get("headers", {}).values(),
        *auth_config.get("query", {}).values(),
    ]
    return [value for value in values if isinstance(value, str) and "4711" in value]


async def read_every_answer(admin, tool) -> bytes:
    paths = ("", "/executions", "/stats")
    answers = [await admin.get(f"/v1/tools/{tool['id']}{path}") for path in paths]
    answers.append(await admin.get("/v1/tools"))
    return b"".join(answer.body for answer in answers)


@pytest.mark.parametrize("name", AUTHENTICATIONS)
@pytest.mark.parametrize("path", ["/echo", "/failing/echo", "/base64"])
async def test_what_a_destination_echoes_is_masked_everywhere(
    service, admin, echo_server, logged, name, path
) -> None:
    auth_config = AUTHENTICATIONS[name]
    secrets = secrets_of(auth_config)
    tool = await make_tool(
        admin,
        auth_type="api_key" if name == "query" else name,
        auth_config=auth_config,
        config={"base_url": echo_server.url, "endpoints": endpoint(path, "POST")},
    )
    answer = await try_tool(admin, tool, {"note": f"before {secrets[0]} after"})
    assert answer.status == 200
    assert any(hits(seen, secrets) for seen in echo_server.seen), "the secret was really sent"
    assert b"***" in answer.body
    assert hits(answer.body, secrets) == []
    assert hits(await read_every_answer(admin, tool), secrets) == []
    assert hits(logged.getvalue().encode(), secrets) == []
    stored = await read_everything_stored(service.settings.data_dir, direct_url(service.settings))
    assert hits(stored, secrets) == []


async def test_a_crash_in_the_middle_of_a_call_logs_no_secret(
    service, admin, logged, monkeypatch, echo_server
) -> None:
    from retinue.kit.egress import Egress

    def broken(_egress, _method, url, *, headers, **_more):
        raise RuntimeError(f"could not send {headers} to {url}")

    monkeypatch.setattr(Egress, "request", broken)
    config = {"base_url": echo_server.url, "endpoints": endpoint("/echo")}
    auth_config = AUTHENTICATIONS["bearer"]
    tool = await make_tool(admin, auth_type="bearer", auth_config=auth_config, config=config)
    ended = await run_tool(admin, tool)
    assert ended["error"]["code"] == "runtime_error"
    assert "could not send" in logged.getvalue()
    assert hits(logged.getvalue().encode(), secrets_of(auth_config)) == []
