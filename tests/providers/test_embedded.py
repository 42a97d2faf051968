"""Models without any key: who answers on the first run, and what changes with the first key."""

from contextlib import aclosing
from pathlib import Path

import pytest

from retinue.access.models import Role
from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm import ChatRequest, ModelMessage, ReplyFinished, TextDelta
from retinue.providers import model_calls
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.model_resolution import default_model, is_configured, require_any_model, resolve_model
from tests.factories.people import People
from tests.factories.providers import PATH, add_key, add_key_for
from tests.factories.spending import unlimited_hold
from tests.factories.weights import fetch_weights

pytestmark = pytest.mark.either_database

CHAT = "local/smollm2-135m"
EMBEDDING = "local/all-minilm-l6-v2"
MISSING = "its weights are missing: run `retinue models pull`"


@pytest.fixture
async def service(make_service):
    """The service of these tests has the real weights."""
    return await make_service(models_dir=fetch_weights())


def request(model: str) -> ChatRequest:
    return ChatRequest(model=model, messages=(ModelMessage(role="user", content="Hello!"),), max_tokens=3)


async def list_models(person) -> dict[str, dict]:
    return {model["id"]: model for model in (await person.get("/api/v1/models")).json()["data"]}


async def who_answers(ctx, model: str, kind: str = "chat") -> list[str]:
    return [candidate.id for candidate in await resolve_model(ctx, model, kind)]


async def test_the_embedded_models_are_listed_as_available(admin) -> None:
    local = {id: model for id, model in (await list_models(admin)).items() if model["provider"] == "local"}
    assert list(local) == [EMBEDDING, "local/hibari", CHAT, "local/whisper-base"]
    assert {(model["available"], model["reason"]) for model in local.values()} == {(True, None)}
    chat = local[CHAT]
    assert (chat["context_window"], chat["supports_tools"], chat["supports_streaming"]) == (4096, True, True)
    assert (chat["input_price_per_mtok"], chat["output_price_per_mtok"]) == (0, 0)
    assert not local[EMBEDDING]["supports_tools"]


async def test_without_weights_the_list_says_how_to_get_them(make_service, tmp_path) -> None:
    people = People(await make_service(models_dir=tmp_path / "nothing"))
    models = await list_models(await people.super_admin())
    assert (models[CHAT]["available"], models[CHAT]["reason"]) == (False, MISSING)
    assert models["local/hibari"]["available"]
    tenant = await people.default_tenant()
    async with people.context(tenant.id) as ctx:
        assert not await is_configured(ctx, CHAT)
        for model in (CHAT, "whatever/somebody-named"):
            # It names the model that was asked for, also where another one was to answer.
            with pytest.raises(ModelNotConfigured, match=f"{model} .*retinue models pull"):
                await model_calls.chat(ctx, request(model), hold=unlimited_hold())
            with pytest.raises(ModelNotConfigured, match=f"{model} .*retinue models pull"):
                await require_any_model(ctx, [model])


async def test_on_the_first_run_every_model_is_answered_by_the_embedded_one(ctx) -> None:
    reply = await model_calls.chat(ctx, request("anthropic/claude-opus-5"), hold=unlimited_hold())
    assert (reply.model, reply.usage.completion_tokens) == (CHAT, 3)
    deltas = [
        delta async for delta in model_calls.stream(ctx, request("no such model"), hold=unlimited_hold())
    ]
    assert isinstance(deltas[0], TextDelta)
    assert isinstance(deltas[-1], ReplyFinished)
    assert deltas[-1].reply.model == CHAT
    assert await is_configured(ctx, "anthropic/claude-opus-5")
    found = await model_calls.embed(ctx, EMBEDDING, ["hello"], hold=unlimited_hold())
    assert (found.model, len(found.vectors[0])) == (EMBEDDING, 384)


async def test_each_kind_has_its_own_model_on_the_first_run(ctx) -> None:
    assert await who_answers(ctx, "openai/whisper-1", "transcription") == ["local/whisper-base"]
    assert await who_answers(ctx, "openai/tts-1", "speech") == ["local/hibari"]
    assert await who_answers(ctx, "local/whisper-base", "chat") == [CHAT]
    with pytest.raises(ModelNotConfigured):
        await resolve_model(ctx, "openai/text-embedding-3-small", "embedding")


