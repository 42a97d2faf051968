"""Keys of model providers, made through the real route."""

from typing import Any

from retinue.providers.models import ProviderKey, ProviderName
from tests.adapters.llm_server import KEY, ProviderServer
from tests.client import Api

PATH = "/api/v1/api-keys"


async def add_key(person: Api, **body: Any) -> dict[str, Any]:
    """A key of OpenAI's unless the body says otherwise; the record as it is answered."""
    answer = await person.post(PATH, {"provider": "openai", "api_key": KEY, **body})
    assert answer.status == 201, answer
    return answer.json()


async def add_key_for(person: Api, server: ProviderServer, **body: Any) -> dict[str, Any]:
    """A key for a server of a test."""
    return await add_key(person, **{"provider": "openai_compatible", "base_url": f"{server.url}/v1", **body})


def some_key(created_by: str, name: str = "Key") -> ProviderKey:
    """A key for an address at which nobody listens."""
    return ProviderKey(
        provider=ProviderName.openai_compatible,
        name=name,
        base_url="http://127.0.0.1:9/v1",
        found_models=[],
        created_by=created_by,
    )
