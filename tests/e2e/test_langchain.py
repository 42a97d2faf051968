"""LangChain's `with_structured_output` through our chat completions, in every way that it can ask.

Its packages are installed into `build/langchain` once.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.llm_replies import Reply
from tests.adapters.llm_server import KEY, provider_server
from tests.e2e.conftest import Serving
from tests.e2e.crashing import sign_in
from tests.e2e.load import call

pytestmark = [pytest.mark.slow, pytest.mark.either_database]

PACKAGES = "langchain-openai==1.7.*"
FOLDER = Path(__file__).parents[2] / "build/langchain"
CLIENT = Path(__file__).parent / "langchain_client.py"
GRAZ = {"city": "Graz", "people": 300_000}
WAYS = 42


@pytest.fixture(scope="module")
def python() -> Path:
    found = FOLDER / "bin/python"
    if not (FOLDER / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
        subprocess.run([found, "-m", "pip", "install", "-qq", PACKAGES], check=True)
        (FOLDER / "installed").touch()
    return found


async def create_object(port: int, token: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    status, answer = await call(port, "POST", path, body=body, token=token)
    assert status == 201, answer
    return answer


async def test_langchain_gets_structured_output_in_every_way(serving: Serving, python: Path) -> None:
    async with serving() as server, provider_server() as provider:
        provider.otherwise = lambda _heard: Reply(json.dumps(GRAZ))
        await server.start()
        token = await sign_in(server.port)
        base_url = f"{provider.url}/v1"
        key = {"provider": "openai_compatible", "api_key": KEY, "base_url": base_url, "models": ["m"]}
        await create_object(server.port, token, "/api/v1/api-keys", key)
        agent = {"name": "Guide", "primary_model": "openai_compatible/m", "system_prompt": "You know Graz."}
        model = (await create_object(server.port, token, "/api/v1/agents", agent))["id"]
        given = {"base_url": f"http://127.0.0.1:{server.port}/v1", "api_key": token, "model": model}
        client = await asyncio.create_subprocess_exec(
            python, CLIENT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        printed, _ = await asyncio.wait_for(client.communicate(json.dumps(given).encode()), 180)
    answers = json.loads(printed)
    expected = {label: {"as": "Place", **GRAZ} if " class" in label else GRAZ for label in answers}
    assert answers == expected
    assert len(answers) == WAYS
