"""The tables of providers and models hold together."""

import pytest

from retinue.adapters.llm import PROFILES
from retinue.adapters.llm.catalogue import KNOWN_MODELS, find_known_model, known_models
from retinue.kit.egress import parse_destination
from retinue.kit.egress.policy import AllowList
from retinue.kit.settings import LOOPBACK

CONTRACT = {
    "openai",
    "anthropic",
    "google",
    "mistral",
    "groq",
    "openrouter",
    "azure_openai",
    "bedrock",
    "ollama",
    "openai_compatible",
    "local",
}


def test_every_provider_of_the_contract_but_the_embedded_one_has_a_profile():
    assert set(PROFILES) == CONTRACT - {"local"}


@pytest.mark.parametrize("name", [name for name, profile in PROFILES.items() if profile.base_url])
def test_every_own_address_is_one_that_calls_may_go_to(name):
    url = PROFILES[name].base_url
    destination = parse_destination(url, AllowList(LOOPBACK), require_https=True)
    assert destination.scheme == ("http" if name == "ollama" else "https")
    assert not url.endswith("/")


def test_known_models_belong_to_known_providers_and_are_listed_once():
    assert {model.provider for model in KNOWN_MODELS} <= set(PROFILES)
    names = [(model.provider, model.id) for model in KNOWN_MODELS]
    assert len(set(names)) == len(names)
    for provider in PROFILES:
        assert all(find_known_model(provider, model.id) is model for model in known_models(provider))
    assert find_known_model("openai", "claude-opus-5") is None


def test_figures_of_models_are_known_in_full_or_not_at_all():
    for model in KNOWN_MODELS:
        assert model.context_window is None or model.context_window >= 8192
