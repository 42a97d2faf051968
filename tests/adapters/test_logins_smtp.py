"""Logins over SMTP, tried at a real mail server."""

import subprocess
import sys
from pathlib import Path

import pytest

from retinue.adapters.logins import (
    LoginNotConfigured,
    LoginRefused,
    LoginTimeout,
    LoginUnreachable,
    check_smtp,
)
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.secrets import Secret
from tests.adapters.foreign_databases import NAME, make_certificate
from tests.adapters.hostile_servers import serving
from tests.kit.egress_listener import ScriptedResolver, listening
from tests.kit.egress_targets import REFUSED_HOSTS

SERVER = Path(__file__).with_name("smtp_server.py")
PASSWORD = "s3cret:pä/@ss"
LOGIN = f"me:{PASSWORD}"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("smtp")
    make_certificate(folder)
    return folder / "both.pem"


@pytest.fixture
def server(tmp_path):
    started = []

    def start(**options) -> int:
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        process = subprocess.Popen(
            [sys.executable, SERVER, tmp_path, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return int(process.stdout.readline())

    yield start
    for process in started:
        process.communicate(timeout=10)


@pytest.fixture
async def named_egress():
    """May go to this machine, which is where every name leads."""
    async with Egress(["127.0.0.0/8"], resolver=ScriptedResolver(["127.0.0.1"])) as egress:
        yield egress


async def log_in(egress, port, **changed):
    given = {
        "host": NAME,
        "username": "me",
        "password": Secret(PASSWORD),
        "encryption": "none",
        "timeout_s": 5.0,
    }
    return await check_smtp(egress, port=port, **{**given, **changed})


@pytest.mark.parametrize(("encryption", "tls"), [("none", ""), ("starttls", "start"), ("tls", "first")])
async def test_a_right_login_works_with_each_encryption(
    server, certificate, monkeypatch, named_egress, encryption, tls
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    port = server(login=LOGIN, tls=tls, certificate=certificate)
    checked = await log_in(named_egress, port, encryption=encryption)
    assert 0 <= checked.latency_ms < 5000
    assert checked.host_key_fingerprint is None
    with pytest.raises(LoginRefused) as caught:
        await log_in(named_egress, port, encryption=encryption, password=Secret("wrong-password"))
    assert caught.value.message == "The mail server rejected the login (535)."
    assert caught.value.__cause__ is None


async def test_without_a_username_only_the_greeting_is_exchanged(server, named_egress):
    await log_in(named_egress, server(), username="", password=Secret(""))


async def test_a_server_without_logins_is_no_login(named_egress):
    async def serve(read, writer) -> None:
        writer.write(b"220 here\r\n")
        await read(len(b"EHLO localhost\r\n"))
        writer.write(b"250-here\r\n250 SIZE 1000\r\n")

    async with serving(serve) as (port, _):
        with pytest.raises(LoginRefused, match="does not support logging in"):
            await log_in(named_egress, port)


@pytest.mark.parametrize(("encryption", "tls"), [("starttls", "start"), ("tls", "first")])
async def test_a_certificate_counts_only_when_it_can_be_verified_for_the_name(
    server, certificate, monkeypatch, named_egress, encryption, tls
):
    port = server(login=LOGIN, tls=tls, certificate=certificate)
    with pytest.raises(LoginUnreachable, match="certificate could not be verified"):
        await log_in(named_egress, port, encryption=encryption)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    for other in ("mail.example.com", "127.0.0.1"):
        with pytest.raises(LoginUnreachable, match="certificate could not be verified"):
            await log_in(named_egress, port, encryption=encryption, host=other)


async def test_encryption_that_is_not_offered_keeps_the_password_here(named_egress):
    async def serve(read, writer) -> None:
        writer.write(b"220 here\r\n")
        await read(len(b"EHLO localhost\r\n"))
        writer.write(b"250-here\r\n250 AUTH PLAIN LOGIN\r\n")

    async with serving(serve) as (port, received):
        with pytest.raises(LoginUnreachable, match="does not support the requested encryption"):
            await log_in(named_egress, port, encryption="starttls")
    assert received.startswith(b"EHLO localhost\r\n")
    assert b"AUTH" not in received
    async with serving(serve) as (port, received):
        with pytest.raises((LoginUnreachable, LoginTimeout)):
            await log_in(named_egress, port, encryption="tls", timeout_s=1.0)
    assert b"AUTH" not in received


async def test_an_unknown_encryption_or_no_host_is_reported_as_such(named_egress):
    for changed in ({"encryption": "ssl"}, {"encryption": ""}, {"host": ""}):
        with pytest.raises(LoginNotConfigured):
            await log_in(named_egress, 25, **changed)
    with pytest.raises(LoginNotConfigured):
        await log_in(named_egress, 0)


async def test_private_addresses_are_never_connected_to():
    async with Egress() as egress, listening() as canary:
        for host in REFUSED_HOSTS:
            with pytest.raises(EgressRefused):
                await log_in(egress, canary.port, host=host)
        assert canary.connections == 0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", LoginUnreachable),
        (b"554 go away\r\n", LoginUnreachable),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", LoginUnreachable),
        (b"\xff\xfe\x00" * 20_000, LoginUnreachable),
        (b"220-" + b"x" * 100_000, LoginUnreachable),
    ],
)
async def test_servers_that_are_none_are_unreachable(named_egress, answer, error):
    async def serve(read, writer) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with serving(serve) as (port, _):
        with pytest.raises(error):
            await log_in(named_egress, port)


async def test_a_server_that_says_nothing_is_given_up_in_time(server, named_egress):
    with pytest.raises(LoginTimeout):
        await log_in(named_egress, server(hang="greeting"), timeout_s=0.3)
    async with listening() as canary:
        port = canary.port
    with pytest.raises(LoginUnreachable):
        await log_in(named_egress, port)
