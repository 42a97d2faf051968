"""The catalogue of models, and which keys are asked for which model in which order."""

import pytest

from retinue.access.models import Role
from retinue.adapters.llm.catalogue import KNOWN_MODELS
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.model_resolution import candidates_for, resolve_model
from retinue.providers.models import ProviderKey, ProviderName
from tests.factories.providers import PATH, add_key, add_key_for

SHAPE = [
    "id",
    "provider",
    "name",
    "kind",
    "context_window",
    "supports_tools",
    "supports_streaming",
    "supports_vision",
    "input_price_per_mtok",
    "cached_input_price_per_mtok",
    "cache_write_price_per_mtok",
    "output_price_per_mtok",
    "source",
    "available",
    "reason",
    "base_url",
]


async def catalogue(person) -> dict[str, dict]:
    answer = await person.get("/api/v1/models")
    assert answer.status == 200, answer
    assert list(answer.json()) == ["data"]
    listed = answer.json()["data"]
    assert [model["id"] for model in listed] == sorted({model["id"] for model in listed})
    return {model["id"]: model for model in listed}


async def state(person, model: str) -> tuple[bool, str | None]:
    found = (await catalogue(person))[model]
    return found["available"], found["reason"]


EMBEDDED = 4


async def test_without_keys_every_known_model_is_listed_as_not_available(admin) -> None:
    listed = await catalogue(admin)
    assert len(listed) == len(KNOWN_MODELS) + EMBEDDED
    listed = {id: model for id, model in listed.items() if model["provider"] != "local"}
    assert all(list(model) == SHAPE for model in listed.values())
    assert {model["available"] for model in listed.values()} == {False}
    model = listed["openai/gpt-4o"]
    assert (model["provider"], model["name"], model["reason"]) == ("openai", "GPT-4o", "no key for openai")
    assert (model["context_window"], model["supports_vision"]) == (128_000, True)
    assert (model["input_price_per_mtok"], model["output_price_per_mtok"]) == (2.5, 10)


async def test_everyone_who_sees_agents_sees_models(people) -> None:
    for role in Role:
        person = await people.signed_in(role, await people.tenant())
        assert await state(person, "openai/gpt-4o") == (False, "no key for openai")
    assert (await people.api.get("/api/v1/models")).status == 401


async def test_a_key_makes_the_known_models_of_its_provider_available(admin) -> None:
    key = await add_key(admin)
    assert await state(admin, "openai/gpt-4o") == (True, None)
    assert await state(admin, "groq/llama-3.1-8b-instant") == (False, "no key for groq")
    await admin.put(f"{PATH}/{key['id']}", {"is_active": False})
    assert await state(admin, "openai/gpt-4o") == (False, "no active key for openai")


async def test_the_models_of_a_key_are_its_only_ones(admin) -> None:
    await add_key(admin, models=["gpt-4o-mini", "ft:gpt-4o:acme"])
    assert await state(admin, "openai/gpt-4o") == (False, "no key for openai offers it")
    assert await state(admin, "openai/gpt-4o-mini") == (True, None)
    own = (await catalogue(admin))["openai/ft:gpt-4o:acme"]
    assert (own["name"], own["available"]) == ("ft:gpt-4o:acme", True)
    assert own["kind"] == "chat"
    assert [own[name] for name in SHAPE[4:10]] == [None] * 6


async def test_models_say_what_they_do(admin) -> None:
    names = ["gpt-5", "text-embedding-3-small", "whisper-1", "gpt-4o-mini-tts", "gpt-image-1", "bge-m3"]
    await add_key(admin, models=names)
    listed = await catalogue(admin)
    kinds = [listed[f"openai/{name}"]["kind"] for name in names]
    assert kinds == ["chat", "embedding", "transcription", "speech", "other", "embedding"]
    embedded = sorted(model["kind"] for model in listed.values() if model["provider"] == "local")
    assert embedded == ["chat", "embedding", "speech", "transcription"]


async def test_a_test_finds_the_models_of_a_server(admin, provider) -> None:
    key = await add_key_for(admin, provider)
    assert not [id for id in await catalogue(admin) if id.startswith("openai_compatible/")]
    found = (await admin.post(f"{PATH}/{key['id']}/test")).json()["models"]
    listed = await catalogue(admin)
    assert [id for id in listed if id.startswith("openai_compatible/")] == sorted(
        f"openai_compatible/{name}" for name in found
    )
    await admin.put(f"{PATH}/{key['id']}", {"base_url": provider.url})
    assert not [id for id in await catalogue(admin) if id.startswith("openai_compatible/")]


async def test_what_a_tested_key_does_not_offer_is_not_available(admin, provider) -> None:
    key = await add_key_for(admin, provider, provider="openai")
    await admin.post(f"{PATH}/{key['id']}/test")
    assert await state(admin, "openai/gpt-4o-mini") == (True, None)
    assert await state(admin, "openai/gpt-4o") == (False, "no key for openai offers it")


