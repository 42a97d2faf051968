"""Nothing but an access token of ours, as it was issued, opens anything: always 401, never a fault."""

import base64
import hashlib
import hmac
import json
import time
import zlib

import pytest

from retinue.kit.tokens import AUDIENCE
from tests.client import Api
from tests.conftest import START
from tests.factories.people import PASSWORD, People

pytestmark = pytest.mark.either_database

ROUTE = "/auth/me"
MISSING = object()


def b64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class Forger:
    """Someone who holds our signing key and still has to follow the rules."""

    def __init__(self, service, token: str) -> None:
        self.kid, self.key = service.instance.tokens.keys.active
        self.token = token
        body = token.split(".")[1]
        self.claims = json.loads(base64.urlsafe_b64decode(body + "==="))
        self.header = {"alg": "HS256", "kid": self.kid, "typ": "JWT"}

    def write(self, header: dict | None = None, key: bytes | None = None, **changes: object) -> str:
        claims = {name: value for name, value in (self.claims | changes).items() if value is not MISSING}
        parts = [b64(json.dumps(part).encode()) for part in ({**self.header, **(header or {})}, claims)]
        signing_input = ".".join(parts)
        mark = hmac.digest(self.key if key is None else key, signing_input.encode(), hashlib.sha256)
        return f"{signing_input}.{b64(mark)}"


@pytest.fixture
async def me(people: People) -> Api:
    return await people.signed_in()


@pytest.fixture
def forger(service, me: Api) -> Forger:
    return Forger(service, me.token)


async def reason(api: Api, token: str) -> str:
    started = time.perf_counter()
    answer = await api.get(ROUTE, headers={"Authorization": f"Bearer {token}"})
    assert time.perf_counter() - started < 0.5
    assert (answer.status, answer.code) == (401, "unauthorized"), answer
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["x-ratelimit-limit"]
    return answer.details["reason"]


async def test_the_forgers_own_pen_writes_valid_tokens(api, forger):
    """Otherwise every refusal below would prove nothing."""
    answer = await api.get(ROUTE, headers={"Authorization": f"Bearer {forger.write()}"})
    assert answer.status == 200


async def test_no_other_algorithm_is_accepted(api, forger):
    for alg in ("none", "None", "nOnE", "NONE", "", "HS384", "HS512", "RS256", "EdDSA", None):
        signed = forger.write({"alg": alg})
        unsigned = signed.rpartition(".")[0]
        for token in (signed, unsigned + ".", unsigned):
            assert await reason(api, token) == "invalid_token", alg


HEADERS = [
    {"kid": "../../dev/null"},
    {"kid": "' OR 1"},
    {"kid": ""},
    {"kid": None},
    {"jku": "https://evil.example/keys"},
    {"x5u": "https://evil.example/cert"},
    {"jwk": {"kty": "oct", "k": "AAAA"}},
    {"crit": ["exp"]},
    {"zip": "DEF"},
]


async def test_no_other_header_is_accepted(api, forger):
    for header in HEADERS:
        assert await reason(api, forger.write(header)) == "invalid_token", header
        assert await reason(api, forger.write(header, key=b"")) == "invalid_token", header


CLAIMS = [
    {"exp": "1900000000"},
    {"exp": 1.9e9},
    {"exp": 1e20},
    {"exp": None},
    {"exp": MISSING},
    {"aud": MISSING},
    {"aud": "other"},
    {"aud": [AUDIENCE]},
    {"iss": "https://evil.example"},
    {"nbf": 2_000_000_000},
    {"iat": 2_000_000_000},
    {"typ": "refresh"},
    {"typ": "reset"},
    {"typ": "verify"},
    {"typ": "mfa"},
    {"typ": MISSING},
    {"sub": MISSING},
    {"tid": MISSING},
    {"sid": None},
]


async def test_every_claim_is_checked(api, forger):
    for changes in CLAIMS:
        assert await reason(api, forger.write(**changes)) == "invalid_token", changes


async def test_an_end_in_the_past_is_expired(api, forger):
    for exp in (-1, 0, 1, int(START)):
        assert await reason(api, forger.write(exp=exp)) == "token_expired"


