"""A workflow writes to a customer where the organization allows it, and never to somebody else instead."""

from collections.abc import Callable
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.client import Api
from tests.factories.mails import mails_to
from tests.factories.notifications import make_channel, titles_of
from tests.factories.people import People
from tests.factories.workflows import PATH, by_node, make_workflow, node, run

TENANT = "/api/v1/tenant"
CUSTOMER = "jo@customer.example"


def answer(emails: Any, **more: Any) -> dict[str, Any]:
    return node("answer", "notification", title="Your order", recipients={"emails": emails}, **more)


async def allow(admin: Api, *domains: str, per_day: int = 100) -> None:
    changed = await admin.patch(TENANT, {"mail_to_outsiders": {"domains": domains, "per_day": per_day}})
    assert changed.status == 200, changed
    assert changed.json()["mail_to_outsiders"] == {"domains": [*domains], "per_day": per_day}


def error_of(execution: dict[str, Any]) -> dict[str, Any]:
    assert execution["status"] == "failed", execution
    return by_node(execution)["answer"]["error"]


def recipients(mail: Any) -> list[str]:
    """Return the envelope's recipients of the workflow's own mails, without those about failed runs."""
    return [to for named, letter in mail.received() if letter["subject"] == "Your order" for to in named]


async def test_a_mail_goes_to_the_customer_and_to_nobody_else(
    service: Service, admin: Api, mail_server: Callable[..., Any]
) -> None:
    mail = mail_server()
    await make_channel(admin, "smtp", mail.config)
    await allow(admin, "customer.example")
    workflow = await make_workflow(admin, answer(["{{input.email}}", "JO@Customer.example"]))
    done = await run(service, admin, workflow, {"email": CUSTOMER})
    assert done["status"] == "completed", done
    assert len(done["output"]["deliveries"]) == 1, "both are one address"
    ((to, letter),) = mail.received()
    assert (to, letter["subject"]) == ([CUSTOMER], "Your order")
    assert "Your order" not in await titles_of(admin)


@pytest.mark.parametrize("status", ["draft", "published"])
async def test_without_permission_the_workflow_is_not_written(admin: Api, status: str) -> None:
    for emails in ([CUSTOMER], ["{{input.email}}"]):
        for written in (answer(emails), node("all", "loop", items=[1], node=answer(emails))):
            refused = await admin.post(PATH, {"name": "Flow", "status": status, "nodes": [written]})
            assert (refused.status, refused.code) == (422, "validation_error")
            ((place, message),) = refused.details.items()
            assert place.endswith(".recipients.emails")
            assert "mail_to_outsiders" in message
    workflow = await make_workflow(admin, node("begin"))
    refused = await admin.put(f"{PATH}/{workflow['id']}", {"nodes": [answer([CUSTOMER])]})
    assert list(refused.details) == ["nodes.answer.config.recipients.emails"]


async def test_an_address_that_a_template_yields_is_refused_in_the_run(
    service: Service, admin: Api, mail_server: Callable[..., Any]
) -> None:
    mail = mail_server()
    await make_channel(admin, "smtp", mail.config)
    await allow(admin, "*.customer.example")
    workflow = await make_workflow(admin, answer(["{{input.email}}"]))
    others = (CUSTOMER, "jo@evilcustomer.example", "jo@customer.example.evil.example", "nobody", "", None)
    for email in others:
        failed = await run(service, admin, workflow, {"email": email})
        assert error_of(failed)["code"] == "recipient_not_allowed", email
    assert (await run(service, admin, workflow, {"email": "jo@de.customer.example"}))["status"] == "completed"
    assert recipients(mail) == ["jo@de.customer.example"]
    assert "Your order" not in await titles_of(admin), "it does not go to the owner instead"


@pytest.mark.parametrize("emails", [None, [], "", ["a@customer.example"] * 101])
async def test_a_template_that_yields_no_list_of_addresses_reaches_nobody(
    service: Service, admin: Api, emails: Any
) -> None:
    await allow(admin, "customer.example")
    workflow = await make_workflow(admin, answer("{{input.emails}}"))
    failed = error_of(await run(service, admin, workflow, {"emails": emails}))
    assert failed["code"] == ("invalid_config" if emails else "recipient_not_allowed")
    assert "Your order" not in await titles_of(admin), "it does not go to the owner instead"


async def test_a_list_of_empty_values_names_nobody(service: Service, admin: Api) -> None:
    audience = {"user_ids": ["{{input.user}}"], "roles": ["{{input.role}}"]}
    workflow = await make_workflow(
        admin, node("answer", "notification", title="Your order", recipients=audience)
    )
    assert error_of(await run(service, admin, workflow))["code"] == "recipient_not_allowed"


async def test_a_message_without_words_is_not_sent(service: Service, admin: Api) -> None:
    empty = node("answer", "notification", title="{{input.title}}", message=" ")
    failed = error_of(await run(service, admin, await make_workflow(admin, empty)))
    assert (failed["code"], failed["message"]) == ("invalid_config", "Title and message are empty.")


