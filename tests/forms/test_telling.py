"""Who hears of a submission: addresses and channels that the form names, whoever made it, and the visitor."""

from typing import Any

from retinue.app import Service
from retinue.kit.secrets import Secret
from tests.adapters.notifying_servers import CONFIGS
from tests.client import Api
from tests.factories.forms import EMAIL, NAME, make_form, sent
from tests.factories.notifications import logs_of, make_channel, titles_of
from tests.factories.people import People
from tests.notifications.conftest import companies, mail_server  # noqa: F401  fixtures

ANSWERS = {"name": "Ada <b>", "email": "ada@example.com"}


async def test_the_addresses_and_channels_of_a_form_are_told_once(
    service: Service,
    api: Api,
    person: Api,
    admin: Api,
    companies: Any,  # noqa: F811
) -> None:
    await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    chat = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    off = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"), name="Off")
    assert (await admin.put(f"/api/v1/notification-channels/{off['id']}", {"active": False})).status == 200
    told = {
        "email": {
            "enabled": True,
            "recipients": ["a@example.com", "no address", "b@example.com", "a@example.com"],
        },
        "channel_ids": [chat["id"], chat["id"], off["id"], "chn_gone", 7],
    }
    form = await make_form(person, NAME, EMAIL, settings={"notifications": told})
    await sent(api, form, ANSWERS)
    assert companies.requests == [], "nothing leaves before the commit"
    await service.runner.drain()
    mails = [one.json for one in companies.requests if one.path == "/v3/mail/send"]
    assert sorted(mail["personalizations"][0]["to"][0]["email"] for mail in mails) == [
        "a@example.com",
        "b@example.com",
    ]
    (said,) = [one.json["text"] for one in companies.requests if one.path.startswith("/services/")]
    assert "New submission: Contact" in said
    assert "Ada &lt;b&gt;" in said
    assert len(await logs_of(admin, chat["id"])) == 1
    assert await logs_of(admin, off["id"]) == []
    assert await titles_of(person) == ["New submission: Contact"]


async def test_without_a_channel_the_mail_server_of_the_instance_is_used(
    make_service: Any,
    mail_server: Any,  # noqa: F811
) -> None:
    server = mail_server()
    service = await make_service(smtp_url=Secret(f"smtp://127.0.0.1:{server.port}"))
    people = People(service)
    person = await people.signed_in("agent_developer")
    settings = {
        "notifications": {"email": "team@example.com"},
        "confirmation_email": {"subject": "We have\r\nit", "message": "Thank you, we read it."},
    }
    form = await make_form(person, NAME, EMAIL, settings=settings)
    await sent(Api(service), form, ANSWERS)
    quiet = await make_form(person, NAME, EMAIL, settings={"confirmation_email": {"enabled": False}})
    await sent(Api(service), quiet, ANSWERS)
    await service.runner.drain()
    received = {to[0]: mail for to, mail in server.received()}
    assert sorted(received) == ["ada@example.com", "team@example.com"]
    team, visitor = received["team@example.com"], received["ada@example.com"]
    assert team["Subject"] == "New submission: Contact"
    assert "Name: Ada <b>" in team.get_body(("plain",)).get_content()
    assert visitor["Subject"] == "We have it"
    written = visitor.get_body(("plain",)).get_content()
    assert "Thank you, we read it." in written
    assert "Ada" not in written, "the address may be somebody else's, so nothing of the answers goes there"