async def test_the_models_of_a_refused_key_are_not_available(admin, provider) -> None:
    key = await add_key_for(admin, provider, provider="openai", api_key="sk-wrong")
    await admin.post(f"{PATH}/{key['id']}/test")
    assert await state(admin, "openai/gpt-4o-mini") == (False, "the key for openai is not valid")
    await add_key(admin)
    assert await state(admin, "openai/gpt-4o-mini") == (True, None)


async def test_another_tenants_keys_make_nothing_available(people, admin, provider) -> None:
    key = await add_key_for(admin, provider)
    await admin.post(f"{PATH}/{key['id']}/test")
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert len(await catalogue(stranger)) == len(KNOWN_MODELS) + EMBEDDED
    await add_key(stranger, models=["another"])
    async with people.context(stranger.user.tenant_id) as ctx:
        with pytest.raises(ModelNotConfigured):
            await resolve_model(ctx, "openai_compatible/gpt-4o-mini")


def make_key(name: str, **fields) -> ProviderKey:
    """Create a key that needs no secret."""
    provider = ProviderName(fields.pop("provider", "ollama"))
    chosen = {"found_models": [], "created_by": "usr_1", "created_at": name, **fields}
    return ProviderKey(id=name, name=name, provider=provider, **chosen)


def order(keys: list[ProviderKey], model: str) -> list[str]:
    return [candidate.key.name for candidate in candidates_for(keys, model)]


def test_keys_are_asked_by_default_then_priority_then_age() -> None:
    keys = [
        make_key("c", priority=2),
        make_key("b", priority=1),
        make_key("a", priority=1),
        make_key("d", priority=9),
    ]
    assert order(keys, "ollama/llama3") == ["a", "b", "c", "d"]
    keys[3].is_default = True
    assert order(keys, "ollama/llama3") == ["d", "a", "b", "c"]


def test_keys_known_to_offer_the_model_come_first_and_refused_ones_last() -> None:
    keys = [
        make_key("refused", found_models=["llama3"], is_valid=False, is_default=True),
        make_key("unknown", priority=0),
        make_key("offers", found_models=["llama3"], priority=5),
        make_key("inactive", found_models=["llama3"], is_active=False),
        make_key("other", models=["qwen"]),
    ]
    assert order(keys, "ollama/llama3") == ["offers", "unknown", "refused"]


@pytest.mark.parametrize("model", ["ollama/llama3", "llama3"])
def test_a_name_alone_is_enough_where_one_provider_has_it(model) -> None:
    keys = [
        make_key("a", found_models=["llama3"]),
        make_key("b", provider="openai_compatible", models=["qwen"]),
    ]
    (candidate,) = candidates_for(keys, model)
    assert (candidate.key.name, candidate.model, candidate.id) == ("a", "llama3", "ollama/llama3")


def test_a_name_that_several_providers_have_must_say_which() -> None:
    keys = [make_key("a", models=["llama3"]), make_key("b", provider="openai_compatible", models=["llama3"])]
    with pytest.raises(ModelNotConfigured, match=r"Choose one of ollama/llama3, openai_compatible/llama3\."):
        candidates_for(keys, "llama3")
    assert order(keys, "openai_compatible/llama3") == ["b"]


def test_a_name_may_have_slashes_of_its_own() -> None:
    keys = [make_key("a", provider="openai_compatible", models=["meta/llama3", "openai/gpt-oss"])]
    assert candidates_for(keys, "meta/llama3")[0].model == "meta/llama3"
    assert candidates_for(keys, "openai_compatible/openai/gpt-oss")[0].model == "openai/gpt-oss"
    with pytest.raises(ModelNotConfigured):
        candidates_for(keys, "openai/gpt-oss")


@pytest.mark.parametrize(
    "model", ["", "/", "llama3", "ollama/", "acme/llama3", "openai_compatible/", "local/x", "openai/gpt-4o"]
)
def test_what_no_key_serves_is_not_configured(model) -> None:
    keys = [
        make_key("a", models=["qwen"]),
        make_key("any", provider="openai_compatible"),
        make_key("b", provider="local"),
        make_key("without a key", provider="openai"),
    ]
    with pytest.raises(ModelNotConfigured) as caught:
        candidates_for(keys, model)
    assert (caught.value.status, caught.value.code) == (422, "model_not_configured")


async def test_the_keys_of_the_tenant_are_read_for_each_question(admin, ctx) -> None:
    first = await add_key(admin, priority=5)
    second = await add_key(admin, priority=3)
    assert [found.key.id for found in await resolve_model(ctx, "gpt-4o")] == [second["id"], first["id"]]
    await admin.delete(f"{PATH}/{second['id']}")
    assert [found.key.id for found in await resolve_model(ctx, "gpt-4o")] == [first["id"]]
