"""Confirming an address with a mailed link."""

import asyncio

import pytest

from retinue.users.models import User
from tests.factories.happenings import audits
from tests.factories.mails import html_of, last_mail, link_token, mails_to, text_of
from tests.factories.people import PASSWORD, People

ADA = {"email": "ada@example.org", "password": PASSWORD, "first_name": "Ada", "last_name": "Lovelace"}


async def is_verified(people: People) -> bool:
    async with people.context() as ctx:
        user = await ctx.system("test").find(User, email=ADA["email"])
        assert user is not None
        return user.email_verified


@pytest.fixture
async def token(service, api) -> str:
    """The token that Ada was mailed when she registered."""
    assert (await api.post("/auth/register", ADA)).status == 201
    return link_token(await last_mail(service, ADA["email"]))


async def test_the_mailed_link_confirms_the_address_once(api, people, token):
    assert not await is_verified(people)
    answer = await api.post("/auth/verify-email", {"token": token})
    assert (answer.status, list(answer.json())) == (200, ["message"])
    assert await is_verified(people)
    again = await api.post("/auth/verify-email", {"token": token})
    assert (again.status, list(again.details)) == (422, ["token"])
    assert len(await audits(people, "auth.email_verified")) == 1


async def test_a_link_followed_many_times_at_once_confirms_once(api, token):
    answers = await asyncio.gather(*(api.post("/auth/verify-email", {"token": token}) for _ in range(6)))
    assert sorted(answer.status for answer in answers) == [200] + [422] * 5


async def test_the_link_lasts_a_day(api, people, token, clock):
    clock.advance(24 * 3600 + 1)
    answer = await api.post("/auth/verify-email", {"token": token})
    assert (answer.status, list(answer.details)) == (422, ["token"])
    assert not await is_verified(people)


async def test_a_token_that_was_never_sent_confirms_nothing(api, people, token):
    for bad in (None, "", "null", [], {}, 0, ["x"], "unknown", "x" * 300, token[:-1], token.swapcase()):
        answer = await api.post("/auth/verify-email", {"token": bad})
        assert (answer.status, list(answer.details)) == (422, ["token"]), bad
    assert not await is_verified(people)


async def test_the_mail_names_the_page_and_shows_the_bare_token(service, token):
    mail = await last_mail(service, ADA["email"])
    lines = text_of(mail).splitlines()
    assert f"http://127.0.0.1:8080/verify-email?token={token}" in lines
    assert token in lines
    assert f'<a href="http://127.0.0.1:8080/verify-email?token={token}">' in html_of(mail)


async def test_a_name_cannot_speak_through_our_mail(service, api):
    """A stranger may register somebody else's address with any name; the mail contains none of it."""
    hostile = {**ADA, "first_name": "<b>Click</b> https://evil.example", "last_name": "evil"}
    await api.post("/auth/register", hostile)
    mail = await last_mail(service, ADA["email"])
    assert "evil" not in str(mail.items()) + text_of(mail) + html_of(mail)


async def test_the_link_is_sent_again_to_who_waits_for_it(service, api, people, token):
    answer = await api.post("/auth/resend-verification", {"email": "ADA@example.org"})
    assert (answer.status, list(answer.json())) == (200, ["message"])
    fresh = link_token(await last_mail(service, ADA["email"]))
    assert fresh != token
    assert (await api.post("/auth/verify-email", {"token": token})).status == 422
    assert (await api.post("/auth/verify-email", {"token": fresh})).status == 200


async def test_asking_again_is_answered_alike_for_everyone(service, api, people, token):
    verified = await people.user()
    asked = [ADA["email"], verified.email, "nobody@example.com"]
    answers = [await api.post("/auth/resend-verification", {"email": email}) for email in asked]
    assert len({(answer.status, answer.body) for answer in answers}) == 1
    assert len({tuple(sorted(answer.headers)) for answer in answers}) == 1
    jobs = await service.instance.database.fetch("SELECT kind FROM jobs", [])
    assert [row[0] for row in jobs] == ["auth.send_verification"] * 3
    assert [len(await mails_to(service, email)) for email in asked] == [2, 0, 0]


async def test_nobody_is_flooded_with_links(service, api, token):
    for _ in range(9):
        assert (await api.post("/auth/resend-verification", {"email": ADA["email"]})).status == 200
    # The one of the registration, and five of those that were asked for.
    assert len(await mails_to(service, ADA["email"])) == 1 + 5
