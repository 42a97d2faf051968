"""Tests of the limits on mails to one address: for each sender, in total and for each purpose."""

import pytest

from tests.client import Api
from tests.factories.mails import mails_to, text_of
from tests.factories.people import PASSWORD, People

FORGOT, RESEND = "/auth/forgot-password", "/auth/resend-verification"
HOUR_S = 3600


async def ask(api: Api, path: str, email: str, times: int = 1) -> None:
    for _ in range(times):
        assert (await api.post(path, {"email": email})).status == 200


async def count_mails(service, email: str, subject: str) -> int:
    return len([mail for mail in await mails_to(service, email) if mail["Subject"] == subject])


@pytest.fixture
async def owner(people: People):
    return await people.user(email="owner@example.org", email_verified=False)


async def resets(service, owner) -> int:
    return await count_mails(service, owner.email, "Reset your password")


async def test_a_stranger_cannot_use_up_the_mails_of_the_owner(service, api, owner):
    await ask(api.at("198.51.100.66"), FORGOT, owner.email, times=9)
    assert await resets(service, owner) == 5
    await ask(api, FORGOT, owner.email)
    assert await resets(service, owner) == 6


async def test_what_was_asked_for_one_purpose_does_not_count_for_another(make_service):
    service = await make_service(hide_accounts=True)
    api, owner = Api(service), await People(service).user(email="owner@example.org", email_verified=False)
    registration = {"email": owner.email, "password": PASSWORD, "first_name": "E", "last_name": "V"}
    for _ in range(9):
        assert (await api.post("/auth/register", registration)).status == 201
    await ask(api, RESEND, owner.email, times=9)
    await ask(api, FORGOT, owner.email, times=9)
    assert await count_mails(service, owner.email, "You already have an account") == 5
    assert await count_mails(service, owner.email, "Confirm your email address") == 5
    assert await resets(service, owner) == 5


async def test_strangers_in_many_places_send_twenty_mails_an_hour(service, api, owner, clock):
    for number in range(6):
        await ask(api.at(f"198.51.100.{number}"), FORGOT, owner.email.upper(), times=5)
    assert await resets(service, owner) == 20
    await ask(api, RESEND, owner.email)
    assert await count_mails(service, owner.email, "Confirm your email address") == 1
    clock.advance(HOUR_S + 1)
    await ask(api, FORGOT, owner.email)
    assert await resets(service, owner) == 21


async def test_an_ipv6_host_is_one_place_with_all_its_addresses(service, api, owner):
    for number in range(9):
        await ask(api.at(f"2001:db8::{number:x}"), FORGOT, owner.email)
    assert await resets(service, owner) == 5
    await ask(api.at("2001:db8:0:1::1"), FORGOT, owner.email)
    assert await resets(service, owner) == 6


@pytest.mark.parametrize("is_built", [True, False])
async def test_mails_lead_to_the_same_paths_with_and_without_a_console(
    service, api, owner, tmp_path, monkeypatch, is_built
):
    monkeypatch.setattr("retinue.console.files.WEB", tmp_path)
    if is_built:
        (tmp_path / "index.html").write_text("<!doctype html>")
    await ask(api, FORGOT, owner.email)
    await ask(api, RESEND, owner.email)
    lines = [line for mail in await mails_to(service, owner.email) for line in text_of(mail).splitlines()]
    pages = {line.partition("?")[0] for line in lines if line.startswith("http")}
    here = "http://127.0.0.1:8080"
    assert pages == {f"{here}/reset-password", f"{here}/verify-email"}
