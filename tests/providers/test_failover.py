"""Asking a model by several keys: the next one takes over, until something of an answer has gone on."""

import asyncio
from contextlib import aclosing, suppress

import pytest
from structlog.testing import capture_logs

from retinue.adapters.llm import (
    Audio,
    ChatRequest,
    ModelError,
    ModelMessage,
    ModelTimeout,
    ReplyFinished,
    TextDelta,
    Timeouts,
)
from retinue.kit.egress import EgressRefused
from retinue.kit.text.redaction import MASK
from retinue.providers import circuit_breakers, failover, model_calls
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.models import ProviderKey
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, hanging, refusing, resetting, streaming
from tests.factories.happenings import events, only_event
from tests.factories.people import People
from tests.factories.providers import PATH, add_key, add_key_for
from tests.factories.spending import unlimited_hold

pytestmark = pytest.mark.either_database

MODEL = "openai_compatible/gpt-4o-mini"
WRONG = "sk-wrong-0123456789-CANARY-abcd"
INVALIDATED = "system.api_key.invalidated"


def request(text: str = "Hello", model: str = MODEL) -> ChatRequest:
    return ChatRequest(model=model, messages=(ModelMessage(role="user", content=text),))


async def ask_model(ctx, **more) -> str:
    return (await model_calls.chat(ctx, request(**more), hold=unlimited_hold())).text


async def stream_reply(ctx) -> str:
    deltas = [delta async for delta in model_calls.stream(ctx, request(), hold=unlimited_hold())]
    assert isinstance(deltas[-1], ReplyFinished)
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def read(person, key) -> dict:
    return (await person.get(f"{PATH}/{key['id']}")).json()


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch) -> None:
    monkeypatch.setattr(failover, "FIRST_RETRY_SECONDS", 0.001)


@pytest.fixture
async def two_keys(admin, provider, second):
    """A key of each server; the first server is asked first."""
    first = await add_key_for(admin, provider, name="First", priority=1)
    return first, await add_key_for(admin, second, name="Second", priority=2)


async def test_a_reply_names_the_model_as_the_catalogue_does(admin, ctx, provider) -> None:
    key = await add_key_for(admin, provider)
    reply = await model_calls.chat(ctx, request(), hold=unlimited_hold())
    assert (reply.text, reply.model) == ("You said: Hello", MODEL)
    assert provider.last.json["model"] == "gpt-4o-mini"
    assert (await read(admin, key))["last_used_at"] > key["created_at"]
    *_, done = [delta async for delta in model_calls.stream(ctx, request(), hold=unlimited_hold())]
    assert (done.reply.text, done.reply.model) == ("You said: Hello", MODEL)


async def test_anthropic_is_asked_in_its_own_words(admin, ctx, provider) -> None:
    await add_key_for(admin, provider, provider="anthropic")
    assert await ask_model(ctx, model="anthropic/claude-sonnet-4-5") == "You said: Hello"
    assert provider.last.path == "/v1/messages"


@pytest.mark.parametrize("ask", [ask_model, stream_reply])
@pytest.mark.parametrize(
    "fault",
    [
        refusing(401, {"error": {"message": f"bad key {KEY}"}}),
        refusing(429),
        refusing(429, b"", Retry_After="1000000000"),
        refusing(500),
        refusing(503, b"<html>"),
        resetting(),
    ],
    ids=["401", "429", "429 for long", "500", "503", "reset"],
)
async def test_the_next_key_answers_when_the_first_cannot(
    ctx, provider, second, two_keys, fault, ask
) -> None:
    provider.fails(fault)
    assert await ask(ctx) == "You said: Hello"
    assert (len(provider.requests), len(second.requests)) == (1, 1)


async def test_an_address_that_may_not_be_called_hands_over_too(make_service, second) -> None:
    allowed = f"127.0.0.1:{second.port}"
    service = await make_service(base_url="https://retinue.example.com", egress_allow=(allowed,))
    people = People(service)
    admin = await people.super_admin()
    refused = await add_key(admin, provider="openai_compatible", base_url="http://10.0.0.1/v1")
    async with people.context(admin.user.tenant_id) as ctx:
        with pytest.raises(EgressRefused):
            await ask_model(ctx)
        await add_key_for(admin, second, priority=9)
        assert await ask_model(ctx) == "You said: Hello"
    assert (await read(admin, refused))["last_used_at"] is None


