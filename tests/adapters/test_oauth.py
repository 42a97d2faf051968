"""Tokens are asked for over HTTP of a token endpoint that behaves well, badly, or like real ones do."""

import asyncio
import base64
import contextlib
import json
import re
import urllib.parse

import pytest

from retinue.adapters.oauth import OAuthFailed, OAuthToken, request_token
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK
from tests.kit.egress_listener import listening, reply

CLIENT_ID = "client:1 ü"
CLIENT_SECRET = "s3cr3t/+& ümlaut%41"
REFRESH_TOKEN = "r3fr3sh-t0ken-0815"
GRANTED = {"access_token": "at-1", "token_type": "Bearer", "expires_in": 3600}


def token_answer(fields, status=200, **headers):
    body = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    return reply(body, status, Connection="close", Cache_Control="no-store", **headers)


class TokenServer:
    """Knows one client, by Basic, by the body or by both, and answers what a test says once it knows it."""

    def __init__(self, knows=("basic", "body"), granted=None, unknown=None):
        self.knows = knows
        self.granted = token_answer(granted or GRANTED) if not isinstance(granted, bytes) else granted
        self.unknown = unknown or token_answer({"error": "invalid_client"}, 401, WWW_Authenticate="Basic")
        self.forms = []
        self.listener = None

    async def __call__(self, writer):
        head, body = self.listener.heads[-1], self.listener.bodies[-1].decode()
        form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
        self.forms.append(form)
        assert "Content-Type: application/x-www-form-urlencoded\r\n" in head
        assert "Accept: application/json\r\n" in head
        writer.write(self.granted if self._client(head, form) == (CLIENT_ID, CLIENT_SECRET) else self.unknown)
        await writer.drain()

    def _client(self, head, form):
        basic = re.search(r"Authorization: Basic (\S+)", head)
        if basic and "basic" in self.knows:
            pair = base64.b64decode(basic[1]).decode().split(":")
            return tuple(urllib.parse.unquote_plus(part) for part in pair)
        if "body" in self.knows:
            return form.get("client_id"), form.get("client_secret")
        return None


@contextlib.asynccontextmanager
async def serve_tokens(answer):
    async with Egress(LOOPBACK) as egress, listening(answer) as listener:
        if isinstance(answer, TokenServer):
            answer.listener = listener

        async def ask(**options):
            given = {
                "token_url": f"{listener.url}/token?tenant=a",
                "client_id": CLIENT_ID,
                "client_secret": Secret(CLIENT_SECRET),
                "grant": "client_credentials",
                "timeout_s": 5,
            }
            return await request_token(egress, **{**given, **options})

        ask.listener = listener
        yield ask


async def failure(asking) -> OAuthFailed:
    with pytest.raises(OAuthFailed) as caught:
        await asking
    failed = caught.value
    assert failed.__cause__ is None
    return failed


async def test_client_credentials_give_a_token():
    server = TokenServer(granted={**GRANTED, "scope": "a b", "refresh_token": "rt-1"})
    async with serve_tokens(server) as ask:
        token = await ask(scopes=["a", "b"])
    assert token == OAuthToken(
        access_token=Secret("at-1"),
        token_type="Bearer",
        expires_in_s=3600,
        refresh_token=Secret("rt-1"),
        scope="a b",
    )
    assert server.forms == [{"grant_type": "client_credentials", "scope": "a b"}]
    assert "at-1" not in repr(token)
    assert "rt-1" not in repr(token)


async def test_a_refresh_token_gives_a_token():
    server = TokenServer()
    async with serve_tokens(server) as ask:
        token = await ask(grant="refresh_token", refresh_token=Secret(REFRESH_TOKEN))
        assert (token.refresh_token, token.scope) == (None, None)
        assert server.forms == [{"grant_type": "refresh_token", "refresh_token": REFRESH_TOKEN}]
        for missing in (None, Secret("")):
            failed = await failure(ask(grant="refresh_token", refresh_token=missing))
            assert (failed.kind, failed.permanent) == ("invalid_request", True)
        assert len(server.forms) == 1


async def test_a_refresh_token_is_not_sent_with_another_grant():
    server = TokenServer()
    async with serve_tokens(server) as ask:
        await ask(refresh_token=Secret(REFRESH_TOKEN))
    assert server.forms == [{"grant_type": "client_credentials"}]


