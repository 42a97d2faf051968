"""Logins over SSH, tried at a real sshd."""

import asyncio
import base64
import struct

import asyncssh
import pytest
from asyncssh.asn1 import ObjectIdentifier, der_encode

from retinue.adapters.logins import (
    HostKeyMismatch,
    LoginNotConfigured,
    LoginRefused,
    LoginTimeout,
    LoginUnreachable,
    check_ssh,
)
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.secrets import Secret
from tests.adapters.hostile_servers import accepting, serving
from tests.adapters.ssh_server import KINDS, running_sshd
from tests.kit.egress_listener import ScriptedResolver, listening
from tests.kit.egress_targets import REFUSED_HOSTS

PASSPHRASE = "open sesame ü"


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


def export_key(key, passphrase=None, form="openssh") -> Secret:
    return Secret(key.export_private_key(form, passphrase).decode())


@pytest.fixture
def log_in(sshd, open_egress):
    async def check(**changed):
        given = {"host": "127.0.0.1", "port": sshd.port, "username": sshd.username, "timeout_s": 10.0}
        given |= (
            {} if "private_key" in changed or "password" in changed else {"private_key": export_key(sshd.key)}
        )
        return await check_ssh(changed.pop("egress", open_egress), **{**given, **changed})

    return check


async def test_a_key_that_may_log_in_does(log_in, sshd):
    before = sshd.said().count("Accepted publickey")
    checked = await log_in()
    assert checked.host_key_fingerprint in sshd.fingerprints.values()
    assert 0 <= checked.latency_ms < 10_000
    assert sshd.said().count("Accepted publickey") == before + 1


@pytest.mark.parametrize("form", ["pkcs8-pem", "pkcs1-pem"])
async def test_an_encrypted_key_is_opened_with_its_passphrase(log_in, sshd, form):
    key = sshd.key if form == "pkcs8-pem" else asyncssh.generate_private_key("ssh-rsa")
    sealed = export_key(key, PASSPHRASE if form == "pkcs8-pem" else "ascii", form)
    if form == "pkcs8-pem":
        await log_in(private_key=sealed, passphrase=Secret(PASSPHRASE))
    else:
        with pytest.raises(LoginRefused):
            await log_in(private_key=sealed, passphrase=Secret("ascii"))
    for wrong in ("", "wrong"):
        with pytest.raises(LoginNotConfigured, match="private key or its passphrase") as caught:
            await log_in(private_key=sealed, passphrase=Secret(wrong))
        assert caught.value.code == "not_configured"


async def test_a_key_encrypted_by_ssh_keygen_is_opened(log_in, sshd):
    pytest.importorskip("bcrypt", reason="keys of ssh-keygen with a passphrase need the bcrypt package")
    sealed = export_key(sshd.key, PASSPHRASE)
    await log_in(private_key=sealed, passphrase=Secret(PASSPHRASE))
    with pytest.raises(LoginNotConfigured):
        await log_in(private_key=sealed, passphrase=Secret("wrong"))


def costly_openssh_key() -> str:
    def field(data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + data

    options = field(b"salt" * 4) + struct.pack("!I", 2**31)
    body = (
        b"openssh-key-v1\0" + field(b"aes256-ctr") + field(b"bcrypt") + field(options) + struct.pack("!I", 1)
    )
    text = base64.encodebytes(body + field(b"x") + field(b"y" * 64)).decode()
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{text}-----END OPENSSH PRIVATE KEY-----\n"


def costly_pkcs8_key() -> str:
    pbkdf2 = (ObjectIdentifier("1.2.840.113549.1.5.12"), (b"saltsalt", 2**31))
    cipher = (ObjectIdentifier("2.16.840.1.101.3.4.1.42"), b"0123456789abcdef")
    content = der_encode(((ObjectIdentifier("1.2.840.113549.1.5.13"), (pbkdf2, cipher)), b"x" * 64))
    text = base64.encodebytes(content).decode()
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{text}-----END ENCRYPTED PRIVATE KEY-----\n"


@pytest.mark.parametrize("make", [costly_openssh_key, costly_pkcs8_key])
async def test_a_key_that_would_take_years_to_open_is_refused_at_once(log_in, make):
    for hidden in ("", export_key(asyncssh.generate_private_key("ssh-ed25519")).reveal()):
        with pytest.raises(LoginNotConfigured, match="is invalid" if hidden else "takes too long"):
            await log_in(private_key=Secret(hidden + make()), passphrase=Secret("x"))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "no key",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----",
            "x" * 9000,
            "schlüssel",
        ),
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----",
    ],
)
async def test_what_is_no_key_is_refused_before_anything_is_sent(log_in, text):
    async with listening() as canary:
        with pytest.raises(LoginNotConfigured) as caught:
            await log_in(private_key=Secret(text), port=canary.port)
        assert text[:20] not in caught.value.message
        assert canary.connections == 0


