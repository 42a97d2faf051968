"""The hosts that an instance answers to: a development instance only those of its own machine."""

import asyncio

import pytest

from retinue.kit.http.own_hosts import OwnHosts
from retinue.kit.settings import Settings
from tests.client import Api
from tests.kit.listening import listening
from tests.kit.remembering_app import RememberingApp
from tests.kit.served import serve_app

pytestmark = pytest.mark.either_database

OWN = [
    "localhost",
    "localhost:8080",
    "LOCALHOST:1",
    "localhost.",
    "agents.localhost:3000",
    "a.b.localhost",
    "127.0.0.1",
    "127.0.0.1:8080",
    "127.255.255.254:9",
    "[::1]",
    "[::1]:8080",
    "[0:0:0:0:0:0:0:1]",
]
FOREIGN = [
    "",
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "evillocalhost",
    ".localhost",
    "a..localhost",
    "localhost..",
    "localhost@evil.example",
    "evil.example@localhost",
    "user:word@127.0.0.1",
    "localhost:8080:8080",
    "localhost:http",
    "localhost:123456",
    "localhost/",
    "localhost#evil.example",
    "localhost, evil.example",
    " localhost",
    "127.1",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "2130706433",
    "0.0.0.0:8080",
    "128.0.0.1",
    "10.0.0.1",
    "[::]",
    "::1",
    "[::1%25lo]",
    "[::1%lo]",
    "[fe80::1]",
    "[127.0.0.1]",
    "[::1]evil.example",
    "lo\xadcalhost",
    "\uff4cocalhost".encode().decode("latin-1"),
    "xn--localhost-zz",
]
PATHS = ["/", "/health", "/health/ready", "/metrics", "/docs", "/console/", "/embed/v1/widget.js", "/nowhere"]


@pytest.mark.parametrize("host", OWN)
async def test_a_development_instance_answers_to_its_own_machine(api, host):
    assert (await api.get("/health", headers={"Host": host})).status == 200


@pytest.mark.parametrize("host", FOREIGN)
async def test_a_development_instance_refuses_every_other_host(api, host):
    answer = await api.get("/health", headers={"Host": host})
    assert (answer.status, answer.code) == (421, "misdirected_request")
    assert answer.details == {"setting": "RETINUE_BASE_URL"}
    assert "RETINUE_BASE_URL" in answer.json()["error"]["message"]
    assert {"x-request-id", "x-ratelimit-limit", "x-content-type-options"} <= answer.headers.keys()


async def test_no_path_and_no_method_is_left_out(api, people):
    admin = await people.super_admin()
    rebound = {"Host": "evil.example:8080"}
    for path in PATHS:
        for method in ("GET", "HEAD", "OPTIONS", "POST"):
            assert (await api.request(method, path, headers=rebound)).status == 421, (method, path)
    for path in ("/api/v1/agents", "/api/v1/notifications/stream"):
        assert (await admin.get(path, headers=rebound)).status == 421, path
    sign_in = {"email": "root@example.com", "password": "Correct-Horse-1"}
    assert (await api.post("/auth/login", sign_in, headers=rebound)).status == 421


async def test_a_refused_host_costs_the_address_nothing(make_service):
    api = Api(await make_service(default_plan="free", burst=False))
    for _ in range(70):
        assert (await api.get("/health", headers={"Host": "evil.example"})).status == 421
    assert (await api.post("/auth/login", {"email": "a@example.com", "password": "x"})).status == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"base_url": "https://agents.example"},
        {"bound_hosts": ("0.0.0.0",)},
        {"trusted_proxies": ("127.0.0.1/32",)},
    ],
)
async def test_other_instances_answer_to_every_host(make_service, changed):
    api = Api(await make_service(**changed))
    for host in ("evil.example", "10.0.0.7:8080", "anything at all"):
        assert (await api.get("/health", headers={"Host": host})).status == 200


def test_remembered_hosts_are_bounded():
    hosts = OwnHosts(Settings(base_url="http://localhost:8080"))
    assert all(f"n{number}.localhost".encode() in hosts for number in range(5000))
    assert b"evil.example" not in hosts
    assert None not in hosts


def test_the_host_of_a_target_in_absolute_form_replaces_the_header():
    application = RememberingApp()
    requests = {
        b"http://evil.example/hello": b"evil.example",
        b"http://evil.example:81/hello": b"evil.example:81",
        b"http://localhost@evil.example/hello": b"evil.example",
        b"http://[::1]:8080/hello": b"[::1]:8080",
        b"/hello": b"127.0.0.1",
    }
    with serve_app(application) as server:
        for target in requests:
            answer = server.client().send(b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % target).answer()
            assert answer.status == 200, target
    seen = [[value for name, value in scope["headers"] if name == b"host"] for scope in application.seen]
    assert seen == [[host] for host in requests.values()]


async def test_a_real_server_refuses_a_request_without_a_host(service):
    async with listening(service) as server:
        for request, status in (
            (b"GET /health HTTP/1.0\r\n\r\n", b"421"),
            (b"GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"421"),
            (b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n", b"200"),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(request)
            assert (await reader.readline()).split()[1] == status, request
            writer.close()