@pytest.mark.parametrize(
    ("knows", "client_auth", "requests"),
    [
        (["basic"], None, 1),
        (["body"], None, 2),
        (["basic"], "basic", 1),
        (["body"], "body", 1),
        (["basic", "body"], "body", 1),
    ],
)
async def test_the_client_introduces_itself_as_the_server_wants_it(knows, client_auth, requests):
    server = TokenServer(knows)
    async with serve_tokens(server) as ask:
        await ask(client_auth=client_auth)
    assert len(server.forms) == requests


@pytest.mark.parametrize(("knows", "client_auth"), [(["basic"], "body"), (["body"], "basic")])
async def test_a_way_that_was_chosen_is_the_only_one_tried(knows, client_auth):
    server = TokenServer(knows)
    async with serve_tokens(server) as ask:
        assert (await failure(ask(client_auth=client_auth))).kind == "invalid_client"
    assert len(server.forms) == 1


async def test_a_client_without_a_secret_gives_its_name_in_the_body():
    server = TokenServer()
    async with serve_tokens(server) as ask:
        await failure(ask(client_secret=None))
    assert server.forms == [{"grant_type": "client_credentials", "client_id": CLIENT_ID}]
    assert "Authorization" not in server.listener.heads[0]


async def test_the_telling_failure_of_two_is_reported():
    """A wrong secret where only Basic is known, and a revoked grant where only the body is read."""
    no_client = token_answer({"error": "invalid_request"}, 400)
    async with serve_tokens(TokenServer(["basic"])) as ask:
        failed = await failure(ask(client_secret=Secret("wrong-wrong")))
        assert (failed.kind, failed.permanent) == ("invalid_client", True)
    server = TokenServer(["body"], granted=token_answer({"error": "invalid_grant"}, 400), unknown=no_client)
    async with serve_tokens(server) as ask:
        failed = await failure(ask(grant="refresh_token", refresh_token=Secret(REFRESH_TOKEN)))
        assert (failed.kind, failed.permanent) == ("invalid_grant", True)


@pytest.mark.parametrize(
    ("answer", "kind", "permanent"),
    [
        (token_answer({"error": "invalid_client"}, 401), "invalid_client", True),
        (token_answer({"error": "invalid_grant"}, 400), "invalid_grant", True),
        (token_answer({"error": "invalid_scope"}, 400), "invalid_scope", True),
        (token_answer({"error": "unsupported_grant_type"}, 400), "unsupported_grant_type", True),
        (token_answer({"error": "invalid_grant"}, 200), "invalid_grant", True),
        (token_answer({"error": "bad_refresh_token"}, 200), "refused", True),
        (token_answer({"error": {"message": "no"}}, 400), "refused", True),
        (token_answer({"error": None}, 400), "refused", True),
        (token_answer(b"", 401), "invalid_client", True),
        (token_answer(b"<html>", 403), "invalid_client", True),
        (token_answer(b"not found", 404), "refused", True),
        (token_answer({"error": "temporarily_unavailable"}, 400), "server_error", False),
        (token_answer({"error": "slow_down"}, 429, Retry_After="5"), "rate_limited", False),
        (token_answer(b"", 429), "rate_limited", False),
        (token_answer(b"", 408), "server_error", False),
        (token_answer(b"<html>oops", 500), "server_error", False),
        (token_answer({"error": "invalid_grant"}, 503), "server_error", False),
        (token_answer(b"<html>hello"), "invalid_response", False),
        (token_answer(b""), "invalid_response", False),
        (token_answer(b"\xff\xfe"), "invalid_response", False),
        (token_answer(b"[" * 100_000), "invalid_response", False),
        (token_answer([]), "invalid_response", False),
        (token_answer({}), "invalid_response", False),
        (token_answer({**GRANTED, "access_token": ""}), "invalid_response", False),
        (token_answer({**GRANTED, "access_token": 5}), "invalid_response", False),
        (token_answer({**GRANTED, "access_token": "a\r\nX: b"}), "invalid_response", False),
        (token_answer({**GRANTED, "access_token": "a" * 20_000}), "invalid_response", False),
        (token_answer(b"x" * 300_000), "output_too_large", False),
        (token_answer(b"", 302, Location="/token"), "invalid_response", True),
        (b"nonsense\r\n\r\n", "network_error", False),
        (b"HTTP/1.1 200 X\r\nContent-Length: 50\r\n\r\n{", "network_error", False),
    ],
)
async def test_each_failure_says_its_kind_and_whether_it_will_last(answer, kind, permanent):
    async def give(writer):
        writer.write(answer)
        await writer.drain()

    async with serve_tokens(give) as ask:
        failed = await failure(ask(client_auth="body"))
        assert (failed.kind, failed.permanent) == (kind, permanent)


