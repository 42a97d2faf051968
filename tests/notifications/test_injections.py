"""W7: no text of a notification becomes a header, a recipient, or markup, at a real mail server."""

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.client import Api
from tests.factories.notifications import CHANNELS, logs_of, make_channel, send
from tests.factories.people import People
from tests.notifications.conftest import MailServer

pytestmark = pytest.mark.either_database

HOSTILE_TITLES = (
    "a\tBcc: x@evil.example",
    "=?utf-8?q?a=0D=0ABcc:_x@evil.example?=",
    "=?utf-8?b?YQ0KQmNjOiB4QGV2aWwuZXhhbXBsZQ==?=",
    "“Boss” <ceo@evil.example>",
    "a" * 200,
    "{{7*7}} ${7*7} <%= 7*7 %> {{cycler.__init__.__globals__}} %(x)s",
)
BREAKS = ("\r\n", "\n", "\r", "\x00", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")


async def test_a_title_with_a_line_break_is_refused(people: People, admin: Api) -> None:
    person = await people.user(Role.viewer)
    for line_break in BREAKS:
        body = {"title": f"a{line_break}Bcc: x@evil.example", "user_ids": [person.id]}
        answer = await admin.post("/api/v1/notifications", body)
        assert answer.status == 422, repr(line_break)


async def test_nothing_in_a_notification_becomes_another_header_or_recipient(
    service: Service, people: People, admin: Api, mail_server
) -> None:
    server: MailServer = mail_server()
    channel = await make_channel(admin, "smtp", server.config)
    person = await people.user(Role.viewer, email="ada@example.com")
    sent = [title for title in HOSTILE_TITLES if "\t" not in title]
    for title in sent:
        await send(
            admin,
            title=title,
            message="Hello\r\n.\r\nBcc: x@evil.example\r\n\r\n<script>alert(1)</script>",
            user_ids=[person.id],
            channels=["email"],
        )
    await service.runner.drain()
    received = server.received()
    assert len(received) == len(sent)
    for to, mail in received:
        addressed = (to, mail.get_all("To"), mail["Bcc"], mail["Cc"])
        assert addressed == ([person.email], [person.email], None, None)
        assert "evil.example" not in str(mail["From"])
        html = mail.get_body(("html",)).get_content()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "Bcc: x@evil.example" in mail.get_body(("plain",)).get_content()
    assert received[-1][1]["Subject"] == HOSTILE_TITLES[-1]
    assert {one["status"] for one in await logs_of(admin, channel["id"])} == {"delivered"}


async def test_a_channel_reaches_no_address_it_must_not(make_service) -> None:
    """S1: neither a mail server nor an endpoint on a private network, by whatever spelling."""
    service = await make_service(base_url="https://retinue.example.com")
    admin = await People(service).super_admin()
    hosts = ("127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1", "[::1]", "2130706433", "0x7f.1")
    for host in hosts:
        body = {"name": "Mail", "type": "email", "provider": "smtp", "config": {"host": host}}
        made = await admin.post(CHANNELS, body)
        if made.status == 201:
            answer = await admin.post(f"{CHANNELS}/{made.json()['id']}/test")
            assert (answer.status, answer.json()["success"]) == (200, False), host
            assert "not allowed for outgoing calls" in answer.json()["message"], answer
        url = {"url": f"https://{host}/hook"}
        hook = await admin.post(CHANNELS, {"name": "H", "type": "webhook", "provider": "http", "config": url})
        assert (hook.status, hook.code) == (422, "invalid_config"), (host, hook)
