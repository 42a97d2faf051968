"""Mail over a tenant's SMTP server: a real one receives it."""

import asyncio
import email
import email.policy
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from retinue.adapters.notifiers import (
    InvalidConfig,
    NotificationMessage,
    ProviderRefused,
    SendContext,
    find_notifier,
    send,
)
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.settings import LOOPBACK
from tests.adapters import smtp_server
from tests.adapters.foreign_databases import NAME, make_certificate
from tests.adapters.hostile_servers import serving
from tests.adapters.mail_injections import BREAKS, RECIPIENTS, SUBJECTS
from tests.kit.egress_listener import ScriptedResolver, listening
from tests.kit.egress_targets import REFUSED_HOSTS

PASSWORD = "s3cret:pä/@ss"
LOGIN = f"me@example.com:{PASSWORD}"
MAIL = NotificationMessage("user@example.org", "Grüße 👋", "Hällo\n", "<p>Hällo</p>", id="ntf_1")
SMTP = find_notifier("smtp")


class Opened:
    """A mail server in this process; what it received lies in its folder."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    def received(self):
        return [
            (
                json.loads(path.with_suffix(".json").read_text()),
                email.message_from_bytes(path.read_bytes(), policy=email.policy.default),
            )
            for path in sorted(self.folder.glob("*.eml"))
        ]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("smtp")
    make_certificate(folder)
    return folder / "both.pem"


@pytest.fixture
async def server(tmp_path):
    started = []

    async def start(*, login="", hang="", tls="", certificate=None) -> Opened:
        folder = tmp_path / f"inbox{len(started)}"
        folder.mkdir()
        options = SimpleNamespace(folder=folder, login=login, hang=hang, tls=tls, certificate=certificate)
        context = smtp_server.tls_context(options)
        opened = await asyncio.get_running_loop().create_server(
            lambda: smtp_server.session(options, context),
            "127.0.0.1",
            0,
            ssl=context if tls == "first" else None,
        )
        started.append(opened)
        return Opened(folder, opened.sockets[0].getsockname()[1])

    yield start
    for opened in started:
        opened.close()


@pytest.fixture
async def outside():
    async with Egress(LOOPBACK) as egress:
        yield SendContext(egress, ManualClock(), timeout_s=2.0)


@pytest.fixture
async def remote_context():
    """Every name leads to this machine, and none of them may be used without encryption."""
    async with Egress(["127.0.0.0/8"], resolver=ScriptedResolver(["127.0.0.1"])) as egress:
        yield SendContext(egress, ManualClock(), timeout_s=2.0)


async def refusal(outside, config, message=MAIL) -> ProviderRefused:
    with pytest.raises(ProviderRefused) as caught:
        await send(outside, SMTP, config, message)
    assert caught.value.__cause__ is None
    assert PASSWORD not in caught.value.message
    return caught.value


def sending_to(inbox: Opened) -> dict[str, str]:
    return {"host": "127.0.0.1", "port": str(inbox.port), "from_email": "us@bücher.example"}


async def test_a_mail_arrives_with_its_id_and_its_sender(server, outside):
    inbox = await server()
    name = 'Boß, "Us" <boss@bank.example>'
    sent = await send(outside, SMTP, {**sending_to(inbox), "from_name": name}, MAIL)
    assert (sent.provider_id, sent.detail) == ("<ntf_1@xn--bcher-kva.example>", "OK")
    [(facts, mail)] = inbox.received()
    assert (facts["from"], facts["to"]) == ("us@xn--bcher-kva.example", ["user@example.org"])
    assert (mail["Subject"], mail["To"]) == ("Grüße 👋", "user@example.org")
    [sender] = mail["From"].addresses
    assert (sender.display_name, sender.addr_spec) == (name, "us@xn--bcher-kva.example")
    assert mail.get_body(["plain"]).get_content().strip() == "Hällo"
    assert mail.get_body(["html"]).get_content().strip() == "<p>Hällo</p>"


async def test_neither_a_name_nor_a_subject_becomes_a_header(server, outside):
    inbox = await server()
    config = sending_to(inbox)
    sent = await send(outside, SMTP, {**config, "from_name": "=?utf-8?q?a=0D=0ABcc:_x@y?="}, MAIL)
    assert sent.provider_id == "<ntf_1@xn--bcher-kva.example>"
    [(_, named)] = inbox.received()
    assert [one.addr_spec for one in named["From"].addresses] == ["us@xn--bcher-kva.example"]
    for subject in [*SUBJECTS, *(f"a{gap * 3}b" for gap in BREAKS), "x" * 3000]:
        await send(outside, SMTP, config, NotificationMessage("user@example.org", subject, f"t{subject}"))
    for _, message in inbox.received():
        assert message["Bcc"] is None
        assert message["Subject"]
        assert "\n" not in message["Subject"]


async def test_the_text_of_a_mail_without_a_title_becomes_its_subject(server, outside):
    inbox = await server()
    mail = NotificationMessage("jürgen@bücher.example", "", "Only text")
    await send(outside, SMTP, sending_to(inbox), mail)
    [(facts, plain)] = inbox.received()
    assert facts["to"] == ["jürgen@xn--bcher-kva.example"]
    assert plain["Subject"] == "Only text"


async def test_a_long_name_of_the_sender_never_becomes_an_address(server, outside):
    inbox = await server()
    config = {"host": "127.0.0.1", "port": str(inbox.port), "from_email": "us@example.com"}
    for name in ("boss@bank.example, " * 9, "Ü" * 60 + ", boss@bank.example", "=?utf-8?q?boss=40bank=2C_x?="):
        await send(outside, SMTP, {**config, "from_name": name}, MAIL)
        _, message = inbox.received()[-1]
        assert [one.addr_spec for one in message["From"].addresses] == ["us@example.com"]


async def test_a_mail_goes_to_exactly_one_address(outside):
    async with listening() as canary:
        config = {"host": "127.0.0.1", "port": canary.port}
        for recipient in RECIPIENTS:
            refused = await refusal(outside, config, NotificationMessage(recipient, "s", "t"))
            assert (refused.message, refused.is_permanent) == (
                "The recipient must be one email address.",
                True,
            )
        assert (
            await refusal(outside, config, NotificationMessage("a@example.org", "\r\n", " "))
        ).is_permanent
        assert canary.connections == 0


@pytest.mark.parametrize(("encryption", "tls"), [("starttls", "start"), ("tls", "first"), ("", "start")])
async def test_a_login_is_used_under_verified_encryption(
    server, certificate, monkeypatch, remote_context, encryption, tls
):
    inbox = await server(login=LOGIN, tls=tls, certificate=certificate)
    username, password = LOGIN.split(":", 1)
    config = {"host": NAME, "port": inbox.port, "username": username, "password": password}
    config["encryption"] = encryption
    unknown = await refusal(remote_context, config)
    assert unknown.message == "The certificate of the mail server could not be verified."
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    await send(remote_context, SMTP, config, MAIL)
    [(facts, message)] = inbox.received()
    assert (facts["login"], facts["tls"]) == (username, True)
    assert message["From"] == username
    wrong = await refusal(remote_context, {**config, "password": "wrong-password"})
    assert wrong.message == "The mail server rejected the login (535)."
    assert not wrong.is_permanent


async def test_nothing_goes_out_unencrypted_unless_the_operator_allows_the_host(
    server, outside, remote_context
):
    inbox = await server(login=LOGIN)
    username, password = LOGIN.split(":", 1)
    config = {"host": NAME, "port": inbox.port, "username": username, "password": password}
    with pytest.raises(InvalidConfig) as refused:
        await send(remote_context, SMTP, {**config, "encryption": "none"}, MAIL)
    assert list(refused.value.details) == ["encryption"]
    unencrypted = await refusal(remote_context, config)
    assert unencrypted.message.startswith("The mail server could not be used")
    assert inbox.received() == []
    for encryption in ("none", "auto"):
        await send(outside, SMTP, {**config, "host": "127.0.0.1", "encryption": encryption}, MAIL)
    assert [facts["login"] for facts, _ in inbox.received()] == [username] * 2


async def test_refusals_tell_for_good_from_for_now_and_never_the_password(server, outside):
    inbox = await server()
    config = {"host": "127.0.0.1", "port": inbox.port}
    refused = await refusal(outside, config, NotificationMessage("refused@example.org", "s", "t"))
    assert (refused.message, refused.is_permanent) == (
        "The mail server answered 550 5.1.1 no such mailbox",
        True,
    )
    busy = await refusal(outside, config, NotificationMessage("busy@example.org", "s", "t"))
    assert ("451" in busy.message, busy.is_permanent) == (True, False)

    async def echo(read, writer) -> None:
        writer.write(b"220 here\r\n")
        await read(len(b"EHLO localhost\r\n"))
        writer.write(b"250-here\r\n250 AUTH PLAIN\r\n")
        while True:
            line = await read(1)
            if line == b"\n":
                writer.write(f"554 {'x' * 190}{PASSWORD}\r\n".encode())

    async with serving(echo) as (port, received):
        login = {"host": "127.0.0.1", "port": port, "username": "me", "password": PASSWORD}
        told = await refusal(outside, login)
        assert received
        assert PASSWORD[:4] not in told.message
    async with serving(echo) as (port, _):
        assert PASSWORD[:4] not in (await refusal(outside, {**login, "port": port, "username": ""})).message


async def test_servers_that_hang_talk_nonsense_or_are_not_there_are_given_up(server, outside):
    brief = SendContext(outside.egress, outside.clock, timeout_s=0.3)
    for where in ("greeting", "data"):
        config = {"host": "127.0.0.1", "port": (await server(hang=where)).port}
        slow = await refusal(brief, config)
        assert slow.message == "The mail server did not respond within 0.3 seconds."
    leaving = await server(hang="quit")
    await send(outside, SMTP, {"host": "127.0.0.1", "port": leaving.port}, MAIL)
    assert len(leaving.received()) == 1
    for answer in (b"", b"554 go away\r\n", b"HTTP/1.1 400 Bad\r\n\r\n", b"\xff\xfe\x00" * 20_000):

        async def serve(_read, writer, answer=answer) -> None:
            writer.write(answer)
            await writer.drain()
            writer.close()

        async with serving(serve) as (port, _):
            assert not (await refusal(outside, {"host": "127.0.0.1", "port": port})).is_permanent


async def test_private_addresses_are_never_connected_to():
    async with Egress() as egress, listening() as canary:
        outside = SendContext(egress, ManualClock())
        for host in REFUSED_HOSTS:
            with pytest.raises((ProviderRefused, InvalidConfig)):
                await send(outside, SMTP, {"host": host, "port": canary.port}, MAIL)
        assert canary.connections == 0
