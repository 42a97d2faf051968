"""A check in every test: what the cache of answers says is what the handler would say."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from retinue.kit.http.answer_cache import AnswerCache
from retinue.kit.http.app import App
from retinue.kit.http.request import Request


@contextlib.contextmanager
def compared_with_fresh_ones() -> Iterator[None]:
    """Make each cached answer anew too, and compare the two if the configuration is still the same."""
    respond, find = App._respond, AnswerCache.find
    cached: set[int] = set()
    wrong: list[Any] = []

    def noted_find(cache: AnswerCache, received: Request) -> Any:
        answer = find(cache, received)
        if answer is not None and answer.status == 200:
            cached.add(id(received))
        return answer

    async def checked_respond(app: App, received: Request) -> Any:
        response = await respond(app, received)
        if id(received) not in cached:
            return response
        cached.discard(id(received))
        _, segments = app.tree.find(received.path, received.scope["raw_path"])
        fresh = await app._handle(received, received.route, segments)
        now = await app._authenticate(app.instance, received)
        is_same_version = now.config_version.stamp == received.principal.config_version.stamp
        if is_same_version and fresh.body != response.body:
            wrong.append((received.path, response.body, fresh.body))
        return response

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AnswerCache, "find", noted_find)
        patched.setattr(App, "_respond", checked_respond)
        yield
    assert wrong == []
