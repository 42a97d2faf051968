"""Mail reaches a real SMTP server or the outbox, and no value of a mail becomes a header."""

import asyncio
import email
import email.policy
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from retinue.adapters.mail import Mail, MailFailed, OutboxMailer, SmtpMailer, mailer_for
from retinue.kit.clock import ManualClock, to_instant
from retinue.kit.errors import Invalid
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, Settings
from tests.adapters.foreign_databases import make_certificate
from tests.adapters.mail_injections import RECIPIENTS, SUBJECTS

SERVER = Path(__file__).with_name("smtp_server.py")
SENDER = "Retinue <retinue@example.com>"
MAIL = Mail("user@example.org", "Grüße", "Hällo\n", "<p>Hällo</p>")
PASSWORD = "p:a/s@s w%rd"
PASSWORD_IN_URL = "p%3Aa%2Fs%40s%20w%25rd"


class Server:
    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.process = process
        self.port = int(process.stdout.readline())

    def received(self):
        for path in sorted(self.folder.glob("*.eml")):
            facts = json.loads(path.with_suffix(".json").read_text())
            yield facts, email.message_from_bytes(path.read_bytes(), policy=email.policy.default)


@pytest.fixture
def server(tmp_path):
    started = []

    def start(**options) -> Server:
        folder = tmp_path / f"inbox{len(started)}"
        folder.mkdir()
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        process = subprocess.Popen(
            [sys.executable, SERVER, folder, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return Server(folder, process)

    yield start
    for process in started:
        process.communicate(timeout=10)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("tls")
    make_certificate(folder, "127.1", "127.0.0.1")
    return folder / "both.pem"


def mailer(server: Server, scheme="smtp", login="", host="127.0.0.1", **options) -> SmtpMailer:
    return SmtpMailer(Secret(f"{scheme}://{login}{host}:{server.port}"), SENDER, ManualClock(), **options)


async def failure(sending) -> MailFailed:
    with pytest.raises(MailFailed) as caught:
        await sending
    assert caught.value.__cause__ is None
    return caught.value


async def test_a_mail_arrives_with_both_bodies_its_date_and_an_id(server):
    inbox = server()
    await mailer(inbox).send(MAIL)
    await mailer(inbox).send(Mail("second@example.org", "Plain", "Only text"))
    (facts, first), (_, second) = inbox.received()
    assert facts == {"from": "retinue@example.com", "to": ["user@example.org"], "tls": False, "login": None}
    assert (first["Subject"], first["To"], first["From"]) == ("Grüße", "user@example.org", SENDER)
    assert to_instant(first["Date"].datetime) == "2027-01-15T08:00:00.000000Z"
    assert first["Message-ID"].endswith("@example.com>")
    assert first["Message-ID"] != second["Message-ID"]
    assert first.get_body(["plain"]).get_content().strip() == "Hällo"
    assert first.get_body(["html"]).get_content().strip() == "<p>Hällo</p>"
    assert second.get_content_type() == "text/plain"


async def test_the_login_of_the_address_is_used_decoded(server):
    inbox = server(login=f"me@x:{PASSWORD}")
    await mailer(inbox, login=f"me%40x:{PASSWORD_IN_URL}@").send(MAIL)
    [(facts, _)] = inbox.received()
    assert facts["login"] == "me@x"


async def test_a_refused_login_fails_without_telling_the_password(server):
    inbox = server(login="me:right")
    error = await failure(mailer(inbox, login=f"me:{PASSWORD_IN_URL}@").send(MAIL))
    assert str(error) == f"The mail server at 127.0.0.1:{inbox.port} rejected the login (535)."
    error = await failure(mailer(inbox).send(MAIL))
    assert "530" in str(error)
    assert not error.permanent
    assert list(inbox.received()) == []


@pytest.mark.parametrize(("local", "code", "permanent"), [("refused", "550", True), ("busy", "451", False)])
async def test_a_refused_recipient_fails_for_good_or_for_now(server, local, code, permanent):
    inbox = server()
    error = await failure(mailer(inbox).send(Mail(f"{local}@example.org", "s", "t")))
    assert code in str(error)
    assert error.permanent is permanent
    assert list(inbox.received()) == []


@pytest.mark.parametrize("where", ["greeting", "data"])
async def test_a_server_that_hangs_is_given_up_in_time(server, where):
    inbox = server(hang=where)
    error = await failure(mailer(inbox, timeout_s=0.5).send(MAIL))
    assert "did not respond within 0.5 seconds" in str(error)
    assert not error.permanent


async def test_a_server_that_drops_the_line_after_taking_the_mail_has_taken_it(server):
    inbox = server(hang="quit")
    await mailer(inbox).send(MAIL)
    assert len(list(inbox.received())) == 1


async def test_nobody_listening_is_a_mail_failure(server):
    inbox = server()
    inbox.process.communicate(timeout=10)
    error = await failure(mailer(inbox).send(MAIL))
    assert not error.permanent
    assert str(error).startswith(f"The mail server at 127.0.0.1:{inbox.port} cannot be used: it refused")


async def test_starttls_is_used_when_offered(server, certificate):
    inbox = server(tls="start", certificate=certificate)
    await mailer(inbox).send(MAIL)
    [(facts, _)] = inbox.received()
    assert facts["tls"] is True


@pytest.mark.parametrize(("tls", "scheme"), [("start", "smtp"), ("first", "smtps")])
async def test_a_certificate_counts_only_when_it_can_be_verified(
    server, certificate, monkeypatch, tls, scheme
):
    # "127.1" reaches this machine without being a loopback name, as any other host would.
    inbox = server(tls=tls, certificate=certificate)
    error = await failure(mailer(inbox, scheme, host="127.1").send(MAIL))
    where = f"127.1:{inbox.port}"
    assert str(error) == f"The certificate of the mail server at {where} could not be verified."
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    await mailer(inbox, scheme, host="127.1").send(MAIL)
    [(facts, _)] = inbox.received()
    assert facts["tls"] is True


async def test_a_password_never_leaves_the_machine_unencrypted(server, certificate, monkeypatch):
    plain = server(login="me:pw")
    await failure(mailer(plain, login="me:pw@", host="127.1").send(MAIL))
    assert list(plain.received()) == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    encrypted = server(login="me:pw", tls="start", certificate=certificate)
    await mailer(encrypted, login="me:pw@", host="127.1").send(MAIL)
    [(facts, _)] = encrypted.received()
    assert facts["login"] == "me"
    assert facts["tls"] is True


async def test_mails_sent_at_once_all_arrive(server):
    inbox = server()
    sender = mailer(inbox)
    await asyncio.gather(*(sender.send(Mail(f"u{n}@example.org", str(n), "t")) for n in range(5)))
    assert {message["Subject"] for _, message in inbox.received()} == {"0", "1", "2", "3", "4"}


async def test_international_addresses_are_delivered(server):
    inbox = server()
    await mailer(inbox).send(Mail("user@bücher.example", "s", "t"))
    await mailer(inbox).send(Mail("jürgen@example.org", "s", "t"))
    assert [facts["to"] for facts, _ in inbox.received()] == [
        ["user@xn--bcher-kva.example"],
        ["jürgen@example.org"],
    ]


SUBJECTS += [
    "=?utf-8?q?a=0D=0ABcc:_evil@example.net?=",
    "=?utf-8?b?YQ0KQmNjOiB4QHk=?=",
    "x =?latin-1?q?=0A?= y",
]
RECIPIENTS += [
    "",
    "a",
    "@",
    "a@",
    "@b",
    "a@b@c",
    "a b@example.org",
    "a@example.org, b@example.org",
    "a@b;c@d",
]
RECIPIENTS += [
    "Name <a@example.org>",
    "<a@example.org>",
    '"a b"@example.org',
    "a@example.org (x)",
    "group:a@b;",
]
RECIPIENTS += ["=?utf-8?q?a=0D=0ABcc:_x?=@example.org", "a@" + "b" * 260, "a" * 65 + "@example.org"]
RECIPIENTS += [f"a@{'ü' * 70}.example", "a@example.org> SIZE=1", ", ".join(["a@example.org"] * 10_000)]


@pytest.fixture
def outbox(tmp_path) -> OutboxMailer:
    return OutboxMailer(tmp_path / "outbox", SENDER, structlog.get_logger(), ManualClock())


@pytest.mark.parametrize("subject", SUBJECTS, ids=ascii)
async def test_a_subject_cannot_add_a_header(outbox, tmp_path, subject):
    with pytest.raises(Invalid) as refusal:
        await outbox.send(Mail("a@example.org", subject, "t"))
    assert list(refusal.value.details) == ["subject"]
    assert not (tmp_path / "outbox").exists()


@pytest.mark.parametrize("to", RECIPIENTS, ids=lambda to: ascii(to)[:40])
async def test_a_recipient_is_exactly_one_bare_address(outbox, tmp_path, to):
    with pytest.raises(Invalid) as refusal:
        await outbox.send(Mail(to, "s", "t"))
    assert list(refusal.value.details) == ["to"]
    assert not (tmp_path / "outbox").exists()


async def test_long_and_unusual_text_stays_in_its_own_header_and_body(outbox, tmp_path):
    subject = "=? ünusual ?= " + "x" * 2000 + " 👩‍🔧"
    await outbox.send(Mail("a@example.org", subject, "line\r\n.\r\nBcc: x\n" + "y" * 3000 + "\udfff"))
    [path] = (tmp_path / "outbox").iterdir()
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    assert message["Bcc"] is None
    assert "".join(message["Subject"].split()) == "".join(subject.split())
    assert message.get_content().rstrip().endswith("y?")
    header = path.read_bytes().partition(b"\n\n")[0]
    assert max(len(line) for line in header.splitlines()) <= 998


LONG_LINK = f"https://example.com/{'x' * 900}"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (f"Open this:\n\n{LONG_LINK}\n", "7bit"),
        (f"Öffnen € 漢字 👩\n\n{LONG_LINK}\n", "8bit"),
        (f"Longer than a line of a mail may be:\n\n{LONG_LINK}{'y' * 900}\n", "binary"),
    ],
)
async def test_a_mail_in_the_outbox_reads_in_an_editor_as_it_does_in_a_mail_program(
    outbox, tmp_path, text, encoding
):
    await outbox.send(Mail("jürgen@example.org", "Grüße €", text, f"<p>{text}</p>"))
    [path] = (tmp_path / "outbox").iterdir()
    written = path.read_text()
    assert "Subject: Grüße €\n" in written
    assert text in written, "no line is broken, nothing is encoded"
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    assert (message["Subject"], message["To"]) == ("Grüße €", "jürgen@example.org")
    assert message.defects == []
    for part, content in (("plain", text), ("html", f"<p>{text}</p>\n")):
        body = message.get_body([part])
        assert (body["Content-Transfer-Encoding"], body.get_content()) == (encoding, content)


