"""Scripts and the style sheet of our own pages.

Scripts that web pages load (the widget, forms) are built with the console and versioned by content.
"""

import hashlib
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

import msgspec

from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.schema.base import Schema

PUBLIC_SCRIPTS = Path(__file__).parents[2] / "console" / "web" / "public"
"""Where `packaging/console_build.py` leaves the scripts."""
NOT_BUILT = (
    "The scripts of the chat widget and of form pages are not built. In a checkout, run `make console`; "
    "it needs the network once. A released package carries them: `pip install retinue`."
)
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


def find_script(name: str) -> PageScript | None:
    """Return the built script of this name, or None if it is not built."""
    path = PUBLIC_SCRIPTS / name
    try:
        return _read_script(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return None


@lru_cache(maxsize=8)
def _read_script(path: Path, modified_ns: int) -> PageScript:  # noqa: ARG001  part of the key
    content = path.read_bytes()
    return PageScript(content, hashlib.sha256(content).hexdigest()[:16])


def scripts_missing() -> Reply[WebDocument]:
    """Return the answer of every address that needs a script which is not built."""
    document = WebDocument(f"{NOT_BUILT}\n".encode(), "text/plain; charset=utf-8")
    headers = (("Cache-Control", "no-store"), ("Access-Control-Allow-Origin", "*"))
    return Reply(document, status=503, headers=headers)


def serve_script(
    script: PageScript | None,
    query: ScriptQuery,
    request: Request,
    mime_type: str = "text/javascript; charset=utf-8",
) -> Reply[WebDocument | None]:
    """Return the script or another built file for any origin, or 304 if the client has this version."""
    if script is None:
        missing = scripts_missing()
        return Reply(missing.body, missing.status, missing.headers)
    headers = (
        ("Cache-Control", _CACHE_IMMUTABLE if query.v == script.version else _CACHE_ONE_HOUR),
        ("ETag", script.tag),
        ("Access-Control-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
    )
    if script.tag in request.header(b"if-none-match"):
        return Reply(None, status=304, headers=headers)
    return Reply(WebDocument(script.content, mime_type), headers=headers)


@cache
def page_style() -> bytes:
    """Return the style sheet of our own pages; the script of forms brings its own copy along."""
    return resources.files("retinue.kit.http").joinpath("assets", "pages.css").read_bytes()
