"""POST /auth/token: RFC 6749 to the letter, and nothing to learn from a refusal."""

from urllib.parse import urlencode

import pytest

from retinue.kit.db.models import RECORDS
from retinue.service_accounts.models import ServiceAccountSecret
from tests.client import Api
from tests.factories.happenings import audits
from tests.factories.machines import (
    FORM,
    PATH,
    ask_token,
    basic_header,
    machine,
    make_account,
    make_secret,
    token_of,
)
from tests.factories.people import People

GRANT = {"grant_type": "client_credentials"}
ONE_TEXT = "The client id or the secret is wrong, or the service account may not get tokens now."


def form(**parameters: str) -> bytes:
    return urlencode(parameters).encode()


@pytest.fixture
async def account(admin):
    return await make_account(admin, "agents:read", "tools:read")


@pytest.fixture
async def secret(admin, account):
    return await make_secret(admin, account)


@pytest.fixture
def pair(secret):
    return {"client_id": secret["client_id"], "client_secret": secret["client_secret"]}


async def test_a_secret_is_exchanged_in_each_of_the_four_ways(api, service, account, secret, pair):
    header = basic_header(pair)
    answers = [
        await api.post("/auth/token", {**GRANT, **pair}),
        await api.post("/auth/token", GRANT, headers=header),
        await api.post("/auth/token", content=form(**GRANT, **pair), headers=FORM),
        await api.post("/auth/token", content=form(**GRANT, scope=""), headers={**FORM, **header}),
        await api.post("/auth/token", {**GRANT, "client_id": pair["client_id"]}, headers=header),
    ]
    for answer in answers:
        assert answer.status == 200, answer
        assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
        issued = answer.json()
        assert issued == {
            "access_token": issued["access_token"],
            "token_type": "Bearer",
            "expires_in": 900,
            "scope": "agents:read tools:read",
        }
        claims = service.instance.tokens.verify(issued["access_token"], "access")
        assert (claims.sub, claims.sid) == (account["id"], secret["id"])
        assert claims.extra == {"kind": "service", "scope": "agents:read tools:read"}
        assert claims.exp - claims.iat == 900
        caller = api.signed_in(issued["access_token"])
        assert (await caller.get("/api/v1/agents")).status == 200


async def test_a_scope_narrows_the_token(api, admin, secret):
    answer = await ask_token(api, secret, scope="tools:read")
    assert answer.json()["scope"] == "tools:read"
    caller = api.signed_in(answer.json()["access_token"])
    assert (await caller.get("/v1/tools")).status == 200
    assert (await caller.get("/api/v1/agents")).status == 403
    for scope in ("tools:write", "agents:read tools:fly", "agents:read,tools:read"):
        refused = await ask_token(api, secret, scope=scope)
        assert (refused.status, refused.json()["error"]) == (400, "invalid_scope")


BAD_REQUESTS = [
    (b"", {}, "invalid_request"),
    (b"", FORM, "invalid_request"),
    (b"grant_type=", FORM, "invalid_request"),
    (b"grant_type=client_credentials&grant_type=client_credentials", FORM, "invalid_request"),
    (b"grant_type=client_credentials&scope=a&scope=b", FORM, "invalid_request"),
    (b"grant_type=%ff", FORM, "invalid_request"),
    (b"grant_type=a%00b", FORM, "invalid_request"),
    (b"&".join(b"a%d=1" % number for number in range(60)), FORM, "invalid_request"),
    (b"grant_type=client_credentials&x=" + b"x" * 20_000, FORM, "invalid_request"),
    (b"grant_type=client_credentials", {"Content-Type": "text/plain"}, "invalid_request"),
    (b'{"grant_type": "client_credentials"', {"Content-Type": "application/json"}, "invalid_request"),
    (b'[["grant_type", "client_credentials"]]', {"Content-Type": "application/json"}, "invalid_request"),
    (b'{"grant_type": 1}', {"Content-Type": "application/json"}, "invalid_request"),
    (b'{"grant_type": "a", "grant_type": "a"}', {"Content-Type": "application/json"}, "invalid_request"),
    (b"[" * 5000, {"Content-Type": "application/json"}, "invalid_request"),
    (b"null", {"Content-Type": "application/json"}, "invalid_request"),
    (
        b'{"client_id": "\\ud800", "client_secret": "x"}',
        {"Content-Type": "application/json"},
        "invalid_request",
    ),
    (b"grant_type=password&username=a&password=b", FORM, "unsupported_grant_type"),
    (
        b"grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=x",
        FORM,
        "unsupported_grant_type",
    ),
    (b"grant_type=client_credentials", FORM, "invalid_client"),
    (b"grant_type=client_credentials&client_id=sac_x", FORM, "invalid_client"),
    (b"grant_type=client_credentials&client_id=%F0%9F%98%80&client_secret=x", FORM, "invalid_client"),
]