@pytest.mark.parametrize(
    "changed",
    [
        *({"host": ""}, {"username": ""}, {"port": 0}, {"port": 65536}, {"private_key": Secret("")}),
        {"host_key_fingerprint": "aa:bb:cc"},
    ],
)
async def test_an_incomplete_login_is_reported_as_such(log_in, changed):
    with pytest.raises(LoginNotConfigured):
        await log_in(**changed)


async def test_a_wrong_login_is_refused(log_in):
    stranger = export_key(asyncssh.generate_private_key("ssh-ed25519"))
    for changed in (
        {"private_key": stranger},
        {"username": "nobody-of-that-name"},
        {"password": Secret("wrong password")},
        {"private_key": stranger, "password": Secret("wrong password")},
    ):
        with pytest.raises(LoginRefused) as caught:
            await log_in(**changed)
        assert caught.value.code == "auth_error"
        assert (
            caught.value.message == "The server rejected the login. Check the username and the credentials."
        )
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", KINDS)
async def test_each_key_of_a_host_can_be_the_expected_one(log_in, sshd, kind):
    expected = sshd.fingerprints[kind]
    for written in (expected, expected.removeprefix("SHA256:"), f" {expected}= "):
        checked = await log_in(host_key_fingerprint=written)
        assert checked.host_key_fingerprint == expected


async def test_no_login_is_tried_at_a_host_with_another_key(log_in, sshd):
    def attempts() -> int:
        return sum(sshd.said().count(word) for word in ("Accepted", "Failed", "Postponed", "userauth"))

    before = attempts()
    other = asyncssh.generate_private_key("ssh-ed25519").get_fingerprint()
    with pytest.raises(HostKeyMismatch, match="does not match the expected one"):
        await log_in(host_key_fingerprint=other)
    assert attempts() == before


class Doorman(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("ada", "right")


async def test_a_password_logs_in_too(log_in):
    host = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen("127.0.0.1", 0, server_factory=Doorman, server_host_keys=[host])
    try:
        given = {"port": server.get_port(), "username": "ada"}
        checked = await log_in(password=Secret("right"), **given)
        assert checked.host_key_fingerprint == host.get_fingerprint()
        with pytest.raises(LoginRefused):
            await log_in(password=Secret("wrong"), **given)
    finally:
        server.close()
        await server.wait_closed()


async def test_nothing_of_this_machines_own_ssh_is_used(log_in, sshd, monkeypatch, tmp_path):
    """Its home has a key that would be let in, a configuration that leads elsewhere, and an agent."""
    home = tmp_path / ".ssh"
    home.mkdir()
    (home / "id_ed25519").write_bytes(sshd.key.export_private_key())
    (home / "id_ed25519.pub").write_bytes(sshd.key.export_public_key())
    (home / "id_ed25519").chmod(0o600)
    (home / "config").write_text("Host *\n  ProxyCommand false\n  User nobody\n  HostKeyAlias elsewhere\n")
    (home / "known_hosts").write_text(
        "* ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKtQ9Jp6fJ3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    agent = []
    asked = await asyncio.start_unix_server(
        lambda _, writer: (agent.append(1), writer.close()), tmp_path / "agent"
    )
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    await log_in()
    stranger = export_key(asyncssh.generate_private_key("ssh-ed25519"))
    for changed in ({"private_key": stranger}, {"password": Secret("wrong")}):
        with pytest.raises(LoginRefused):
            await log_in(**changed)
    asked.close()
    assert agent == []


async def test_private_addresses_are_never_connected_to(log_in):
    async with Egress() as egress, listening() as canary:
        for host in REFUSED_HOSTS:
            with pytest.raises(EgressRefused):
                await log_in(egress=egress, host=host, port=canary.port)
        assert canary.connections == 0
    async with Egress(resolver=ScriptedResolver(["127.0.0.1"])) as egress, listening() as canary:
        with pytest.raises(EgressRefused):
            await log_in(egress=egress, host="ssh.example.com", port=canary.port)
        assert canary.connections == 0


async def test_servers_that_are_none_are_told_apart(log_in):
    async def silence(reader, writer) -> None:
        await reader.read()

    async with accepting(silence) as port:
        with pytest.raises(LoginTimeout) as caught:
            await log_in(port=port, timeout_s=0.3)
        assert caught.value.code == "timeout"
    with pytest.raises(LoginUnreachable):
        await log_in(port=port)
    for answer in (
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"SSH-2.0-x\r\n" + b"\xff" * 400,
        b"\0" * 100_000,
        b"",
    ):

        async def serve(read, writer, answer=answer) -> None:
            writer.write(answer)
            await writer.drain()
            writer.close()

        async with serving(serve) as (port, _):
            with pytest.raises(LoginUnreachable):
                await log_in(port=port, timeout_s=5)


@pytest.mark.parametrize("username", ["tag\U000e0001", "\ufffe", "\u0627a"])
async def test_a_username_that_ssh_does_not_know_is_said_to_be_one(log_in, username):
    with pytest.raises(LoginNotConfigured, match="username"):
        await log_in(username=username, password=Secret("a password"))