async def test_a_redirect_is_not_followed_with_the_secret():
    async with listening() as trap, serve_tokens(token_answer(b"", 307, Location=f"{trap.url}/token")) as ask:
        await failure(ask())
        assert trap.connections == 0


async def test_a_slow_endpoint_is_left_in_time():
    async def hang(writer):
        await asyncio.Event().wait()

    async with serve_tokens(hang) as ask:
        failed = await failure(ask(timeout_s=0.1))
        assert (failed.kind, failed.permanent) == ("timeout", False)


async def test_an_address_nobody_may_reach_is_not_asked():
    async with Egress() as egress, listening() as trap:
        for url in (f"{trap.url}/token", f"https://127.0.0.1:{trap.port}/token"):
            failed = await failure(
                request_token(
                    egress,
                    token_url=url,
                    client_id=CLIENT_ID,
                    client_secret=Secret(CLIENT_SECRET),
                    grant="client_credentials",
                    timeout_s=5,
                )
            )
            assert (failed.kind, failed.permanent) == ("ssrf_blocked", True)
        assert trap.connections == 0


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (3600, 3600),
        ("3600", 3600),
        (3599.9, 3599),
        (10**30, 315_360_000),
        (1e300, 315_360_000),
        (0, None),
        (-1, None),
        ("-1", None),
        ("soon", None),
        ("9" * 50, None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
async def test_a_lifetime_is_understood_or_left_open(given, understood):
    async with serve_tokens(token_answer({**GRANTED, "expires_in": given})) as ask:
        assert (await ask()).expires_in_s == understood


@pytest.mark.parametrize(
    ("fields", "token_type", "scope"),
    [
        ({"token_type": None, "scope": ["a", "b"]}, "Bearer", "a b"),
        ({"token_type": "bearer", "scope": 5}, "bearer", None),
        ({"token_type": "a\nb", "scope": "x" * 5000}, "Bearer", None),
    ],
)
async def test_odd_fields_do_not_cost_the_token(fields, token_type, scope):
    async with serve_tokens(
        token_answer({**GRANTED, **fields, "refresh_token": 7, "id_token": "more"})
    ) as ask:
        token = await ask()
    assert (token.token_type, token.scope, token.refresh_token) == (token_type, scope, None)


def echoes(secret):
    raw = secret.encode()
    return [
        secret,
        urllib.parse.quote(secret),
        urllib.parse.quote_plus(secret),
        base64.b64encode(raw).decode(),
        base64.b64encode(f"{CLIENT_ID}:{secret}".encode()).decode(),
        raw.hex(),
    ]


@pytest.mark.parametrize("secret", [CLIENT_SECRET, REFRESH_TOKEN])
async def test_a_secret_the_server_echoes_is_not_repeated(secret):
    for echo in echoes(secret):
        said = f"the value {echo} is wrong, {'x' * 270} really: {echo}"
        for fields in (
            {"error": "invalid_grant", "error_description": said},
            {"error": echo, "error_description": "no"},
        ):
            async with serve_tokens(token_answer(fields, 400)) as ask:
                failed = await failure(ask(grant="refresh_token", refresh_token=Secret(REFRESH_TOKEN)))
            assert echo not in failed.message
            assert secret not in str(failed)


async def test_what_the_server_says_is_passed_on_but_not_beside_a_secret_too_short_to_be_found():
    fields = {"error": "invalid_grant", "error_description": "the token abc was revoked"}
    async with serve_tokens(token_answer(fields, 400)) as ask:
        said = await failure(ask())
        unsaid = await failure(ask(client_secret=Secret("abc")))
    assert said.message.endswith("It says: the token abc was revoked")
    assert unsaid.message == "The token endpoint rejected the request: invalid_grant (status 400)."