async def test_a_signature_by_another_key_is_refused(api, forger):
    for key in (
        b"",
        b"secret",
        b"changeme",
        bytes(32),
        forger.kid.encode(),
        forger.key[:-1] + bytes([forger.key[-1] ^ 1]),
    ):
        assert await reason(api, forger.write(key=key)) == "invalid_token"


async def test_a_truncated_or_changed_token_is_refused(api, me):
    token = me.token
    head, body, tail = token.split(".")
    spellings = [token[:-1], token[: len(token) // 2], head, f"{head}.{body}", f"{head}.{body}."]
    spellings += [f"{head}..{tail}", f".{body}.{tail}", f"{token}.x", f"{token}=", token.swapcase()]
    spellings += ["null", "undefined", "0", "[]", "{}", "a.b.c", "..", token.replace(".", "%2e")]
    for spelling in spellings:
        assert await reason(api, spelling) == "invalid_token", spelling


async def test_an_oversized_or_encrypted_token_is_refused(api, forger):
    bomb = b64(zlib.compress(bytes(1_000_000)))
    header = b64(json.dumps({"alg": "dir", "enc": "A256GCM", "zip": "DEF"}).encode())
    jwe = f"{header}..{b64(bytes(12))}.{bomb}.{b64(bytes(16))}"
    long = [forger.write(extra={"x": "y" * size}) for size in (10_000, 1_000_000)]
    for token in (jwe, *long, "a" * 10_000, "a" * 1_000_000):
        assert await reason(api, token) == "invalid_token"


async def test_a_token_of_another_kind_opens_nothing(api, people):
    user = await people.user()
    tokens = (await api.post("/auth/login", {"email": user.email, "password": PASSWORD})).json()
    assert await reason(api, tokens["refresh_token"]) == "invalid_token"
    assert await reason(api, "emb_" + "a" * 40) == "invalid_token"
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.update(user, mfa_enabled=True)
    pending = (await api.post("/auth/login", {"email": user.email, "password": PASSWORD})).json()
    assert await reason(api, pending["mfa_token"]) == "invalid_token"
    as_refresh = await api.post("/auth/refresh", {"refresh_token": tokens["access_token"]})
    assert (as_refresh.status, as_refresh.details) == (401, {"reason": "invalid_refresh_token"})


async def test_a_session_of_another_tenant_cannot_be_claimed(api, people, forger):
    """Even with our key, the session must be where the token says."""
    other = await people.tenant("Other")
    assert await reason(api, forger.write(tid=other.id)) == "session_ended"
    assert await reason(api, forger.write(sid="ses_unknown")) == "session_ended"


async def test_the_user_is_the_sessions_user_whatever_the_token_says(api, people, me, forger):
    admin = await people.super_admin()
    token = forger.write(sub=admin.user.id, extra={"role": "super_admin", "permissions": ["admin:users"]})
    shown = await api.get(ROUTE, headers={"Authorization": f"Bearer {token}"})
    assert (shown.json()["id"], shown.json()["role"]) == (me.user.id, "agent_user")


async def test_a_header_that_is_no_bearer_token_opens_nothing(api, me):
    for header in (
        "",
        "Bearer",
        "Bearer ",
        "Basic dXNlcjpwYXNz",
        f"Token {me.token}",
        me.token,
        f"Bearer Bearer {me.token}",
    ):
        answer = await api.get(ROUTE, headers={"Authorization": header})
        assert (answer.status, answer.details) == (401, {"reason": "invalid_token"}), header


async def test_a_token_anywhere_else_opens_nothing(api, me):
    carriers = [
        {"Cookie": f"access_token={me.token}; token={me.token}; session={me.token}"},
        {"X-API-Key": me.token},
        {"X-Access-Token": me.token},
        {"Proxy-Authorization": f"Bearer {me.token}"},
    ]
    for headers in carriers:
        answer = await api.get(ROUTE, headers=headers)
        assert (answer.status, answer.details) == (401, {"reason": "missing_token"})
    for name in ("access_token", "api_key", "token", "authorization"):
        answer = await api.get(ROUTE, query={name: me.token})
        assert answer.status == 401


async def test_the_scheme_is_spelled_in_any_case(api, me):
    for scheme in ("bearer", "BEARER", "Bearer"):
        answer = await api.get(ROUTE, headers={"Authorization": f"{scheme} {me.token}"})
        assert answer.status == 200