@pytest.mark.either_database
async def test_malformed_requests_are_refused_in_the_words_of_the_protocol(api):
    for body, headers, error in BAD_REQUESTS:
        answer = await api.post("/auth/token", content=body, headers=headers)
        assert (answer.status, answer.json()["error"]) == (400, error), (body[:80], answer)
        assert set(answer.json()) == {"error", "error_description", "request_id"}
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
        assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")


@pytest.mark.parametrize(
    "header",
    ["Basic", "Basic !!!", "Basic YQ==", "Basic Og==", "Basic /w==", "Bearer x", "Digest a=b", "", "basic"],
)
@pytest.mark.either_database
async def test_a_header_that_proves_nothing_is_asked_for_again(api, pair, header):
    answer = await api.post("/auth/token", {**GRANT, **pair}, headers={"Authorization": header})
    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")
    assert answer.headers["www-authenticate"] == 'Basic realm="retinue"'


@pytest.mark.either_database
async def test_a_secret_in_the_header_and_in_the_body_is_refused(api, pair):
    header = basic_header(pair)
    for twice in (pair, {"client_id": "sac_another"}, {"client_secret": pair["client_secret"]}):
        answer = await api.post("/auth/token", {**GRANT, **twice}, headers=header)
        assert (answer.status, answer.json()["error"]) == (400, "invalid_request")


async def test_every_cause_of_an_invalid_client_looks_the_same_and_is_audited(admin, people, service, clock):
    account = await make_account(admin, "agents:read")
    right, spare = await make_secret(admin, account), await make_secret(admin, account)
    other = await make_secret(admin, await make_account(admin, name="Other"))
    path = f"{PATH}/{account['id']}"
    addresses = (f"203.0.113.{number}" for number in range(20, 40))
    found = {}

    async def refuse(cause: str, secret) -> None:
        caller = admin.at(next(addresses))
        answers = [
            await ask_token(caller, secret),
            await caller.post("/auth/token", GRANT, headers=basic_header(secret)),
        ]
        bodies = [answer.json() for answer in answers]
        found[cause] = [
            (answer.status, body["error"], body["error_description"])
            for answer, body in zip(answers, bodies, strict=True)
        ]

    await refuse("unknown client", {**right, "client_id": "sac_" + "a" * 26})
    await refuse("secret of another account", {**right, "client_secret": other["client_secret"]})
    await refuse("wrong secret", {**right, "client_secret": "rcs_" + "x" * 43})
    await admin.delete(f"{path}/secrets/{spare['id']}")
    await refuse("deleted secret", spare)
    await admin.patch(path, {"status": "disabled"})
    await refuse("disabled account", right)
    await admin.patch(path, {"status": "active", "allowed_ips": ["198.51.100.0/24"]})
    await refuse("network not allowed", right)
    await admin.patch(path, {"allowed_ips": [], "expires_at": "2027-01-15T08:10:00Z"})
    clock.advance(660)
    await refuse("expired account", right)
    same = [(400, "invalid_client", ONE_TEXT), (401, "invalid_client", ONE_TEXT)]
    assert found == dict.fromkeys(found, same)
    assert len(found) == 7

    await service.runner.drain()
    rows = await audits(people, "auth.token_refused")
    assert {row.subject_id for row in rows} == {account["id"]}
    assert all(row.success is False and row.ip_address.startswith("203.0.113.") for row in rows)
    assert [row.metadata["reason"] for row in rows] == [
        "wrong_secret",
        "account_disabled",
        "ip_not_allowed",
        "account_expired",
    ]


