"""The configurations of the proxy guide, in front of a real server: bodies, streams, addresses, metrics."""

import asyncio
import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retinue.kit.settings import Settings
from tests.contract.routes import ROUTES
from tests.e2e.processes import ADMIN_PASSWORD, ROOT, ServerProcess, free_port

pytestmark = pytest.mark.either_database
GUIDE = (ROOT / "docs" / "guides" / "proxy.md").read_text()
PROGRAMS = {"nginx": "nginx", "caddyfile": "caddy"}
BOUNDARY = "XXproxyXX"
CLIENT = "127.0.0.2"
"""Another address of this machine than the one that the proxy calls from."""


def configuration(kind: str) -> str:
    (found,) = re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)
    return str(found)


def program(kind: str) -> str:
    name = PROGRAMS[kind]
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "site.pem", folder / "site.key"
    command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1")
    name = ("-subj", "/CN=agents.example.com")
    subprocess.run((*command, *name, "-out", certificate, "-keyout", key), check=True, capture_output=True)
    return certificate, key


def nginx_command(folder: Path, port: int, upstream: int) -> list[str]:
    certificate, key = make_certificate(folder)
    site = configuration("nginx")
    for named, here in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("server 127.0.0.1:8080;", f"server 127.0.0.1:{upstream};"),
        ("/etc/ssl/certs/agents.example.com.pem", str(certificate)),
        ("/etc/ssl/private/agents.example.com.key", str(key)),
    ):
        assert site.count(named) == 1, named
        site = site.replace(named, here)
    paths = "\n".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi"))
    main = folder / "nginx.conf"
    main.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ access_log off; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n"
        f"{paths}\n{site}\n}}\n"
    )
    return [program("nginx"), "-e", str(folder / "error.log"), "-c", str(main)]


def caddy_command(folder: Path, port: int, upstream: int) -> list[str]:
    site = configuration("caddyfile")
    assert (site.count("agents.example.com {"), site.count("127.0.0.1:8080")) == (1, 1)
    # Without a name it gets no certificate from anybody.
    site = site.replace("agents.example.com {", f"http://127.0.0.1:{port} {{")
    main = folder / "Caddyfile"
    main.write_text("{\n\tadmin off\n}\n" + site.replace("127.0.0.1:8080", f"127.0.0.1:{upstream}"))
    return [program("caddyfile"), "run", "--config", str(main), "--adapter", "caddyfile"]


class Proxy:
    """A proxy that runs, and the server behind it."""

    def __init__(self, port: int, server: ServerProcess, log: Path, *, is_encrypted: bool) -> None:
        self.port, self.server, self.log, self.is_encrypted = port, server, log, is_encrypted

    def connect(self) -> http.client.HTTPConnection:
        if not self.is_encrypted:
            return http.client.HTTPConnection("127.0.0.1", self.port, 60, source_address=(CLIENT, 0))
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=60, context=context, source_address=(CLIENT, 0)
        )

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str]]:
        connection = self.connect()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            kind = answer.getheader("content-type") or ""
            return answer.status, json.loads(content) if "json" in kind else {}
        finally:
            connection.close()


@pytest.fixture(scope="module", params=PROGRAMS)
async def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Proxy]:
    kind, folder = str(request.param), tmp_path_factory.mktemp("proxied")
    program(kind)
    base_url = "https://agents.example.com"
    settings = {"RETINUE_METRICS": "on", "RETINUE_ACCESS_LOG": "on", "RETINUE_LOG_LEVEL": "info"}
    server = ServerProcess(
        folder,
        is_shared=True,
        RETINUE_BASE_URL=base_url,
        RETINUE_TRUSTED_PROXIES="127.0.0.1",
        **settings,
    )
    await server.start()
    port = free_port()
    make = nginx_command if kind == "nginx" else caddy_command
    log = (folder / "proxy.log").open("wb")
    process = subprocess.Popen(
        make(folder, port, server.port), stdout=log, stderr=log, env={"HOME": str(folder), "PATH": "/usr/bin"}
    )
    try:
        while not listens(port):
            assert process.poll() is None, (folder / "proxy.log").read_text()
            await asyncio.sleep(0.05)
        yield Proxy(port, server, folder / "server.log", is_encrypted=kind == "nginx")
    finally:
        process.terminate()
        process.wait()
        log.close()
        await server.stop()


@pytest.fixture(scope="module")
async def token(proxy: Proxy) -> str:
    body = json.dumps({"email": "admin@example.com", "password": ADMIN_PASSWORD}).encode()
    status, answer = await asyncio.to_thread(
        lambda: proxy.ask("POST", "/auth/login", body, **{"Content-Type": "application/json"})
    )
    assert status == 200, answer
    return answer["access_token"]


async def test_a_large_body_passes(proxy: Proxy, token: str) -> None:
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nknowledge\r\n--{BOUNDARY}\r\n'
        'Content-Disposition: form-data; name="file"; filename="big.csv"\r\nContent-Type: text/csv\r\n\r\n'
    )
    body = head.encode() + b"a,b\n" * 5_000_000 + f"\r\n--{BOUNDARY}--\r\n".encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Authorization": f"Bearer {token}",
    }
    status, answer = await asyncio.to_thread(lambda: proxy.ask("POST", "/api/v1/files", body, **headers))
    assert status == 201, answer


async def test_a_stream_is_not_held_back(proxy: Proxy, token: str) -> None:
    """The first words arrive while the stream is open; its end is never waited for."""

    def read() -> tuple[int, bytes]:
        connection = proxy.connect()
        try:
            connection.request(
                "GET", "/api/v1/notifications/stream", headers={"Authorization": f"Bearer {token}"}
            )
            answer = connection.getresponse()
            return answer.status, answer.read1(1)
        finally:
            connection.close()

    status, first = await asyncio.to_thread(read)
    assert (status, len(first)) == (200, 1)


async def test_metrics_are_not_published(proxy: Proxy) -> None:
    for path in ("/metrics", "/metrics/", "/%6Detrics", "//metrics", "/x/../metrics"):
        status, _ = await asyncio.to_thread(proxy.ask, "GET", path)
        assert status in {400, 404}, path


async def test_the_address_of_the_client_is_known_and_cannot_be_claimed(proxy: Proxy) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9"}
    status, _ = await asyncio.to_thread(lambda: proxy.ask("GET", "/health/live", **headers))
    assert status == 200
    while '"/health/live"' not in proxy.log.read_text():
        await asyncio.sleep(0.05)
    (line,) = [line for line in proxy.log.read_text().splitlines() if '"/health/live"' in line][:1]
    assert json.loads(line)["address"] == CLIENT


def test_the_guide_knows_the_limits_of_the_server() -> None:
    largest = max(route.body_limit for route in ROUTES)
    for text in (configuration("nginx"), configuration("caddyfile"), GUIDE):
        assert re.search(r"512 ?(m|MiB)\b", text)
    assert largest <= 512 * 1024**2
    assert all(
        int(limit) > Settings().turn_seconds for limit in re.findall(r"(\d+)s\b", configuration("nginx"))
    )
    assert f"`RETINUE_TURN_SECONDS` ({Settings().turn_seconds})" in GUIDE
