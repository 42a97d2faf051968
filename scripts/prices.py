"""Writes the list prices that Retinue ships, `adapters/llm/prices.json`, from the package genai-prices.

`make prices` runs it in an environment of its own: the package brings 20 MB that nothing else needs.
"""

import datetime as dt
import importlib
import importlib.metadata
import json
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "src/retinue/adapters/llm/prices.json"
PACKAGE = "genai-prices"
# Their name of a provider, and ours. The others have no API of their own here.
PROVIDERS = {
    "anthropic": "anthropic",
    "aws": "bedrock",
    "azure": "azure_openai",
    "google": "google",
    "groq": "groq",
    "mistral": "mistral",
    "openai": "openai",
    "openrouter": "openrouter",
}
PRICES = {
    "input": "input_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "output": "output_mtok",
}
# What genai-prices does not know: prices of a million spoken characters, and of a minute of sound, from the
# providers' own lists.
AUDIO: dict[str, dict[str, dict[str, float]]] = {
    "azure_openai": {
        "tts-1": {"speech": 15},
        "tts-1-hd": {"speech": 30},
        "whisper-1": {"transcription": 0.006},
    },
    "groq": {
        "whisper-large-v3": {"transcription": 0.00185},
        "whisper-large-v3-turbo": {"transcription": 0.000667},
    },
    "openai": {
        "gpt-4o-mini-transcribe": {"transcription": 0.003},
        "gpt-4o-transcribe": {"transcription": 0.006},
        "tts-1": {"speech": 15},
        "tts-1-hd": {"speech": 30},
        "whisper-1": {"transcription": 0.006},
    },
}


def price_today(prices: Any, today: dt.date) -> Any:
    """Return the prices in force: the last ones whose start date has come."""
    if not isinstance(prices, list):
        return prices
    begun = [
        entry.prices
        for entry in prices
        if entry.constraint is None or getattr(entry.constraint, "start_date", today) <= today
    ]
    return begun[-1] if begun else None


def number(value: Decimal) -> float | int:
    return int(value) if value == value.to_integral_value() else float(value)


def read_prices(prices: Any, model_id: str) -> dict[str, Any] | None:
    """Return the prices of a model; None if it is not priced by tokens."""
    given = {name: getattr(prices, field, None) for name, field in PRICES.items()}
    if not any(value is not None for value in vars(prices).values()) and model_id.endswith(":free"):
        return {"input": 0, "output": 0}
    if given["input"] is None:
        return None
    known = {name: value for name, value in given.items() if value is not None}
    base = {name: number(getattr(value, "base", value)) for name, value in known.items()}
    starts = sorted({tier.start for value in known.values() for tier in getattr(value, "tiers", ())})
    if not starts:
        return base
    return {**base, "tiers": [{"above": start, **prices_above(known, start)} for start in starts]}


def prices_above(known: dict[str, Any], start: int) -> dict[str, float | int]:
    tiered = {}
    for name, value in known.items():
        reached = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= start]
        tiered[name] = number(reached[-1] if reached else getattr(value, "base", value))
    return tiered


def exact_names(clause: Any) -> list[str]:
    if (name := getattr(clause, "equals", None)) is not None:
        return [name.lower()]
    return [name for part in getattr(clause, "or_", ()) for name in exact_names(part)]


def escaped(text: str) -> str:
    """Return a pattern for the text; a hyphen needs no escape outside of brackets."""
    return re.escape(text.lower()).replace(r"\-", "-")


def pattern_of(clause: Any) -> str:
    """Return a regular expression for the names that are not given whole; empty without any."""
    pattern = ""
    match vars(clause):
        case {"or_": parts}:
            pattern = "|".join(filter(None, map(pattern_of, parts)))
        case {"and_": parts}:
            pattern = "^" + "".join(f"(?=.*(?:{pattern_of(part)}))" for part in parts)
        case {"starts_with": text}:
            pattern = f"^{escaped(text)}"
        case {"ends_with": text}:
            pattern = f"{escaped(text)}$"
        case {"contains": text}:
            pattern = escaped(text)
        case {"regex": text}:
            pattern = f"(?:{text})"
    return pattern


def entries(models: list[Any], today: dt.date) -> list[dict[str, Any]]:
    listed = []
    for model in models:
        prices = price_today(model.prices, today)
        known = read_prices(prices, model.id) if prices is not None else None
        if known is None:
            continue
        names = [name for name in dict.fromkeys(exact_names(model.match)) if name != model.id.lower()]
        entry: dict[str, Any] = {"id": model.id}
        if names:
            entry["names"] = names
        if pattern := pattern_of(model.match):
            entry["pattern"] = pattern
        listed.append(entry | known)
    return listed


def with_audio(listed: list[dict[str, Any]], audio: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Return the entries with the prices of speech and transcriptions; new ones have none for tokens."""
    known = {entry["id"]: entry | audio.get(entry["id"], {}) for entry in listed}
    new = {id: {"id": id, "input": 0, "output": 0, **prices} for id, prices in audio.items()}
    merged = new | known
    return [merged[id] for id in sorted(merged)] if audio else listed


def main() -> None:
    today = dt.datetime.now(dt.UTC).date()
    # By name: it is no dependency of ours, not even for tests.
    providers = importlib.import_module("genai_prices.data").providers
    listed = {
        PROVIDERS[provider.id]: with_audio(
            entries(provider.models, today), AUDIO.get(PROVIDERS[provider.id], {})
        )
        for provider in providers
        if provider.id in PROVIDERS
    }
    source = f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"
    rows = ",\n".join(
        f'  "{provider}": [\n'
        + ",\n".join(f"    {json.dumps(entry)}" for entry in listed[provider])
        + "\n  ]"
        for provider in sorted(listed)
    )
    TARGET.write_text(f'{{"as_of": "{today}", "source": "{source}", "providers": {{\n{rows}\n}}}}\n')
    sys.stdout.write(f"{sum(map(len, listed.values()))} models of {len(listed)} providers in {TARGET.name}\n")


if __name__ == "__main__":
    main()