async def test_a_refused_key_is_marked_told_and_asked_last(admin, people, ctx, provider, second) -> None:
    first = await add_key_for(admin, provider, api_key=WRONG, is_default=True)
    await add_key_for(admin, second)
    with capture_logs() as logs:
        assert await ask_model(ctx) == "You said: Hello"
    assert (await read(admin, first))["is_valid"] is False
    told = await only_event(people, INVALIDATED)
    assert told["api_key_id"] == first["id"]
    assert MASK in told["reason"]
    assert WRONG not in repr(told)
    assert WRONG not in repr(logs)
    await ask_model(ctx)
    assert (len(provider.requests), len(second.requests)) == (1, 2)


@pytest.mark.parametrize("status", [402, 403])
async def test_a_key_without_money_or_leave_is_passed_over_but_not_marked(
    admin, ctx, provider, second, two_keys, status
) -> None:
    provider.fails(refusing(status))
    assert await ask_model(ctx) == "You said: Hello"
    assert (await read(admin, two_keys[0]))["is_valid"] is True
    assert len(second.requests) == 1


async def test_a_refused_key_that_answers_again_is_valid_again(admin, people, ctx, provider) -> None:
    key = await add_key_for(admin, provider)
    provider.fails(refusing(401))
    with pytest.raises(ModelError):
        await ask_model(ctx)
    assert (await read(admin, key))["is_valid"] is False
    assert await ask_model(ctx) == "You said: Hello"
    assert (await read(admin, key))["is_valid"] is True
    assert len(await events(people, INVALIDATED)) == 1


async def test_a_refusal_of_the_old_key_says_nothing_of_the_new_one(admin, people, ctx, provider) -> None:
    key = await add_key_for(admin, provider, api_key=WRONG)

    async def change_meanwhile(reader, writer) -> None:
        await admin.put(f"{PATH}/{key['id']}", {"api_key": KEY})
        await refusing(401)(reader, writer)

    provider.fails(change_meanwhile)
    with pytest.raises(ModelError):
        await ask_model(ctx)
    assert (await read(admin, key))["is_valid"] is True
    assert await events(people, INVALIDATED) == []


async def test_what_may_pass_is_tried_twice_more(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)
    provider.fails(refusing(503), refusing(429, b"", Retry_After="0"))
    assert await ask_model(ctx) == "You said: Hello"
    assert len(provider.requests) == 3


async def test_then_the_last_error_is_answered(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)
    provider.fails(*[refusing(503, {"error": {"message": f"No, {KEY}!"}})] * 3)
    with pytest.raises(ModelError) as caught:
        await ask_model(ctx)
    assert (caught.value.status, caught.value.code) == (502, "model_error")
    assert KEY not in str(caught.value)
    assert len(provider.requests) == 3


@pytest.mark.parametrize("fault", [refusing(429, b"", Retry_After="3600"), refusing(401)])
async def test_what_will_not_pass_soon_is_not_tried_again(admin, ctx, provider, fault) -> None:
    await add_key_for(admin, provider)
    provider.fails(fault)
    with pytest.raises(ModelError):
        await ask_model(ctx)
    assert len(provider.requests) == 1


async def test_what_is_wrong_with_the_question_is_not_asked_elsewhere(
    ctx, provider, second, two_keys
) -> None:
    provider.fails(refusing(400, {"error": {"message": "Too long"}}))
    with pytest.raises(ModelError, match="Too long"):
        await ask_model(ctx)
    assert (len(provider.requests), len(second.requests)) == (1, 0)


async def test_nothing_is_repeated_once_text_has_gone_on(ctx, provider, second, two_keys) -> None:
    seen = asyncio.Event()
    chunk = b'data: {"choices":[{"delta":{"content":"Once upon"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    provider.fails(resetting(head + b"%x\r\n%b\r\n" % (len(chunk), chunk), after=seen))
    deltas = model_calls.stream(ctx, request(), hold=unlimited_hold())
    assert await anext(deltas) == TextDelta("Once upon")
    seen.set()
    with pytest.raises(ModelError):
        await anext(deltas)
    assert second.requests == []


