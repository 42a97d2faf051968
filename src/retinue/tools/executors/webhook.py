"""`webhook`: the input is sent as JSON to one URL, or as its query where the method has no body."""

from typing import Any

from retinue.tools.calls import Call
from retinue.tools.executors.configs import WebhookConfig, read_config
from retinue.tools.executors.headers import header_texts
from retinue.tools.executors.http_call import Request, send
from retinue.tools.executors.urls import query_pairs

_WITHOUT_BODY = frozenset({"GET", "HEAD"})


async def run(call: Call) -> Any:
    config = read_config(call.config, WebhookConfig)
    method = config.method.upper()
    has_body = method not in _WITHOUT_BODY
    return await send(
        call,
        Request(
            method=method,
            url=config.url,
            query=[] if has_body else query_pairs(call.input),
            headers=header_texts(config.headers),
            body=call.input if has_body else None,
        ),
    )
