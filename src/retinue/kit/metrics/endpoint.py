"""Who may read the metrics, and the endpoint of a process without an API."""

import secrets
from typing import TYPE_CHECKING, Any

from retinue.kit.errors import MethodNotAllowed, NotFound, RetinueError, Unauthorized
from retinue.kit.metrics.files import CONTENT_TYPE
from retinue.kit.settings import Settings

if TYPE_CHECKING:
    from retinue.kit.context.instance import Instance


_JSON = "application/json"


def require_metrics_token(settings: Settings, authorization: str) -> None:
    """Raise Unauthorized unless the header holds the token of `RETINUE_METRICS_TOKEN`, if there is one."""
    token = settings.metrics_token
    if token is None:
        return
    given = authorization.removeprefix("Bearer ")
    if not secrets.compare_digest(given.encode(), token.reveal().encode()):
        raise Unauthorized("invalid_token", "Send the token of RETINUE_METRICS_TOKEN.")


class MetricsEndpoint:
    """An ASGI application for a worker: `GET /metrics`, `/health/live` and `/health/ready`.

    The last two are those of a server: the first answers for as long as the process does, so that a database
    that is away restarts nobody; the second tells whether the worker gets its work done.
    """

    def __init__(self, instance: "Instance") -> None:
        self._instance = instance

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        from retinue.kit.http import replies

        status, kind = 200, CONTENT_TYPE
        try:
            _require_reading(scope)
            if scope["path"] == "/health/live":
                kind, body = _JSON, _status("ok")
            elif scope["path"] == "/health/ready":
                word = "stopping" if self._instance.is_stopping else self._instance.worker_status()
                status, kind, body = 200 if word == "ok" else 503, _JSON, _status(word)
            else:
                body = self._render(scope)
            headers = [(b"content-type", kind.encode())]
        except RetinueError as error:
            refused = replies.render_error(error)
            status, headers, body = refused.status, refused.headers, refused.body
        headers = [*headers, (b"content-length", b"%d" % len(body)), (b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _render(self, scope: Any) -> bytes:
        if self._instance.metrics is None or scope["path"] != "/metrics":
            raise NotFound
        sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        require_metrics_token(self._instance.settings, sent)
        return self._instance.metrics.render()


def _require_reading(scope: Any) -> None:
    if scope["method"] not in {"GET", "HEAD"}:
        raise MethodNotAllowed(headers={"Allow": "GET, HEAD"})


def _status(word: str) -> bytes:
    return b'{"status":"%s"}' % word.encode()