async def test_the_whole_audience_may_be_a_template(
    service: Service, people: People, admin: Api, mail_server: Callable[..., Any]
) -> None:
    audience = node("answer", "notification", title="Your order", recipients="{{input.to}}")
    refused = await admin.post(PATH, {"name": "Flow", "nodes": [audience]})
    assert list(refused.details) == ["nodes.answer.config.recipients.emails"]
    mail = mail_server()
    await make_channel(admin, "smtp", mail.config)
    await allow(admin, "customer.example")
    workflow = await make_workflow(admin, audience)
    assert (await run(service, admin, workflow, {"to": {"emails": [CUSTOMER]}}))["status"] == "completed"
    assert recipients(mail) == [CUSTOMER]
    assert error_of(await run(service, admin, workflow, {"to": ["x"]}))["code"] == "invalid_config"
    assert error_of(await run(service, admin, workflow))["code"] == "recipient_not_allowed"


async def test_a_withdrawn_permission_counts_for_what_is_published(service: Service, admin: Api) -> None:
    await allow(admin, "*")
    workflow = await make_workflow(admin, answer([CUSTOMER]))
    assert (await admin.patch(TENANT, {"mail_to_outsiders": None})).json()["mail_to_outsiders"] is None
    assert error_of(await run(service, admin, workflow))["code"] == "recipient_not_allowed"


async def test_no_more_mails_a_day_than_allowed(
    service: Service, people: People, admin: Api, clock: ManualClock, mail_server: Callable[..., Any]
) -> None:
    mail = mail_server()
    await make_channel(admin, "smtp", mail.config)
    await allow(admin, "*", per_day=2)
    one = await make_workflow(admin, answer([CUSTOMER]))
    three = await make_workflow(admin, answer([f"{name}@customer.example" for name in "abc"]))
    assert error_of(await run(service, admin, three))["code"] == "outsider_limit_reached"
    for _ in range(2):
        assert (await run(service, admin, one))["status"] == "completed"
    assert error_of(await run(service, admin, one))["code"] == "outsider_limit_reached"
    clock.advance(24 * 3600)
    assert (await run(service, await people.super_admin(), one))["status"] == "completed"
    assert recipients(mail) == [CUSTOMER] * 3


async def test_the_instances_own_mail_is_not_used_for_outsiders(service: Service, admin: Api) -> None:
    await allow(admin, "*")
    workflow = await make_workflow(admin, answer([CUSTOMER]))
    failed = error_of(await run(service, admin, workflow))
    assert failed["code"] == "no_active_channel"
    assert "/api/v1/notification-channels" in failed["message"]
    assert await mails_to(service, CUSTOMER) == []


async def test_a_members_address_means_the_member(service: Service, people: People, admin: Api) -> None:
    member = await people.signed_in(Role.viewer)
    workflow = await make_workflow(admin, answer([member.user.email]))
    assert (await run(service, admin, workflow))["status"] == "completed"
    assert await titles_of(member) == ["Your order"]
    assert "Your order" not in await titles_of(admin)


async def test_addresses_need_a_mail_channel(admin: Api, mail_server: Callable[..., Any]) -> None:
    await allow(admin, "*")
    inbox = await make_channel(admin, "in_app", {})
    for field, value in (("channel_type", "sms"), ("channel_id", inbox["id"])):
        body = {"name": "Flow", "nodes": [answer([CUSTOMER], **{field: value})]}
        refused = await admin.post(PATH, body)
        assert (refused.status, list(refused.details)) == (422, [f"nodes.answer.config.{field}"])


async def test_a_failed_mail_goes_to_the_same_person_through_the_next_channel(
    service: Service, admin: Api, clock: ManualClock, mail_server: Callable[..., Any]
) -> None:
    mail = mail_server()
    closed = {"host": "127.0.0.1", "port": 1, "from_email": "us@example.com", "to_email": "ours@example.com"}
    await make_channel(admin, "smtp", closed, priority=0)
    await make_channel(admin, "smtp", {**mail.config, "to_email": "other@example.com"}, priority=1)
    await allow(admin, "customer.example")
    workflow = await make_workflow(admin, answer([CUSTOMER]))
    assert (await run(service, admin, workflow))["status"] == "completed"
    for _ in range(4):
        clock.advance(600)
        await service.runner.drain()
    assert recipients(mail) == [CUSTOMER]


@pytest.mark.parametrize(
    "rule",
    [
        {"domains": [], "per_day": 1},
        {"domains": ["jo@example.com"], "per_day": 1},
        {"domains": ["EXAMPLE.com"], "per_day": 1},
        {"domains": ["*example.com"], "per_day": 1},
        {"domains": ["*"], "per_day": 0},
        {"domains": ["*"]},
        "*",
    ],
)
async def test_a_rule_that_says_nothing_is_refused(admin: Api, rule: Any) -> None:
    refused = await admin.patch(TENANT, {"mail_to_outsiders": rule})
    assert (refused.status, refused.code) == (422, "validation_error")
    assert all(place.startswith("mail_to_outsiders") for place in refused.details)


async def test_only_who_may_change_channels_allows_it(people: People) -> None:
    developer = await people.signed_in(Role.agent_developer)
    refused = await developer.patch(TENANT, {"mail_to_outsiders": None})
    assert (refused.status, refused.code) == (403, "forbidden")
