"""No call of a model without somebody who pays: there is one door to the providers, and it wants a hold."""

from pathlib import Path

import pytest

import retinue
from tests.contract.model_door import CALLS, DOOR, OPENERS, other_ways

ROOT = Path(retinue.__file__).parent


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path.read_text() for path in ROOT.rglob("*.py")}


def test_every_way_to_a_provider_leads_through_the_door() -> None:
    assert {DOOR, *(module for allowed in OPENERS.values() for module in allowed)} <= SOURCES.keys()
    assert other_ways(SOURCES) == []


def test_the_door_offers_every_kind_of_call() -> None:
    assert all(f"def {name}(" in SOURCES[DOOR] for name in CALLS)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("retinue.forms.shortcut", "from retinue.adapters.llm import provider_for\nprovider_for(1, 2, 3)\n"),
        ("retinue.forms.shortcut", "from retinue.adapters import llm\nllm.provider_for(1, 2, 3)\n"),
        ("retinue.chat.shortcut", "from retinue.adapters.llm.openai import OpenAiClient\n"),
        (
            "retinue.chat.shortcut",
            "async def f(models):\n    await models.for_requester('t').embed('m', [])\n",
        ),
        ("retinue.knowledge.shortcut", "from retinue.providers.failover import KeyAttempts\n"),
        (
            "retinue.providers.key_check",
            "from retinue.adapters.llm import provider_for\nprovider_for(1).chat('Hello')\n",
        ),
        (DOOR, "async def rerank(ctx, model):\n    pass\n"),
        (DOOR, "async def chat(ctx, *, hold: SpendingHold = FREE):\n    pass\n"),
        (DOOR, "async def chat(ctx, *, hold: object):\n    pass\n"),
    ],
)
def test_another_way_is_found(module: str, source: str) -> None:
    assert other_ways({module: source})
