"""The list of prices that ships with a release, and a newer one in the data directory."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from retinue.adapters.llm.catalogue import KNOWN_MODELS
from retinue.adapters.llm.prices import FILE_NAME, ListPrices, shipped_prices

MAX_AGE_DAYS = 180


def test_the_list_is_recent() -> None:
    """If this fails: make prices, look at the difference, commit it."""
    age = dt.datetime.now(dt.UTC).date() - dt.date.fromisoformat(shipped_prices().as_of)
    assert age.days < MAX_AGE_DAYS


@pytest.mark.parametrize(
    ("provider", "name", "input", "output"),
    [
        ("openai", "gpt-4o", "2.5", "10"),
        ("openai", "GPT-4o-2024-11-20", "2.5", "10"),
        ("openai", "text-embedding-3-small", "0.02", None),
        ("anthropic", "claude-sonnet-4-5-20250929", "3", "15"),
        ("anthropic", "claude-opus-5-5", "4", "20"),
        ("google", "gemini-2.5-pro", "1.25", "10"),
        ("groq", "llama-3.3-70b-versatile", "0.59", "0.79"),
    ],
)
def test_models_are_found_by_their_names(
    tmp_path: Path, provider: str, name: str, input: str, output: str | None
) -> None:
    price = ListPrices(tmp_path).find(provider, name)
    assert price is not None
    assert price.input == Decimal(input)
    assert price.output == (Decimal(output) if output else None)


def test_what_is_not_listed_has_no_price(tmp_path: Path) -> None:
    prices = ListPrices(tmp_path)
    for provider, name in (("openai", "my-model"), ("ollama", "llama3"), ("", ""), ("openai", "")):
        assert prices.find(provider, name) is None


def test_most_known_models_have_a_price(tmp_path: Path) -> None:
    prices = ListPrices(tmp_path)
    unpriced = {model.id for model in KNOWN_MODELS if prices.find(model.provider, model.id) is None}
    assert len(unpriced) <= len(KNOWN_MODELS) / 10, unpriced


def test_prices_are_not_negative() -> None:
    wrong = [
        price.id
        for listed in shipped_prices().providers.values()
        for price in listed
        for tier in (price, *price.tiers)
        for amount in (tier.input, tier.output, tier.cached_input, tier.cache_write, tier.cache_write_1h)
        if amount is not None and amount < 0
    ]
    assert wrong == []


@pytest.mark.parametrize(("as_of", "is_used"), [("2999-01-01", True), ("2020-01-01", False)])
def test_a_newer_list_in_the_data_directory_is_used(tmp_path: Path, as_of: str, is_used: bool) -> None:
    listed = {
        "as_of": as_of,
        "source": "me",
        "providers": {"openai": [{"id": "gpt-4o", "input": 7, "output": 8}]},
    }
    (tmp_path / FILE_NAME).write_bytes(msgspec.json.encode(listed))
    price = ListPrices(tmp_path).find("openai", "gpt-4o")
    assert price is not None
    assert price.input == (7 if is_used else Decimal("2.5"))


def test_a_broken_list_does_not_stop_anybody(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b'{"as_of": "2999-01-01"')
    assert ListPrices(tmp_path).find("openai", "gpt-4o") is not None