async def test_with_the_first_key_only_what_is_served_is_answered(admin, ctx, provider) -> None:
    key = await add_key_for(admin, provider, models=["gpt-4o-mini"])
    assert await who_answers(ctx, "gpt-4o-mini") == ["openai_compatible/gpt-4o-mini"]
    assert await who_answers(ctx, CHAT) == [CHAT]
    assert await who_answers(ctx, "smollm2-135m") == [CHAT]
    for model in ("anthropic/claude-opus-5", "local/nothing", "local/whisper-base", "nothing"):
        with pytest.raises(ModelNotConfigured):
            await resolve_model(ctx, model)
        assert not await is_configured(ctx, model)
    assert await is_configured(ctx, "gpt-4o-mini")
    assert await is_configured(ctx, CHAT)
    assert (
        await model_calls.chat(ctx, request("gpt-4o-mini"), hold=unlimited_hold())
    ).model == "openai_compatible/gpt-4o-mini"
    await admin.put(f"{PATH}/{key['id']}", {"is_active": False})
    assert await who_answers(ctx, "anthropic/claude-opus-5") == [CHAT]


async def test_another_tenants_key_does_not_end_ones_first_run(people, admin, ctx) -> None:
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    await add_key(stranger)
    assert await who_answers(ctx, "openai/gpt-4o") == [CHAT]


async def test_a_name_that_a_key_has_too_must_say_which(admin, ctx, provider) -> None:
    await add_key_for(admin, provider, models=["smollm2-135m"])
    with pytest.raises(ModelNotConfigured, match=f"Choose one of {CHAT}, openai_compatible/smollm2-135m"):
        await resolve_model(ctx, "smollm2-135m")
    assert await who_answers(ctx, CHAT) == [CHAT]


async def test_a_refused_key_does_not_count_as_configured(admin, ctx, provider) -> None:
    key = await add_key_for(admin, provider, models=["gpt-4o-mini"], api_key="sk-wrong-0123456789")
    await admin.post(f"{PATH}/{key['id']}/test")
    assert not await is_configured(ctx, "gpt-4o-mini")


async def test_others_write_while_an_embedded_model_answers(admin, ctx) -> None:
    async with aclosing(model_calls.stream(ctx, request(CHAT), hold=unlimited_hold())) as deltas:
        await anext(deltas)
        assert not ctx.unit_of_work.is_open
        assert (await admin.post(PATH, {"provider": "groq", "api_key": "gsk_0123456789"})).status == 201


async def test_an_embedded_model_is_not_asked_inside_a_transaction(ctx, admin) -> None:
    await ctx.db.get(type(admin.user), admin.user.id)
    with pytest.raises(RuntimeError, match="before the transaction opens"):
        await model_calls.chat(ctx, request(CHAT), hold=unlimited_hold())


@pytest.mark.parametrize(
    ("changed", "chat", "embedding"),
    [
        ({}, CHAT, EMBEDDING),
        ({"local_model": "/models/Own.gguf"}, "local/own", EMBEDDING),
        ({"local_model": "/models/Own.gguf", "default_model": CHAT}, CHAT, EMBEDDING),
        ({"default_model": "openai/gpt-4o", "embedding_model": "openai/e"}, "openai/gpt-4o", "openai/e"),
    ],
)
async def test_the_operator_chooses_what_answers_by_default(make_service, changed, chat, embedding) -> None:
    service = await make_service(models_dir=Path("/nowhere"), **changed)
    embedded = service.instance.adapters[EmbeddedModels]
    assert default_model(service.settings, embedded, "chat") == chat
    assert default_model(service.settings, embedded, "embedding") == embedding
    people = People(service)
    async with people.context((await people.default_tenant()).id) as ctx:
        without_key = chat if chat.startswith("local/") else CHAT
        assert await who_answers(ctx, "anything") == [without_key]