async def test_a_stream_that_is_left_hangs_up(ctx, provider, two_keys) -> None:
    chunk = b'data: {"choices":[{"delta":{"content":"Once upon"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    provider.fails(hanging(head + b"%x\r\n%b\r\n" % (len(chunk), chunk)))
    async with aclosing(model_calls.stream(ctx, request(), hold=unlimited_hold())) as deltas:
        async for _ in deltas:
            break
    async with asyncio.timeout(5):
        await provider.hung_up.wait()


async def test_a_key_that_keeps_failing_rests_and_is_tried_out_after(
    ctx, clock, provider, second, two_keys
) -> None:
    provider.fails(*[refusing(500)] * circuit_breakers.MAX_FAILURES)
    for _ in range(circuit_breakers.MAX_FAILURES + 3):
        assert await ask_model(ctx) == "You said: Hello"
    assert (len(provider.requests), len(second.requests)) == (5, 8)
    clock.advance(circuit_breakers.OPEN_SECONDS + 1)
    assert await ask_model(ctx) == "You said: Hello"
    assert (len(provider.requests), len(second.requests)) == (6, 8)


async def test_the_only_key_is_asked_however_often_it_failed(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)
    provider.fails(*[refusing(500)] * 6)
    for _ in range(2):
        with pytest.raises(ModelError):
            await ask_model(ctx)
    assert await ask_model(ctx) == "You said: Hello"


async def test_a_model_that_rests_is_passed_over_if_there_is_another(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)
    provider.fails(*[refusing(500)] * 6)
    for _ in range(2):
        with pytest.raises(ModelError):
            await model_calls.chat(ctx, request(), hold=unlimited_hold(), has_fallback=True)
    assert len(provider.requests) == circuit_breakers.MAX_FAILURES
    with pytest.raises(ModelError, match="failed repeatedly") as raised:
        await model_calls.chat(ctx, request(), hold=unlimited_hold(), has_fallback=True)
    assert len(provider.requests) == circuit_breakers.MAX_FAILURES
    assert raised.value.headers == {"Retry-After": "30"}


async def test_when_all_keys_rest_one_is_asked_all_the_same(ctx, provider, second, two_keys) -> None:
    for server in (provider, second):
        server.fails(*[refusing(500)] * circuit_breakers.MAX_FAILURES)
    for _ in range(4):
        with suppress(ModelError):
            await ask_model(ctx)
    assert await ask_model(ctx) == "You said: Hello"


async def test_a_slow_model_is_not_a_broken_one(admin, ctx, provider, monkeypatch) -> None:
    await add_key_for(admin, provider)
    with monkeypatch.context() as impatient:
        impatient.setattr(failover, "TIMEOUTS", Timeouts(first_byte_s=0.05, unstreamed_s=0.05))
        provider.fails(*[hanging()] * circuit_breakers.MAX_FAILURES)
        for _ in range(circuit_breakers.MAX_FAILURES):
            with pytest.raises(ModelTimeout):
                await model_calls.chat(ctx, request(), hold=unlimited_hold(), has_fallback=True)
    provider.faults.clear()
    assert (
        await model_calls.chat(ctx, request(), hold=unlimited_hold(), has_fallback=True)
    ).text == "You said: Hello"


async def test_a_spent_rate_limit_is_respected_and_told(admin, ctx, clock, provider) -> None:
    await add_key_for(admin, provider)
    provider.fails(refusing(429, **{"Retry-After": "40"}))
    for passed, left in ((0, "40"), (29, "11"), (10, "1")):
        clock.advance(passed)
        with pytest.raises(ModelError) as raised:
            await ask_model(ctx)
        assert (raised.value.kind, raised.value.headers) == ("rate_limited", {"Retry-After": left})
    assert len(provider.requests) == 1
    clock.advance(1)
    assert await ask_model(ctx) == "You said: Hello"


async def test_last_used_is_written_once_a_minute(admin, ctx, clock, provider) -> None:
    key = await add_key_for(admin, provider)
    await ask_model(ctx)
    first = (await read(admin, key))["last_used_at"]
    await ask_model(ctx)
    assert (await read(admin, key))["last_used_at"] == first
    clock.advance(61)
    await ask_model(ctx)
    assert (await read(admin, key))["last_used_at"] > first


