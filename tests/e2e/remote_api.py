"""The client of the tests over HTTP, so that factories work with a server process."""

import asyncio
import http.client
from typing import Any
from urllib.parse import urlencode

from tests.client import Api, Response

PATIENCE_SECONDS = 60


class RemoteApi(Api):
    """`app` is the port of a server on this machine."""

    async def _exchange(
        self, method: str, path: str, query: dict[str, Any] | None, headers: dict[str, str], body: bytes
    ) -> Response:
        target = f"{path}?{urlencode(query)}" if query else path
        return await asyncio.to_thread(self._ask, method, target, headers, body)

    def _ask(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Response:
        connection = http.client.HTTPConnection("127.0.0.1", self.app, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, target, body or None, {**headers, "host": f"127.0.0.1:{self.app}"})
            answer = connection.getresponse()
            raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in answer.getheaders()]
            return Response(answer.status, raw, answer.read())
        finally:
            connection.close()