async def test_a_token_is_audited_once_an_hour_and_each_notes_its_use(admin, people, account, secret, clock):
    caller = admin.at("198.51.100.9")
    for _ in range(3):
        await token_of(caller, secret)
    [row] = await audits(people, "auth.token_issued")
    assert row.actor == {"type": "service_account", "id": account["id"]}
    assert row.metadata["secret_id"] == secret["id"]
    shown = (await admin.get(f"{PATH}/{account['id']}")).json()
    assert shown["last_used_ip"] == "198.51.100.9"
    assert shown["last_used_at"] is not None
    assert shown["updated_at"] == account["updated_at"]
    clock.advance(3600)
    await token_of(caller, secret)
    await token_of(caller, secret)
    assert len(await audits(people, "auth.token_issued")) == 2


async def test_a_token_works_only_from_the_allowed_networks(admin, secret, account):
    token = await token_of(admin, secret)
    await admin.patch(f"{PATH}/{account['id']}", {"allowed_ips": ["198.51.100.0/24", "2001:db8::/32"]})
    refused = await admin.signed_in(token).get("/api/v1/agents")
    assert refused.status == 403
    assert refused.details == {
        "required": "allowed_ip",
        "your_role": "service_account",
        "reason": "ip_not_allowed",
    }
    for address in ("198.51.100.9", "::ffff:198.51.100.9", "2001:db8::1"):
        inside = admin.signed_in(token).at(address)
        assert (await inside.get("/api/v1/agents")).status == 200, address
    assert (await admin.signed_in(token).at("2001:db9::1").get("/api/v1/agents")).status == 403


async def test_neither_the_database_nor_the_logs_hold_a_secret(make_service, logged):
    service = await make_service(access_log=True)
    people = People(service)
    admin = await people.super_admin()
    account = await make_account(admin, "agents:read")
    path = f"{PATH}/{account['id']}/secrets"
    made = await admin.post(path, {}, headers={"Idempotency-Key": "once"})
    again = await admin.post(path, {}, headers={"Idempotency-Key": "once"})
    secret = made.json()
    assert again.json() == secret
    await token_of(admin, secret)
    await ask_token(admin, {**secret, "client_id": "sac_" + "a" * 26})
    await admin.signed_in(secret["client_secret"]).get("/api/v1/agents")
    await service.runner.drain()
    text, lines = secret["client_secret"], logged.getvalue()
    assert "token_refused" in lines
    assert account["id"] in lines
    assert text not in lines
    async with people.context() as ctx:
        rows = await ctx.system("test").all(ServiceAccountSecret)
    assert [row.secret_prefix for row in rows] == [text[:12]]
    database = service.instance.database
    # Tests of the kit declare tables of their own, which only their databases have.
    names = [name for name in RECORDS if not name.startswith("test_")]
    stored = [str(tuple(row)) for name in names for row in await database.fetch(f"SELECT * FROM {name}", [])]
    assert any(secret["id"] in row for row in stored)
    assert not any(text in row for row in stored)


async def test_the_metadata_names_what_the_endpoint_takes(api):
    answer = await api.get("/.well-known/oauth-authorization-server")
    assert answer.status == 200
    found = answer.json()
    assert found["token_endpoint"] == found["issuer"] + "/auth/token"
    assert found["grant_types_supported"] == ["client_credentials"]
    assert set(found["token_endpoint_auth_methods_supported"]) == {
        "client_secret_basic",
        "client_secret_post",
    }
    assert "agents:read" in found["scopes_supported"]
    assert "service_accounts:write" not in found["scopes_supported"]


async def test_an_account_has_a_limit_of_its_own_and_a_refusal_costs_its_address(admin):
    caller = await machine(admin, "agents:read", rate_limit_per_minute=2)
    assert [(await caller.get("/api/v1/agents")).status for _ in range(3)] == [200, 200, 429]
    elsewhere = Api(admin.app, ip="192.0.2.77")
    first = await elsewhere.post("/auth/token", {**GRANT, "client_id": "sac_x", "client_secret": "x"})
    second = await elsewhere.post("/auth/token", {**GRANT, "client_id": "sac_x", "client_secret": "x"})
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert left[1] < left[0]
