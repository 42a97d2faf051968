"""Requests for chat completions."""

from typing import Any

COMPLETIONS = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "Hello"}]


def body(**more: Any) -> dict[str, Any]:
    return {"model": "Support", "messages": HELLO, **more}
