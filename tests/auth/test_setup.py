"""The set-up by the person who started the server: one link, once, until an administrator signs in."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.auth.models import InstanceSetup
from retinue.auth.setup import issue_link_token
from retinue.auth.setup_state import SETUP_ID
from retinue.kit.db.models import Record
from retinue.users.models import User
from tests.auth.origins import FOREIGN, FORM, OWN
from tests.client import Api, Response
from tests.factories.people import ADMIN_EMAIL, PASSWORD, People

pytestmark = pytest.mark.one_service("the link is printed by the process that starts")

PERSON = {
    "first_name": "Mara",
    "last_name": "Lindqvist",
    "email": "Mara@Halden.example",
    "password": PASSWORD,
}


@pytest.fixture
async def fresh(make_service) -> Service:
    return await make_service(admin_password=None)


def token_of(service: Service) -> str:
    assert service.setup_token is not None
    return service.setup_token.reveal()


async def set_up(
    service: Service, token: str, headers: dict[str, str] | None = None, ip: str = "203.0.113.7", **more: Any
) -> Response:
    body = {**PERSON, "token": token, **more}
    return await Api(service, ip=ip).post("/auth/setup", body, headers=headers)


async def is_open(service: Service) -> bool:
    return (await Api(service).get("/auth/setup")).json()["open"]


async def list_records(service: Service, record: type[Record]) -> list[Any]:
    async with People(service).context() as ctx:
        return await ctx.system("test").all(record)


async def test_the_link_makes_the_first_administrator_who_is_signed_in_at_once(fresh: Service) -> None:
    assert await is_open(fresh)
    answer = await set_up(fresh, token_of(fresh), OWN, session="cookie", remember=True)
    assert (answer.status, answer.json()["user"]["role"]) == (200, "super_admin")
    assert answer.json().keys() == {"access_token", "token_type", "expires_in", "user"}
    assert answer.headers["set-cookie"].startswith("retinue_refresh=k.rft_")
    me = Api(fresh, token=answer.json()["access_token"])
    person = (await me.get("/auth/me")).json()
    assert (person["email"], person["first_name"], person["email_verified"]) == (
        "mara@halden.example",
        "Mara",
        True,
    )
    assert not await is_open(fresh)
    assert (await set_up(fresh, token_of(fresh))).code == "setup_closed"


async def test_without_a_cookie_the_answer_is_that_of_a_sign_in(fresh: Service) -> None:
    answer = await set_up(fresh, token_of(fresh))
    assert answer.status == 200
    assert answer.json()["refresh_token"].startswith("rft_")
    assert "set-cookie" not in answer.headers


async def test_the_printed_password_keeps_working_after_the_set_up(fresh: Service) -> None:
    assert fresh.new_password is not None
    await set_up(fresh, token_of(fresh))
    printed = {"email": ADMIN_EMAIL, "password": fresh.new_password.reveal()}
    assert (await Api(fresh).post("/auth/login", printed)).status == 200


async def test_the_printed_address_is_taken_over(fresh: Service) -> None:
    assert fresh.new_password is not None
    answer = await set_up(fresh, token_of(fresh), email=ADMIN_EMAIL)
    assert answer.status == 200
    (admin,) = await list_records(fresh, User)
    assert (admin.first_name, admin.role) == ("Mara", Role.super_admin)
    printed = {"email": ADMIN_EMAIL, "password": fresh.new_password.reveal()}
    assert (await Api(fresh).post("/auth/login", printed)).status == 401


async def test_a_wrong_link_is_refused_and_counted(fresh: Service) -> None:
    for _ in range(10):
        answer = await set_up(fresh, "wrong")
        assert (answer.status, answer.details) == (422, {"token": "is not valid or has expired"})
    assert (await set_up(fresh, token_of(fresh))).status == 429
    assert await is_open(fresh)
    assert (await set_up(fresh, token_of(fresh), ip="203.0.113.8")).status == 200


async def test_the_first_sign_in_closes_it(fresh: Service) -> None:
    assert fresh.new_password is not None
    printed = {"email": ADMIN_EMAIL, "password": fresh.new_password.reveal()}
    assert (await Api(fresh).post("/auth/login", {**printed, "password": "Wrong-1-word"})).status == 401
    assert await is_open(fresh)
    assert (await Api(fresh).post("/auth/login", printed)).status == 200
    assert not await is_open(fresh)
    answer = await set_up(fresh, token_of(fresh))
    assert (answer.status, answer.code) == (409, "setup_closed")
    assert await issue_link_token(fresh.instance) is None


STRANGER = {**PERSON, "email": "stranger@example.com"}
PUBLIC = {"base_url": "https://retinue.example.com", "admin_password": None}


async def sign_in(service: Service, email: str) -> Response:
    return await Api(service).post("/auth/login", {"email": email, "password": PASSWORD})


async def test_a_stranger_who_registers_and_signs_in_does_not_close_it(fresh: Service) -> None:
    assert (await Api(fresh).post("/auth/register", STRANGER)).status == 201
    assert (await sign_in(fresh, STRANGER["email"])).status == 200
    assert await is_open(fresh)
    assert await issue_link_token(fresh.instance) is not None
    assert (await set_up(fresh, token_of(fresh))).status == 200
    assert not await is_open(fresh)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.super_admin])
async def test_no_other_role_closes_it(fresh: Service, role: Role) -> None:
    await People(fresh).signed_in(role)
    assert await is_open(fresh)


async def test_a_pending_super_administrator_does_not_close_it_and_is_let_in_by_the_link(
    fresh: Service,
) -> None:
    waiting = await People(fresh).user(Role.super_admin, is_pending=True)
    before = await People(fresh).sign_in(waiting)
    assert await is_open(fresh)
    answer = await set_up(fresh, token_of(fresh), email=waiting.email)
    assert answer.status == 200
    assert (await Api(fresh, token=answer.json()["access_token"]).get("/api/v1/agents")).status == 200
    assert (await before.get("/auth/me")).status == 401


async def test_a_person_promoted_after_the_first_sign_in_closes_it_with_the_next(fresh: Service) -> None:
    person = await People(fresh).user()
    await People(fresh).sign_in(person)
    async with People(fresh).context(person.tenant_id) as ctx:
        found = await ctx.db.get(User, person.id)
        assert found is not None
        await ctx.db.update(found, role=Role.super_admin)
    assert await is_open(fresh)
    await People(fresh).sign_in(person)
    assert not await is_open(fresh)


@pytest.mark.parametrize("signup", [None, "open", "pending", "tenant", "off"])
async def test_nobody_registers_where_others_reach_it_while_it_is_open(make_service, signup) -> None:
    service = await make_service(**PUBLIC, signup=signup)
    for more in ({}, {"invite_token": "an-invitation"}):
        answer = await Api(service).post("/auth/register", {**STRANGER, **more})
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {
            "required": "administrator",
            "your_role": "anonymous",
            "reason": "registration_disabled",
        }
    assert len(await list_records(service, User)) == 1
    assert (await set_up(service, token_of(service))).status == 200
    status = 403 if signup == "off" else 201
    assert (await Api(service).post("/auth/register", STRANGER)).status == status


async def test_a_chosen_password_leaves_registration_as_it_is(make_service) -> None:
    service = await make_service(base_url=PUBLIC["base_url"])
    assert not await is_open(service)
    assert (await Api(service).post("/auth/register", STRANGER)).status == 201


async def test_of_two_at_once_one_succeeds(fresh: Service) -> None:
    emails = [f"person{number}@halden.example" for number in range(4)]
    answers = await asyncio.gather(*(set_up(fresh, token_of(fresh), email=email) for email in emails))
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    assert len(await list_records(fresh, User)) == 2


async def test_a_bad_password_or_a_taken_address_does_not_use_up_the_link(fresh: Service) -> None:
    await People(fresh).user(email="taken@halden.example")
    assert list((await set_up(fresh, token_of(fresh), password="weak")).details) == ["password"]
    assert list((await set_up(fresh, token_of(fresh), email="no")).details) == ["email"]
    assert (await set_up(fresh, token_of(fresh), email="taken@halden.example")).status == 409
    assert (await set_up(fresh, token_of(fresh))).status == 200


async def test_every_wrong_field_is_named_at_once(fresh: Service) -> None:
    refused = await set_up(fresh, token_of(fresh), password="weak", email="no")
    assert sorted(refused.details) == ["email", "password"]


async def test_a_link_says_whether_it_works_before_a_form_is_filled_in(fresh: Service) -> None:
    async def checked(token: str) -> Response:
        return await Api(fresh).post("/auth/link", {"purpose": "setup", "token": token})

    assert (await checked(token_of(fresh))).status == 200
    wrong = await checked("wrong")
    assert (wrong.status, list(wrong.details)) == (422, ["token"])
    # Looking uses nothing up.
    assert (await set_up(fresh, token_of(fresh))).status == 200
    used = await checked(token_of(fresh))
    assert (used.status, used.code) == (409, "setup_closed")


async def test_a_restart_prints_another_link_and_both_work_until_one_is_used(fresh: Service) -> None:
    second = await issue_link_token(fresh.instance)
    assert second is not None
    assert second.reveal() != token_of(fresh)
    assert (await set_up(fresh, token_of(fresh))).status == 200
    assert (await set_up(fresh, second.reveal())).code == "setup_closed"


async def test_restarts_keep_only_the_last_links(fresh: Service) -> None:
    for _ in range(10):
        newest = await issue_link_token(fresh.instance)
    (row,) = await list_records(fresh, InstanceSetup)
    assert (row.id, len(row.token_hashes)) == (SETUP_ID, 10)
    assert (await set_up(fresh, token_of(fresh))).status == 422
    assert newest is not None
    assert (await set_up(fresh, newest.reveal())).status == 200


async def test_the_token_is_stored_as_a_hash(fresh: Service) -> None:
    (row,) = await list_records(fresh, InstanceSetup)
    assert token_of(fresh) not in str(row)


async def test_an_instance_in_use_never_opens_it(service: Service, people: People) -> None:
    assert service.setup_token is None
    assert not await is_open(service)
    await people.super_admin()
    object.__setattr__(service.instance.settings, "admin_password", None)
    assert await issue_link_token(service.instance) is None
    assert (await set_up(service, "anything")).code == "setup_closed"


@pytest.mark.parametrize(("headers", "status"), [(FOREIGN, 403), (FORM, 415)])
async def test_only_our_own_pages_get_a_cookie(fresh: Service, headers: dict[str, str], status: int) -> None:
    answer = await set_up(fresh, token_of(fresh), headers, session="cookie")
    assert answer.status == status
    assert await is_open(fresh)
