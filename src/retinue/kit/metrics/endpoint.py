"""Who may read the metrics, and the endpoint of a process without an API."""

import secrets
from typing import TYPE_CHECKING, Any

from retinue.kit.errors import MethodNotAllowed, NotFound, RetinueError, Unauthorized
from retinue.kit.metrics.files import CONTENT_TYPE
from retinue.kit.settings import Settings

if TYPE_CHECKING:
    from retinue.kit.context.instance import Instance


def require_metrics_token(settings: Settings, authorization: str) -> None:
    """Raise Unauthorized unless the header holds the token of `RETINUE_METRICS_TOKEN`, if there is one."""
    token = settings.metrics_token
    if token is None:
        return
    given = authorization.removeprefix("Bearer ")
    if not secrets.compare_digest(given.encode(), token.reveal().encode()):
        raise Unauthorized("invalid_token", "Send the token of RETINUE_METRICS_TOKEN.")


class MetricsEndpoint:
    """An ASGI application with one path: `GET /metrics`."""

    def __init__(self, instance: "Instance") -> None:
        self._instance = instance

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        from retinue.kit.http import replies

        status, headers = 200, [(b"content-type", CONTENT_TYPE.encode())]
        try:
            body = self._render(scope)
        except RetinueError as error:
            refused = replies.render_error(error)
            status, headers, body = refused.status, refused.headers, refused.body
        headers = [*headers, (b"content-length", b"%d" % len(body)), (b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _render(self, scope: Any) -> bytes:
        if self._instance.metrics is None or scope["path"] != "/metrics":
            raise NotFound
        if scope["method"] not in {"GET", "HEAD"}:
            raise MethodNotAllowed(headers={"Allow": "GET, HEAD"})
        sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        require_metrics_token(self._instance.settings, sent)
        return self._instance.metrics.render()
