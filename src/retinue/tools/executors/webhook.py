"""`webhook`: sends the input to one URL as JSON, or as query parameters if the method has no body."""

from typing import Any

from retinue.tools.config.shapes import WebhookToolConfig, parse_run_config
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.headers import header_texts
from retinue.tools.executors.http_call import HttpToolRequest, send
from retinue.tools.executors.urls import query_pairs

_WITHOUT_BODY = frozenset({"GET", "HEAD"})


async def run(call: ExecutorCall) -> Any:
    config = parse_run_config(call.config, WebhookToolConfig)
    method = config.method.upper()
    has_body = method not in _WITHOUT_BODY
    return await send(
        call,
        HttpToolRequest(
            method=method,
            url=config.url,
            query=[] if has_body else query_pairs(call.input),
            headers=header_texts(config.headers),
            body=call.input if has_body else None,
        ),
    )
