"""B4: only the properties that an operation declares are written, and only those it answers are read."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.auth.models import Session
from retinue.kit.crypto import Sealed
from retinue.kit.db.config_versions import CONFIGURATIONS
from retinue.kit.db.models import CONFIGURATION_TABLES, IDENTITY_COLUMNS
from retinue.kit.db.statements import Statement
from retinue.kit.http.routing import EMBED_KEY, Route
from tests.adapters.llm_server import provider_server
from tests.auth.contract import create_invitation, register
from tests.client import Api
from tests.contract.declared import body_keys, find_undeclared
from tests.contract.domains import TEXTS, WATCHED, WRITES
from tests.contract.knowledge import Scene, Write
from tests.contract.routes import ROUTES, call, label
from tests.contract.unknown_names import STRICT, UNKNOWN, WARNING, warnings_of, with_unknown
from tests.contract.world import an_upload, known_ids
from tests.factories.embed_keys import embed_key_of
from tests.factories.machines import basic_header, make_account, make_secret
from tests.factories.people import People
from tests.factories.uploads import signed_query
from tests.services import start_all
from tests.usage.prices import set_price

# They move with whatever requests remember, and with nothing else.
STAMPS = CONFIGURATIONS.name
SESSIONS = Session.__table__.name
ELSEWHERE = "Elsewhere"
LONG_AGO = "1999-01-01T00:00:00.000000Z"
SMUGGLED = {
    "id": "usr_smuggledaaaaaaaaaaaaaaaaaa",
    "tenant_id": "that of ELSEWHERE",
    "created_at": LONG_AGO,
    "updated_at": LONG_AGO,
    "email_verified": True,
    "role": "super_admin",
    "status": "inactive",
    "mfa_enabled": True,
    "password_hash": "smuggled",
    "permissions": ["admin:tenants"],
    "plan": "free",
    "is_default": True,
    "limits": {"requests_per_minute": 1},
}
WITH_BODY = [route for route in ROUTES if route.body is not None]
WITHOUT_BODY = [route for route in ROUTES if route.body is None]

Rows = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture
async def scene(service, clock, people, admin) -> AsyncIterator[Scene]:
    # A process that starts later changes the stamps of configurations.
    await start_all(service)
    async with provider_server() as provider:
        user = await people.user(Role.tenant_admin, await people.tenant("Mine"))
        me = await people.sign_in(user)
        yield Scene(service, clock, people, people.api, admin, user, me, provider)


async def read_rows(scene: Scene) -> Rows:
    async with scene.people.context() as ctx:
        system = ctx.system("test")
        rows = {
            name: {row.id: msgspec.to_builtins(row, enc_hook=ciphertext) for row in await system.all(record)}
            for name, record in WATCHED.items()
        }
        stamps = await system.rows(Statement(sa.select(CONFIGURATIONS)))
        sessions = {row.id: msgspec.to_builtins(row) for row in await system.all(Session)}
        return {**rows, SESSIONS: sessions, STAMPS: {id: {"stamp": stamp} for id, stamp in stamps}}


def ciphertext(sealed: Sealed) -> bytes:
    return sealed._bytes


def changed_columns(before: Rows, after: Rows) -> set[str]:
    return {
        f"{table}.{column}"
        for table in WATCHED
        for id, row in before[table].items()
        for column, value in row.items()
        if after[table].get(id, {}).get(column) != value
    }


def identity_columns() -> set[str]:
    return {f"{table}.{column}" for table, columns in IDENTITY_COLUMNS.items() for column in columns}


def new_rows(before: Rows, after: Rows) -> dict[str, list[dict[str, Any]]]:
    found = {
        table: [after[table][id] for id in after[table].keys() - before[table].keys()] for table in WATCHED
    }
    return {table: rows for table, rows in found.items() if rows}


def with_smuggled(body: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """The same body with more keys, in itself and in every object inside it."""
    return {
        **keys,
        **{key: {**keys, **value} if isinstance(value, dict) else value for key, value in body.items()},
    }


OWN_OF_ROWS = {"id", "created_at", "updated_at"}
"""Keys of a row besides its columns; ignored when they are sent."""


async def smuggle(scene: Scene, route: Route, write: Write) -> tuple[Any, Rows, Rows]:
    declared = body_keys(route)
    prepared = await write.prepare(scene)
    keys = {**SMUGGLED, "tenant_id": (await scene.people.tenant(ELSEWHERE)).id}
    body = with_smuggled(prepared.body, {key: keys[key] for key in keys if key not in declared})
    before = await read_rows(scene)
    planted, unknown = with_unknown(route, prepared.body)
    if unknown:
        strict = await call(prepared.caller, route, prepared.path, json=planted, headers=STRICT)
        assert (strict.status, strict.code) == (422, "validation_error"), strict
        assert strict.headers["preference-applied"] == "handling=strict"
        assert {*strict.details} == {*unknown}, strict
        assert await read_rows(scene) == before
        body = {UNKNOWN: 1, **body}
    answer = await call(prepared.caller, route, prepared.path, json=body)
    if write.refuses_unknown:
        assert (answer.status, set(answer.details)) == (422, {*body} - {*prepared.body} - OWN_OF_ROWS), answer
        assert await read_rows(scene) == before
        answer = await call(prepared.caller, route, prepared.path, json=prepared.body)
    assert 200 <= answer.status < 300, answer
    assert (WARNING in warnings_of(answer)) is bool(unknown), answer
    return answer, before, await read_rows(scene)


@pytest.mark.parametrize("route", WITH_BODY, ids=label)
async def test_undeclared_keys_of_a_body_change_nothing(scene: Scene, route: Route) -> None:
    assert route.name in WRITES, f"tell tests/<domain>/contract.py how to call {label(route)}"
    write = WRITES[route.name]
    answer, before, after = await smuggle(scene, route, write)
    changed, made = changed_columns(before, after), new_rows(before, after)
    assert changed <= write.changes
    touched = {column.partition(".")[0] for column in changed} | {*made}
    if before[STAMPS] != after[STAMPS]:
        touched |= {SESSIONS} if before[SESSIONS] != after[SESSIONS] else set()
        assert touched & (CONFIGURATION_TABLES | IDENTITY_COLUMNS.keys())
    else:
        assert not touched & CONFIGURATION_TABLES
        assert not changed & identity_columns()
        assert not any(before[table].keys() - after[table].keys() for table in IDENTITY_COLUMNS)
    assert {table: len(rows) for table, rows in made.items()} == write.inserts
    (elsewhere,) = (row["id"] for row in after["tenants"].values() if row["name"] == ELSEWHERE)
    # Whether an address counts as verified is the operation's own decision, and shown below.
    looked_for = {**SMUGGLED, "tenant_id": elsewhere, "email_verified": None}
    if route.name == "set_up_instance":
        # Whoever sets the instance up is its first administrator, whatever the body says.
        del looked_for["role"]
    for row in (row for rows in made.values() for row in rows):
        assert not [key for key, value in looked_for.items() if key in row and row[key] == value], row
    assert find_undeclared(label(route), answer) == []


@pytest.mark.parametrize("name", ["enable_mfa", "update_profile", "change_user_role"])
async def test_what_a_call_declares_does_change(scene: Scene, name: str) -> None:
    """Else the comparison above would be of two empty things."""
    (route,) = (route for route in WITH_BODY if route.name == name)
    _, before, after = await smuggle(scene, route, WRITES[name])
    assert changed_columns(before, after) == WRITES[name].changes


async def test_a_registration_gets_the_place_and_the_rights_that_are_its_own(scene: Scene) -> None:
    home = await scene.people.default_tenant()
    prepared = await register(scene)
    body = with_smuggled(prepared.body, {**SMUGGLED, "tenant_id": scene.user.tenant_id})
    assert (await scene.api.post("/auth/register", body)).status == 201
    body |= {
        "email": "guest@example.com",
        "invite_token": await create_invitation(scene, "guest@example.com"),
    }
    assert (await scene.api.post("/auth/register", body)).status == 201
    found = (await read_rows(scene))["users"].values()
    new, guest = (
        next(row for row in found if row["email"] == email)
        for email in ("new@example.com", "guest@example.com")
    )
    rights = ("tenant_id", "role", "status", "email_verified", "mfa_enabled")
    assert [new[key] for key in rights] == [home.id, "agent_user", "active", False, False]
    assert [guest[key] for key in rights][:3] == [scene.user.tenant_id, "viewer", "active"]
    assert guest["mfa_enabled"] is False


async def test_a_new_tenant_gets_only_what_its_body_declares(scene: Scene) -> None:
    (route,) = (route for route in WITH_BODY if route.name == "create_tenant")
    _, before, after = await smuggle(scene, route, WRITES["create_tenant"])
    made = new_rows(before, after)
    (tenant,), (person,) = made["tenants"], made["users"]
    assert (tenant["name"], tenant["plan"], tenant["limits"]) == ("New", "enterprise", {})
    assert tenant["is_default"] is False
    assert (person["tenant_id"], person["role"], person["status"]) == (tenant["id"], "tenant_admin", "active")
    assert person["mfa_enabled"] is False
    assert person["email_verified"] is True


async def assert_declared(people: People, admin: Api, route: Route) -> None:
    ids = await known_ids(people, admin, route.parameters)
    more: dict[str, Any] = {}
    if route.upload is not None:
        more["files"] = an_upload(route)
        more["fields"] = TEXTS.get(route.name)
    if route.name == "get_shared_file":
        more["query"] = await signed_query(admin, ids["file_id"][0])
    if route.name == "delete_model_price":
        more["query"] = {"model": (await set_price(admin, "openai_compatible/m", 1, 1))["model"]}
    if route.name in QUERIES:
        more["query"] = QUERIES[route.name]
    if route.name == "revoke_user_session":  # sessions are the administrator's own
        ids["user_id"] = [admin.user.id]
    if route.name == "decide_by_link":
        more["json"] = {"decision": "approve"}
    if route.name == "issue_access_token":
        secret = await make_secret(admin, await make_account(admin))
        more |= {"json": {"grant_type": "client_credentials"}, "headers": basic_header(secret)}
    if route.name == "get_widget_page":
        more["query"] = {"api_key": embed_key_of(ids["agent_id"][0])}
    if route.name == "upload_visitor_file":
        more["headers"] = {"Authorization": f"Bearer {embed_key_of(ids['agent_id'][0])}"}
    path = {name: found[0] for name, found in ids.items() if found}
    await assert_unknown_names_are_refused(admin, route, path, more)
    answer = await call(admin, route, path, **with_unknown_name(route, more))
    # Some lead elsewhere.
    assert 200 <= answer.status < 300 or answer.status == route.status, (label(route), answer)
    assert find_undeclared(label(route), answer) == [], label(route)
    assert (warnings_of(answer) == [WARNING]) is (route.name not in TAKES_ANYTHING), (label(route), answer)


QUERIES = {"search_objects": {"q": "a"}, "list_names": {"ids": "usr_unknown"}}
"""Queries of routes that ask for one."""

TAKES_ANYTHING = {"issue_access_token", "receive_webhook"}
"""Foreign protocols: RFC 6749 wants unknown parameters ignored, and a webhook's body is its sender's."""


def with_unknown_name(route: Route, more: dict[str, Any]) -> dict[str, Any]:
    """The same request with a name that nobody knows: in its form, its needless body, or its query."""
    if route.upload is not None:
        return {**more, "fields": {**(more.get("fields") or {}), UNKNOWN: "1"}}
    if route.method in {"POST", "PUT", "PATCH"}:
        return {**more, "json": {**more.get("json", {}), UNKNOWN: "1"}}
    return {**more, "query": {**more.get("query", {}), UNKNOWN: "1"}}


async def assert_unknown_names_are_refused(
    admin: Api, route: Route, path: dict[str, str], more: dict[str, Any]
) -> None:
    """A strict request is refused; the state stays, or the call itself would fail afterwards."""
    if route.name in TAKES_ANYTHING:
        return
    sent = with_unknown_name(route, {**more, "headers": {**more.get("headers", {}), **STRICT}})
    answer = await call(admin, route, path, **sent)
    assert (answer.status, answer.code, {*answer.details}) == (422, "validation_error", {UNKNOWN}), (
        label(route),
        answer,
    )


@pytest.mark.either_database
async def test_what_is_read_has_the_declared_keys_and_no_others(make_service) -> None:
    people = People(await make_service(metrics=True))
    admin = await people.super_admin()
    for route in WITHOUT_BODY:
        # tests/embed reads what embed keys read.
        if route.method == "GET" and route.requires is not EMBED_KEY:
            await assert_declared(people, admin, route)


# tests/chat/test_audio.py has a model that listens.
_DONE = [route for route in WITHOUT_BODY if route.method != "GET" and "chat_audio" not in route.name]


@pytest.mark.parametrize("route", _DONE, ids=label)
async def test_what_is_done_is_answered_with_the_declared_keys_and_no_others(people, admin, route) -> None:
    await assert_declared(people, admin, route)
