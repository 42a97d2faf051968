"""Model servers on a developer's machine: administrators see them, one call makes them usable."""

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.adapters.llm.local_servers import MAX_RESPONSE_BYTES, PORTS, PROBE_INTERVAL_SECONDS, LocalServers
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.adapters import llm_as_openai
from tests.adapters.llm_server import Fault, ProviderServer, hanging, provider_server, refusing
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.agents import make_agent
from tests.factories.people import People
from tests.factories.providers import PATH
from tests.providers.keyless_server import TAGS, KeylessServer

pytestmark = [
    pytest.mark.either_database,
    pytest.mark.one_service("looks from the process that answers, and remembers what it found there"),
]


@pytest.fixture
async def ollama() -> AsyncIterator[ProviderServer]:
    async with provider_server(KeylessServer(TAGS)) as server:
        yield server


@pytest.fixture
async def lm_studio() -> AsyncIterator[ProviderServer]:
    async with provider_server(KeylessServer()) as server:
        yield server


Looking = Callable[..., Awaitable[Service]]


@pytest.fixture
def start_looking(make_service: ServiceMaker) -> Looking:
    """Start a service that looks at these servers' ports instead of the usual ones."""

    async def make(*servers: ProviderServer, **changed: Any) -> Service:
        bound = {"bound_hosts": ("127.0.0.1",), "bound_ports": (8080,)}
        service = await make_service(**{**bound, **changed})
        service.instance.adapters[LocalServers].ports = tuple(server.port for server in servers)
        return service

    return make


async def list_found(person: Api) -> dict[str, dict[str, Any]]:
    listed = (await person.get("/api/v1/models")).json()["data"]
    return {model["id"]: model for model in listed if model["reason"] == "found_server"}


def test_the_usual_ports_are_looked_at() -> None:
    assert PORTS == (11434, 1234, 8000, 8080, 8081)


async def test_a_found_server_is_listed_and_one_call_makes_it_answer(
    start_looking: Looking, ollama: ProviderServer
) -> None:
    admin = await People(await start_looking(ollama)).super_admin()
    model = (await list_found(admin))["ollama/llama3.2:latest"]
    assert (model["available"], model["name"]) == (False, "llama3.2:latest")
    assert (model["provider"], model["base_url"]) == ("ollama", f"{ollama.url}/v1")

    made = await admin.post(PATH, {"provider": model["provider"], "base_url": model["base_url"]})
    assert made.status == 201, made
    assert await list_found(admin) == {}
    listed = {one["id"]: one for one in (await admin.get("/api/v1/models")).json()["data"]}
    assert listed[model["id"]]["available"] is True

    agent = await make_agent(admin, primary_model=model["id"])
    ollama.says("Here I am.")
    reply = await reply_to(admin, agent, "Hello")
    assert (reply["message"]["content"], reply["model"]) == ("Here I am.", model["id"])
    assert reply["warnings"] == ["unpriced_model"]
    assert ollama.last.json["model"] == "llama3.2:latest"


async def test_other_servers_of_openais_protocol_are_found_too(
    start_looking: Looking, lm_studio: ProviderServer
) -> None:
    admin = await People(await start_looking(lm_studio)).super_admin()
    models = await list_found(admin)
    assert {f"openai_compatible/{name}" for name in llm_as_openai.MODELS} <= models.keys()
    assert {model["base_url"] for model in models.values()} == {f"{lm_studio.url}/v1"}
    body = {"provider": "openai_compatible", "base_url": f"{lm_studio.url}/v1"}
    assert (await admin.post(PATH, body)).status == 201
    agent = await make_agent(admin, primary_model="gpt-4o-mini")
    assert (await reply_to(admin, agent, "Hello"))["model"] == "openai_compatible/gpt-4o-mini"


async def test_other_roles_neither_see_it_nor_make_anyone_look(
    start_looking: Looking, ollama: ProviderServer
) -> None:
    people = People(await start_looking(ollama))
    for role in (Role.agent_developer, Role.agent_user, Role.viewer):
        assert await list_found(await people.signed_in(role)) == {}
    assert ollama.connections == 0
    assert await list_found(await people.signed_in(Role.tenant_admin))
    assert await list_found(await people.signed_in(Role.agent_developer)) == {}


@pytest.mark.parametrize(
    "changed",
    [
        {"bound_hosts": ("0.0.0.0",)},
        {"base_url": "https://retinue.example.com"},
        {"trusted_proxies": ("10.0.0.1",)},
        {"egress_allow": ("10.0.0.7:8000",)},
        {"bound_ports": ()},
    ],
)
async def test_elsewhere_than_on_a_development_instance_nothing_is_asked(
    start_looking: Looking, ollama: ProviderServer, changed: dict[str, Any]
) -> None:
    service = await start_looking(ollama, **changed)
    service.instance.adapters[LocalServers].schedule_probe()
    assert await list_found(await People(service).super_admin()) == {}
    assert ollama.connections == 0


