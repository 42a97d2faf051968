"""Tests of notifications about a submission: to addresses, channels, the owner and the visitor."""

from typing import Any

from retinue.app import Service
from retinue.kit.secrets import Secret
from tests.adapters.notifying_servers import CONFIGS
from tests.client import Api
from tests.factories.forms import EMAIL, NAME, make_form, submit
from tests.factories.mails import html_of, last_mail, mails_to, text_of
from tests.factories.notifications import logs_of, make_channel, notifications_of, titles_of
from tests.factories.people import People

ANSWERS = {"name": "Ada <b>", "email": "ada@example.com"}


async def test_the_addresses_and_channels_of_a_form_are_told_once(
    service: Service, api: Api, person: Api, admin: Api, companies: Any
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
    await submit(api, form, ANSWERS)
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
    mail_server: Any,
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
    await submit(Api(service), form, ANSWERS)
    quiet = await make_form(person, NAME, EMAIL, settings={"confirmation_email": {"enabled": False}})
    await submit(Api(service), quiet, ANSWERS)
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


async def test_without_any_mail_server_the_mails_are_files(service: Service, api: Api, person: Api) -> None:
    settings = {"notifications": {"email": "team@example.com"}, "confirmation_email": True}
    form = await make_form(person, NAME, EMAIL, settings=settings)
    await submit(api, form, ANSWERS)
    team, visitor = await last_mail(service, "team@example.com"), await last_mail(service, ANSWERS["email"])
    assert "Name: Ada <b>\n" in text_of(team)
    assert ">Ada &lt;b&gt;</td>" in html_of(team)
    assert visitor["Subject"] == "We received your answers: Contact"


async def test_a_confirmation_goes_through_the_tenants_own_channel(
    service: Service, api: Api, person: Api, admin: Api, companies: Any
) -> None:
    channel = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    settings = {"confirmation_email": {"subject": "We have it", "message": "Thank you.\nWe read <it>."}}
    form = await make_form(person, NAME, EMAIL, settings=settings)
    await submit(api, form, ANSWERS)
    assert await mails_to(service, ANSWERS["email"]) == []
    (mail,) = [one.json for one in companies.requests if one.path == "/v3/mail/send"]
    assert mail["personalizations"][0]["to"] == [{"email": ANSWERS["email"]}]
    plain, html = (one["value"] for one in mail["content"])
    assert "Thank you.\nWe read <it>." in plain
    assert "Thank you.<br>\nWe read &lt;it&gt;." in html
    (log,) = await logs_of(admin, channel["id"])
    assert (log["type"], log["recipient"], log["status"]) == (
        "form_confirmation",
        ANSWERS["email"],
        "delivered",
    )
    assert (
        await admin.put(f"/api/v1/notification-channels/{channel['id']}", {"active": False})
    ).status == 200
    await submit(api, form, ANSWERS)
    assert (await last_mail(service, ANSWERS["email"]))["Subject"] == "We have it"


async def test_whoever_made_a_form_hears_which_of_its_channels_reach_nobody(
    service: Service, api: Api, person: Api, admin: Api
) -> None:
    nobody = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"], name="Nobody's")
    off = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"], name="Off", active=False)
    told = {"channel_ids": [nobody["id"], off["id"], "nch_gone"], "email": "team@example.com"}
    form = await make_form(person, NAME, settings={"notifications": told})
    await submit(api, form, {"name": "Ada"})
    await service.runner.drain()
    (shown,) = (await notifications_of(person))["data"]
    assert shown["message"].splitlines() == [
        "Nothing was sent to the channel Nobody's: it has no default recipient.",
        "Nothing was sent to the channel Off: it is disabled.",
        "Nothing was sent to the channel nch_gone: there is no such channel.",
        "Name: Ada",
    ]


async def test_one_address_gets_a_few_confirmations_whoever_fills_the_form_in(
    make_service: Any,
    mail_server: Any,
) -> None:
    server = mail_server()
    service = await make_service(smtp_url=Secret(f"smtp://127.0.0.1:{server.port}"))
    person = await People(service).signed_in("agent_developer")
    form = await make_form(person, NAME, EMAIL, settings={"confirmation_email": True})
    for number in range(8):
        await submit(Api(service, ip=f"198.51.100.{number}"), form, ANSWERS)
    await submit(Api(service), form, {**ANSWERS, "email": "bob@example.com"})
    await service.runner.drain()
    received = [to[0] for to, _ in server.received()]
    assert sorted(received) == ["ada@example.com"] * 5 + ["bob@example.com"]
