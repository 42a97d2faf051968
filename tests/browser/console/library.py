"""A server of a test's own whose vectors come from a model of the test."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from tests.adapters.llm_server import KEY, ProviderServer, provider_server
from tests.browser.site import Site
from tests.e2e.processes import ServerProcess
from tests.factories.knowledge import EMBEDDING_MODEL


@contextlib.asynccontextmanager
async def serve_library(folder: Path) -> AsyncIterator[tuple[Site, ProviderServer]]:
    async with provider_server() as provider:
        server = ServerProcess(
            folder, is_shared=True, RETINUE_DEFAULT_PLAN="enterprise", RETINUE_EMBEDDING_MODEL=EMBEDDING_MODEL
        )
        server.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{server.port}"
        async with server:
            await server.start()
            site = await Site(server).sign_in()
            key = {"provider": "openai_compatible", "api_key": KEY, "base_url": f"{provider.url}/v1"}
            await site.call("POST", "/api/v1/api-keys", {**key, "name": "Vectors"})
            yield site, provider