async def test_what_goes_to_a_mail_server_stays_within_the_limits_of_lines(server):
    inbox = server()
    text = f"Öffnen €\n\n{LONG_LINK}{'y' * 900}\n"
    await mailer(inbox).send(Mail("user@example.org", "s", text, f"<p>{text}</p>"))
    [path] = inbox.folder.glob("*.eml")
    assert max(len(line) for line in path.read_bytes().splitlines()) <= 998
    [(_, message)] = inbox.received()
    assert message.get_body(["plain"]).get_content().replace("\r\n", "\n") == text


async def test_the_outbox_keeps_whole_private_files_in_order_and_logs_their_names(outbox, tmp_path):
    folder = tmp_path / "outbox"
    with capture_logs() as logged:
        for number in range(3):
            await outbox.send(Mail("a@example.org", f"mail {number}", "secret link"))
    files = sorted(folder.iterdir())
    assert [line["file"] for line in logged] == [str(path) for path in files]
    assert "secret" not in str(logged)
    subjects = [email.message_from_bytes(path.read_bytes())["Subject"] for path in files]
    assert subjects == ["mail 0", "mail 1", "mail 2"]
    assert files[0].name.startswith("2027-01-15T080000.0000")
    assert {path.suffix for path in files} == {".eml"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_an_outbox_that_cannot_be_written_is_a_mail_failure(tmp_path):
    (tmp_path / "outbox").write_text("in the way")
    blocked = OutboxMailer(tmp_path / "outbox", SENDER, structlog.get_logger(), ManualClock())
    with pytest.raises(MailFailed):
        await blocked.send(MAIL)


async def test_the_settings_choose_the_mailer_and_its_sender(server, tmp_path):
    inbox = server()
    url = Secret(f"smtp://127.0.0.1:{inbox.port}")
    await mailer_for(Settings(smtp_url=url, base_url="https://r.example.com/x"), ManualClock()).send(MAIL)
    await mailer_for(Settings(smtp_url=url, base_url="http://127.0.0.1:8000"), ManualClock()).send(MAIL)
    await mailer_for(Settings(smtp_url=url, mail_from="Us <us@example.com>"), ManualClock()).send(MAIL)
    senders = [(facts["from"], message["From"]) for facts, message in inbox.received()]
    assert senders == [
        ("retinue@r.example.com", "retinue@r.example.com"),
        ("retinue@[127.0.0.1]", "retinue@[127.0.0.1]"),
        ("us@example.com", "Us <us@example.com>"),
    ]
    await mailer_for(Settings(data_dir=tmp_path, base_url="http://[::1]:80"), ManualClock()).send(MAIL)
    [path] = (tmp_path / "outbox").iterdir()
    assert b"From: retinue@[IPv6:::1]\n" in path.read_bytes()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "smtp://",
        "http://h",
        "h:25",
        "smtp://u:pa#ss@h",
        "smtp://u:pa/ss@h",
        "smtp://h:x",
        "smtp://h/?a=b",
    ],
)
def test_an_unusable_server_address_is_refused_by_name_without_being_shown(url):
    with pytest.raises(BadSetting, match=r"^RETINUE_SMTP_URL ") as refusal:
        SmtpMailer(Secret(url), SENDER, ManualClock())
    assert "ss@h" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("sender", ["", "nobody", "a@b\r\nBcc: x@y", "A <a@b>\nX: y", "<>"])
def test_an_unusable_sender_is_refused_by_name(sender):
    with pytest.raises(BadSetting, match=r"^RETINUE_MAIL_FROM "):
        SmtpMailer(Secret("smtp://h"), sender, ManualClock())


def test_the_smtp_library_is_loaded_only_when_a_mail_is_sent():
    check = "import sys, retinue.adapters.mail; sys.exit('aiosmtplib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