async def test_no_transaction_is_open_while_a_model_thinks(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)

    async def write_meanwhile(reader, writer) -> None:
        assert (await admin.post(PATH, {"provider": "groq", "api_key": KEY})).status == 201
        await refusing(503)(reader, writer)

    provider.fails(write_meanwhile)
    assert await ask_model(ctx) == "You said: Hello"
    assert not ctx.unit_of_work.is_open


async def test_a_model_is_not_asked_inside_a_transaction(admin, ctx, provider) -> None:
    key = await add_key_for(admin, provider)
    await ctx.db.get(ProviderKey, key["id"])
    with pytest.raises(RuntimeError, match="before the transaction opens"):
        await ask_model(ctx)
    assert provider.requests == []


async def test_vectors_speech_and_listening_change_keys_as_well(ctx, provider, second, two_keys) -> None:
    provider.fails(*[refusing(429)] * 3)
    vectors = await model_calls.embed(
        ctx, "openai_compatible/text-embedding-3-small", ["a", "bb"], hold=unlimited_hold()
    )
    assert [vector[0] for vector in vectors.vectors] == [1.0, 2.0]
    assert vectors.model == "openai_compatible/text-embedding-3-small"
    heard = await model_calls.transcribe(
        ctx, "openai_compatible/whisper-1", Audio(b"sound", "a.wav", "audio/wav"), hold=unlimited_hold()
    )
    assert heard.text == "a.wav has 5 bytes"
    spoken = model_calls.speak(ctx, "openai_compatible/tts-1", "Hi", hold=unlimited_hold(), voice="alloy")
    assert b"".join([part async for part in spoken]).startswith(b"mp3:alloy:Hi")
    assert (len(provider.requests), len(second.requests)) == (3, 3)


@pytest.mark.parametrize("ask", [ask_model, stream_reply])
async def test_a_reply_that_repeats_the_key_goes_on_without_it(admin, ctx, provider, ask) -> None:
    await add_key_for(admin, provider)
    provider.says(f"Your key {KEY} is sk-test.", Call("leak", f'{{"key": "{KEY}"}}'))
    assert await ask(ctx) == f"Your key {MASK} is sk-test."


async def test_tool_calls_that_repeat_the_key_go_on_without_it(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)
    provider.says(f"Your key {KEY}", Call("leak", f'{{"key": "{KEY}"}}'))
    _, call, done = [delta async for delta in model_calls.stream(ctx, request(), hold=unlimited_hold())][-3:]
    assert call.arguments == {"key": MASK}
    assert KEY not in repr(done)
    assert done.reply.tool_calls == (call,)


async def test_a_stream_that_says_nothing_is_an_error(admin, ctx, provider) -> None:
    await add_key_for(admin, provider)
    provider.fails(streaming(b"data: [DONE]\n\n"))
    with pytest.raises(ModelError):
        await stream_reply(ctx)


async def test_a_model_without_a_key_is_not_configured(admin, ctx, provider) -> None:
    await add_key_for(admin, provider, is_active=False)
    await add_key(admin, provider="groq")
    with pytest.raises(ModelNotConfigured) as caught:
        await ask_model(ctx)
    assert (caught.value.status, caught.value.code) == (422, "model_not_configured")
    assert provider.requests == []


async def test_a_key_that_takes_too_long_hands_over_and_is_not_tried_again(
    monkeypatch, admin, ctx, provider, second
) -> None:
    monkeypatch.setattr(failover, "TIMEOUTS", Timeouts(first_byte_s=1.5, unstreamed_s=1.5))
    await add_key_for(admin, provider)
    provider.fails(hanging(), hanging())
    with pytest.raises(ModelTimeout) as caught:
        await ask_model(ctx)
    assert (caught.value.status, caught.value.code) == (504, "model_timeout")
    assert len(provider.requests) == 1
    await add_key_for(admin, second, priority=5)
    assert await stream_reply(ctx) == "You said: Hello"
    assert (len(provider.requests), len(second.requests)) == (2, 1)
