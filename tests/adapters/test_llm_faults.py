"""Providers that refuse, hang, break or answer nonsense: always a ModelError that says what to do next."""

import asyncio
import base64
import json
import logging
import traceback
import urllib.parse

import pytest

from retinue.adapters.llm import (
    Audio,
    ModelError,
    ModelTimeout,
    ProviderAccess,
    Timeouts,
    is_retryable,
    provider_for,
)
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import Invalid
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK
from tests.adapters.llm_server import KEY, hanging, refusing, resetting, sending, serve_and_connect, user

BOTH = pytest.mark.parametrize("kind", ["openai_compatible", "anthropic"])
WAYS = pytest.mark.parametrize("way", ["chat", "stream"])
RATE_LIMITED = {"error": {"message": "Slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
DATE = "Sun, 15 Nov 2026 12:00:00 GMT"


async def ask(provider, way: str) -> None:
    if way == "chat":
        await provider.chat(user("Hello"))
    else:
        async for _ in provider.stream(user("Hello")):
            pass


async def failure(provider, way="chat") -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(provider, way)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


@BOTH
@WAYS
@pytest.mark.parametrize(
    ("status", "meant", "again", "next_key"),
    [
        (400, "invalid_request", False, False),
        (401, "auth", False, True),
        (402, "quota", False, True),
        (403, "auth", False, True),
        (404, "invalid_request", False, False),
        (413, "invalid_request", False, False),
        (422, "invalid_request", False, False),
        (429, "rate_limited", True, True),
        (500, "overloaded", True, True),
        (502, "overloaded", True, True),
        (503, "overloaded", True, True),
        (504, "overloaded", True, True),
        (529, "overloaded", True, True),
        (302, "bad_answer", False, False),
    ],
)
async def test_each_status_has_its_meaning(kind, way, status, meant, again, next_key):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(refusing(status, {"error": {"message": "No  such\nluck"}}))
        error = await failure(provider, way)
        assert (error.kind, error.provider_status) == (meant, status)
        assert (error.retryable, is_retryable(error), error.other_key_may_help) == (again, again, next_key)
        assert (error.status, error.code, error.details) == (502, "model_error", {"kind": meant})
        assert error.message.endswith(f"({status}): No such luck")
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry_After": "7"}, 7),
        ({"Retry_After": " 1.5 "}, 1.5),
        ({"Retry_After": "0"}, 0),
        ({"Retry_After": "1000000000"}, 300),
        ({"Retry_After": "9" * 60}, 300),
        ({"Retry_After": "-5"}, None),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After": "1e3"}, None),
        ({"Retry_After": "inf"}, None),
        ({"Retry_After": "٣"}, None),
        ({"Retry_After_Ms": "250", "Retry_After": "9"}, 0.25),
        ({"Retry_After": "Sun, 15 Nov 2026 12:00:09 GMT", "Date": DATE}, 9),
        ({"Retry_After": "Sun, 15 Nov 2026 11:00:00 GMT", "Date": DATE}, 0),
        ({"Retry_After": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": DATE}, 300),
        ({"Retry_After": "Sun, 15 Nov 2026 12:00:09 GMT"}, 0),
        ({"Retry_After": "Fri, 15 Jan 2027 08:01:00 GMT"}, pytest.approx(60, abs=1)),
        ({"Retry_After": "Sun, 99 Nov 2026 12:00:09 GMT", "Date": DATE}, None),
    ],
)
async def test_the_pause_a_provider_asks_for_is_read_and_bounded(headers, seconds):
    async with serve_and_connect() as (server, provider):
        server.fails(refusing(429, RATE_LIMITED, **headers))
        error = await failure(provider)
        assert (error.kind, error.retry_after_s) == ("rate_limited", seconds)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "."),
        (b"<html><body>Bad gateway</body></html>", "."),
        (b"upstream connect error", ": upstream connect error"),
        ({"message": "Unauthorized", "request_id": "x"}, ": Unauthorized"),
        ({"detail": [{"msg": "Extra inputs"}]}, ': [{"msg":"Extra inputs"}]'),
        ({"object": "error", "message": {"detail": "Wrong"}}, ": Wrong"),
        ([{"error": {"code": 500, "message": "From Google", "status": "INTERNAL"}}], ": From Google"),
        ({"error": "just text"}, ": just text"),
        ({"error": {}}, ': {"error":{}}'),
        (b'"' + b"x" * 1000, f': "{"x" * 299}'),
        (b"[" * 100_000, None),
        (b"\xff\xfe broken", None),
    ],
)
async def test_the_message_for_people_is_found_in_every_form_of_error(body, told):
    async with serve_and_connect() as (server, provider):
        server.fails(refusing(500, body))
        error = await failure(provider)
        assert error.kind == "overloaded"
        assert told is None or error.message.endswith(f"(500){told}")
        assert len(error.message) < 400


