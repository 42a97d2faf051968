"""Scripts and the one stylesheet of our own pages: files joined once, named by what they hold."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

import msgspec

from retinue.kit.http.replies import Document, Reply
from retinue.kit.http.request import Request
from retinue.kit.schemas import Schema

_FOR_A_WHILE = "public, max-age=3600"
_FOR_EVER = "public, max-age=31536000, immutable"


class Script(msgspec.Struct, frozen=True):
    content: bytes
    version: str

    @property
    def tag(self) -> str:
        return f'"{self.version}"'


class ScriptQuery(Schema, kw_only=True):
    """With its `v`, the script may be kept for ever."""

    v: str | None = None


def join_script(package: str, folder: str, parts: Sequence[str], style: str) -> Script:
    """These files one after another, in a scope of their own, with the style as the constant `STYLE`."""
    files = resources.files(package).joinpath(folder)
    plain = re.sub(r"\s*([{};])\s*|(:) ", r"\1\2", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    sources = [
        f"const STYLE = {msgspec.json.encode(plain).decode()};",
        _asset("elements.js").decode(),
        *(files.joinpath(part).read_text("utf-8") for part in parts),
    ]
    content = '(() => {{\n"use strict";\n{}}})();\n'.format("\n".join(sources)).encode()
    return Script(content, hashlib.sha256(content).hexdigest()[:16])


def serve_script(script: Script, query: ScriptQuery, request: Request) -> Reply[Document | None]:
    """To any page, and again only when it has changed."""
    headers = (
        ("Cache-Control", _FOR_EVER if query.v == script.version else _FOR_A_WHILE),
        ("ETag", script.tag),
        ("Access-Control-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
    )
    if script.tag in request.header(b"if-none-match"):
        return Reply(None, status=304, headers=headers)
    return Reply(Document(script.content, "text/javascript; charset=utf-8"), headers=headers)


@cache
def page_style() -> bytes:
    """The look of every page of ours, and of what we draw inside others' pages."""
    return _asset("pages.css")


def _asset(name: str) -> bytes:
    return resources.files("retinue.kit.http").joinpath("assets", name).read_bytes()