async def test_our_own_port_is_never_asked(start_looking: Looking, ollama: ProviderServer) -> None:
    service = await start_looking(ollama, bound_ports=(ollama.port,))
    assert await list_found(await People(service).super_admin()) == {}
    assert ollama.connections == 0


async def test_nobody_is_asked_twice_within_a_minute(
    start_looking: Looking, ollama: ProviderServer, clock: ManualClock
) -> None:
    admin = await People(await start_looking(ollama)).super_admin()
    await list_found(admin)
    asked = len(ollama.requests)
    await list_found(admin)
    assert len(ollama.requests) == asked
    clock.advance(PROBE_INTERVAL_SECONDS)
    ollama.fails(refusing(500), refusing(500))
    assert await list_found(admin) == {}
    assert len(ollama.requests) > asked


BOMB = gzip.compress(b"[" * (100 * MAX_RESPONSE_BYTES))


@pytest.mark.parametrize(
    "fault",
    [
        hanging(),
        hanging(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"),
        refusing(302, Location="http://127.0.0.1:9/v1/models"),
        refusing(200, b"[" * 100_000),
        refusing(200, b'{"models":' + b'{"a":' * 50_000),
        refusing(200, b"x" * (MAX_RESPONSE_BYTES + 1)),
        refusing(200, BOMB, Content_Encoding="gzip"),
        refusing(200, b"\xff\xfe", Content_Encoding="gzip"),
        refusing(200, b"\xff\xfe\x00"),
        refusing(
            200, {"models": [1, None, {"name": 5}, {"name": "a b"}, {"name": "x\r\ny"}, {"name": "z" * 999}]}
        ),
        refusing(200, {"models": "no list", "data": {}}),
        refusing(200, b""),
    ],
)
async def test_whoever_listens_there_cannot_hurt(
    start_looking: Looking, ollama: ProviderServer, fault: Fault
) -> None:
    ollama.fails(fault, fault)
    admin = await People(await start_looking(ollama)).super_admin()
    answer = await admin.get("/api/v1/models")
    assert answer.status == 200
    assert [one for one in answer.json()["data"] if one["reason"] == "found_server"] == []


async def test_only_so_many_models_of_a_server_are_listed(start_looking: Looking) -> None:
    many = {"models": [{"name": f"model-{number}"} for number in range(3000)]}
    async with provider_server(KeylessServer(many)) as server:
        assert len(await list_found(await People(await start_looking(server)).super_admin())) == 100


async def test_a_probe_names_embedded_models_and_servers_and_says_which_are_connected(
    start_looking: Looking, ollama: ProviderServer, lm_studio: ProviderServer
) -> None:
    admin = await People(await start_looking(ollama, lm_studio)).super_admin()
    probed = (await admin.get("/api/v1/models/probe")).json()
    assert probed["is_searched"]
    assert {model["kind"] for model in probed["embedded"]} == {"chat", "embedding", "transcription", "speech"}
    assert [(one["provider"], one["base_url"], one["api_key_id"]) for one in probed["servers"]] == [
        ("ollama", f"{ollama.url}/v1", None),
        ("openai_compatible", f"{lm_studio.url}/v1", None),
    ]
    body = {"provider": "ollama", "base_url": f"{ollama.url}/v1"}
    key = (await admin.post(PATH, body)).json()
    connected = (await admin.get("/api/v1/models/probe")).json()["servers"][0]
    assert (connected["api_key_id"], connected["models"]) == (key["id"], ["llama3.2:latest"])


async def test_a_probe_asked_for_looks_again_sooner_than_the_list(
    start_looking: Looking, ollama: ProviderServer, clock: ManualClock
) -> None:
    service = await start_looking(ollama)
    admin = await People(service).super_admin()
    assert len((await admin.get("/api/v1/models/probe")).json()["servers"]) == 1
    service.instance.adapters[LocalServers].ports = ()
    clock.advance(3)
    assert len(await list_found(admin)) == 1
    assert (await admin.get("/api/v1/models/probe")).json()["servers"] == []


async def test_elsewhere_than_on_a_development_instance_a_probe_looks_at_nothing(
    start_looking: Looking, ollama: ProviderServer
) -> None:
    admin = await People(await start_looking(ollama, base_url="https://agents.example")).super_admin()
    probed = (await admin.get("/api/v1/models/probe")).json()
    assert (probed["is_searched"], probed["servers"], ollama.requests) == (False, [], [])


async def test_who_may_not_add_keys_may_not_probe(start_looking: Looking, ollama: ProviderServer) -> None:
    people = People(await start_looking(ollama))
    viewer = await people.sign_in(await people.user(Role.viewer))
    assert (await viewer.get("/api/v1/models/probe")).status == 403