FORMS = {
    "plain": KEY,
    "in a header": f"Authorization: Bearer {KEY}",
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a login": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "urlsafe base64": base64.urlsafe_b64encode(f"x{KEY}x".encode()).decode(),
    "in a URL": f"https://x.example/?key={urllib.parse.quote(KEY, safe='')}",
    "in a form": urllib.parse.urlencode({"k": KEY}),
    "hex": KEY.encode().hex(),
}


@BOTH
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", ["refusal", "plain refusal", "reply", "stream"])
async def test_a_provider_that_repeats_the_key_does_not_get_it_into_an_error(kind, form, place, caplog):
    echo = FORMS[form]
    async with serve_and_connect(kind) as (server, provider):
        said = {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": f"You sent {echo} to us"},
        }
        match place:
            case "refusal":
                server.fails(refusing(401, said))
            case "plain refusal":
                server.fails(refusing(401, f"You sent {echo} to us".encode()))
            case "reply":
                server.fails(refusing(200, said, Content_Type="application/json"))
            case "stream":
                data = b"data: " + json.dumps(said).encode() + b"\n\n"
                server.fails(refusing(200, data, Content_Type="text/event-stream"))
        with caplog.at_level(logging.DEBUG):
            error = await failure(provider, "stream" if place == "stream" else "chat")
        told = "".join(traceback.format_exception(error)) + repr(error) + str(error.details) + caplog.text
        assert "You sent" in error.message
        assert "***" in error.message
        for secret in FORMS.values():
            assert secret.strip("=") not in told
        assert KEY[3:-3] not in told


async def test_neither_client_nor_access_shows_the_key():
    async with Egress(LOOPBACK) as egress:
        access = ProviderAccess(provider="openai", api_key=Secret(KEY))
        provider = provider_for(egress, access, ManualClock())
        assert KEY not in f"{access!r} {provider!r} {vars(provider)!r} {vars(provider._wire)!r}"


@BOTH
@WAYS
async def test_a_reset_before_the_answer_is_unreachable(kind, way):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(resetting())
        error = await failure(provider, way)
        assert (error.kind, error.retryable) == ("unreachable", True)


@BOTH
@WAYS
async def test_a_provider_that_takes_no_connection_is_unreachable(kind, way):
    async with Egress((*LOOPBACK, "127.0.0.1:9")) as egress:
        access = ProviderAccess(provider=kind, api_key=Secret(KEY), base_url="http://127.0.0.1:9/v1")
        error = await failure(provider_for(egress, access, ManualClock()), way)
        assert (error.kind, error.retryable, error.code) == ("unreachable", True, "model_error")
        assert "127.0.0.1" not in error.message


@BOTH
@pytest.mark.parametrize(
    ("way", "timeouts"),
    [
        ("chat", {"unstreamed_s": 0.05}),
        ("stream", {"first_byte_s": 0.05}),
        ("chat", {"total_s": 0.05}),
        ("stream", {"total_s": 0.05}),
    ],
)
async def test_a_provider_that_says_nothing_is_a_timeout(kind, way, timeouts):
    async with serve_and_connect(kind, **timeouts) as (server, provider):
        server.fails(hanging())
        async with asyncio.timeout(5):
            error = await failure(provider, way)
            await server.hung_up.wait()
        assert isinstance(error, ModelTimeout)
        assert (error.status, error.code, error.kind, error.retryable) == (
            504,
            "model_timeout",
            "timeout",
            True,
        )


