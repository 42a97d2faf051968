"""Scripts and the style sheet of our own pages; scripts are joined once and versioned by content."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

import msgspec

from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.schema.base import Schema

_CACHE_ONE_HOUR = "public, max-age=3600"
_CACHE_IMMUTABLE = "public, max-age=31536000, immutable"


class PageScript(msgspec.Struct, frozen=True):
    content: bytes
    version: str

    @property
    def tag(self) -> str:
        return f'"{self.version}"'


class ScriptQuery(Schema, kw_only=True):
    """Query of a script; with the current version in `v`, it may be cached indefinitely."""

    v: str | None = None


def join_script(package: str, folder: str, parts: Sequence[str], style: str) -> PageScript:
    """Join these files in a scope of their own, with the style as the constant `STYLE`."""
    files = resources.files(package).joinpath(folder)
    plain = re.sub(r"\s*([{};])\s*|(:) ", r"\1\2", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    sources = [
        f"const STYLE = {msgspec.json.encode(plain).decode()};",
        _asset("elements.js").decode(),
        *(files.joinpath(part).read_text("utf-8") for part in parts),
    ]
    content = '(() => {{\n"use strict";\n{}}})();\n'.format("\n".join(sources)).encode()
    return PageScript(content, hashlib.sha256(content).hexdigest()[:16])


def serve_script(script: PageScript, query: ScriptQuery, request: Request) -> Reply[WebDocument | None]:
    """Return the script for any origin, or 304 if the client has the current version."""
    headers = (
        ("Cache-Control", _CACHE_IMMUTABLE if query.v == script.version else _CACHE_ONE_HOUR),
        ("ETag", script.tag),
        ("Access-Control-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
    )
    if script.tag in request.header(b"if-none-match"):
        return Reply(None, status=304, headers=headers)
    return Reply(WebDocument(script.content, "text/javascript; charset=utf-8"), headers=headers)


@cache
def page_style() -> bytes:
    """Return the style sheet of our own pages and of widgets in other pages."""
    return _asset("pages.css")


def _asset(name: str) -> bytes:
    return resources.files("retinue.kit.http").joinpath("assets", name).read_bytes()