@WAYS
async def test_an_answer_that_stalls_is_a_timeout(way):
    async with serve_and_connect(between_chunks_s=0.05) as (server, provider):
        server.fails(hanging(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"choices"'))
        async with asyncio.timeout(5):
            assert isinstance(await failure(provider, way), ModelTimeout)


async def test_a_refusal_whose_body_never_comes_is_still_that_refusal():
    async with serve_and_connect(between_chunks_s=0.05) as (server, provider):
        server.fails(hanging(b"HTTP/1.1 429 X\r\nRetry-After: 3\r\nContent-Length: 99\r\n\r\nSlow"))
        error = await failure(provider)
        assert (error.kind, error.retry_after_s) == ("rate_limited", 3)
        assert error.message.endswith("(429): Slow")


async def test_a_refusal_without_end_is_read_no_further_than_its_beginning():
    async with serve_and_connect() as (server, provider):
        endless = b"HTTP/1.1 500 X\r\nConnection: close\r\n\r\n" + b"x" * 5_000_000
        server.fails(sending(endless))
        assert len((await failure(provider)).message) < 400


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>Welcome to the hotel's network</body></html>",
        b'{"choices": [{"message": {"content": "cut',
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b'{"choices": "none", "content": 7}',
        b'{"choices": []}',
        b'{"choices": null, "content": null}',
        b'{"choices": [{"message": {"content": 5}}], "content": [5]}',
        b'{"choices": [{"message": {"content": "\xff"}}], "content": [{"type": "\xff"}]}',
        b'{"choices": ' + b"[" * 100_000,
        b"\x00\x01\x02",
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
async def test_nonsense_with_a_good_status_is_a_bad_answer(kind, body, content_type):
    async with serve_and_connect(kind) as (server, provider):
        for way in ("chat", "stream"):
            server.fails(refusing(200, body, Content_Type=content_type))
            error = await failure(provider, way)
            assert (error.kind, error.retryable, error.status) == ("bad_answer", False, 502)


async def test_an_answer_larger_than_allowed_is_a_bad_answer():
    async with serve_and_connect() as (server, provider):
        server.fails(sending(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n"))
        assert (await failure(provider)).kind == "bad_answer"


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 7, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": -1, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
        [{"index": 0, "embedding": ["a"]}, {"index": 1, "embedding": ["b"]}],
    ],
)
async def test_embeddings_that_do_not_fit_the_texts_are_a_bad_answer(data):
    async with serve_and_connect() as (server, provider):
        server.fails(refusing(200, {"data": data}))
        with pytest.raises(ModelError) as caught:
            await provider.embed("m", ["a", "b"])
        assert caught.value.kind == "bad_answer"


async def test_the_other_operations_fail_in_the_same_words():
    async with serve_and_connect() as (server, provider):
        for operation in (
            lambda: provider.embed("m", ["a"]),
            lambda: provider.transcribe("m", Audio(b"x", "x.mp3", "audio/mpeg")),
            provider.models,
            lambda: anext(provider.speak("m", "Hi", voice="v")),
        ):
            server.fails(refusing(429, RATE_LIMITED), refusing(200, b"<html>", Content_Type="text/html"))
            for meant in ("rate_limited", "bad_answer"):
                with pytest.raises(ModelError) as caught:
                    await operation()
                assert caught.value.kind == meant


async def test_a_refused_destination_is_not_the_providers_fault():
    async with Egress() as egress:
        for base_url in ("http://127.0.0.1:8000/v1", "http://93.184.216.34/v1"):
            access = ProviderAccess(provider="openai_compatible", api_key=Secret(KEY), base_url=base_url)
            with pytest.raises(EgressRefused):
                await provider_for(egress, access, ManualClock()).models()


@pytest.mark.parametrize(
    ("access", "field"),
    [
        ({"provider": "local", "api_key": Secret("")}, "provider"),
        ({"provider": "nobody", "api_key": Secret("x")}, "provider"),
        ({"provider": "openai", "api_key": Secret("")}, "api_key"),
        ({"provider": "azure_openai", "api_key": Secret("x")}, "base_url"),
        ({"provider": "bedrock", "api_key": Secret("x")}, "base_url"),
        ({"provider": "openai_compatible", "api_key": Secret("")}, "base_url"),
        ({"provider": "openai", "api_key": Secret("x"), "base_url": "https://x.example/v1?a=b"}, "base_url"),
    ],
)
async def test_a_key_that_cannot_be_used_is_refused_before_anything_is_sent(access, field):
    async with Egress() as egress:
        with pytest.raises(Invalid) as caught:
            provider_for(egress, ProviderAccess(**access), ManualClock(), timeouts=Timeouts())
        assert list(caught.value.details) == [field]
