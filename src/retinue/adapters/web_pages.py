"""Reading of one web page: fetched without cookies or credentials, turned into text by a confined process."""

import asyncio
import os
import re
import secrets
from pathlib import Path
from urllib.parse import urljoin

import msgspec

from retinue.adapters import documents
from retinue.adapters.documents import DocumentError
from retinue.adapters.sandbox.reader_places import ReadersBusy
from retinue.kit.egress import MAX_PAGE_REDIRECTS, Egress, EgressTimeout, Response
from retinue.kit.errors import RetinueError
from retinue.kit.fair_queue import QueuedCaller

TIMEOUT_SECONDS = 10.0
MAX_PAGE_BYTES = 2 * 1024 * 1024

_PIECE_LENGTH = 10_000
_HEADERS = {"Accept": "text/html, text/markdown, text/plain, application/pdf, application/json;q=0.9"}
_EXTENSIONS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
}
_TEXT_TYPES = frozenset(
    {"application/json", "application/xml", "application/rss+xml", "application/atom+xml"}
)
_LINK = re.compile(r"\]\(([^()\s]{1,2000})\)")


class WebPage(msgspec.Struct, frozen=True):
    url: str
    title: str
    text: str


class PageFailed(Exception):
    """A page that cannot be read; the code is one of a failed call."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


async def read_web_page(egress: Egress, url: str, folder: Path, requester: QueuedCaller) -> WebPage:
    """Fetch a page and return its text, with absolute links; `folder` is for a temporary copy."""
    try:
        async with egress.request(
            "GET",
            url,
            headers=_HEADERS,
            timeout_s=TIMEOUT_SECONDS,
            max_bytes=MAX_PAGE_BYTES,
            follow_redirects=MAX_PAGE_REDIRECTS,
        ) as response:
            extension = _extension_of(response)
            content = await response.read()
            address = f"{response.destination.origin}{response.destination.path_and_query}"
    except EgressTimeout:
        raise PageFailed("timeout", f"The page did not arrive within {TIMEOUT_SECONDS:g} seconds.") from None
    except RetinueError as error:
        raise PageFailed("not_readable", error.message) from None
    return await _read_text(content, address, extension, folder, requester)


def _extension_of(response: Response) -> str:
    if not 200 <= response.status < 300:
        raise PageFailed("not_readable", f"The page answered with status {response.status}.")
    media_type = response.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    extension = _EXTENSIONS.get(media_type)
    if extension is not None:
        return extension
    if media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith("+json"):
        return ".txt"
    raise PageFailed("not_readable", f"The address is no page of text, but {media_type[:100]}.")


async def _read_text(
    content: bytes, address: str, extension: str, folder: Path, requester: QueuedCaller
) -> WebPage:
    path = folder / secrets.token_hex(16)
    try:
        await asyncio.to_thread(_write_copy, path, content)
        parsed = await documents.parse(
            path,
            filename=f"page{extension}",
            requester=requester,
            is_web_page=True,
            size=_PIECE_LENGTH,
            overlap=0,
        )
    except (DocumentError, ReadersBusy) as error:
        raise PageFailed("not_readable", f"The page cannot be read: {error.message}") from None
    finally:
        await asyncio.to_thread(path.unlink, missing_ok=True)
    text = "\n\n".join(piece.text for piece in parsed.pieces)
    title = next((piece.heading for piece in parsed.pieces if piece.heading), None)
    text = _LINK.sub(lambda link: f"]({_absolute(address, link[1])})", text)
    return WebPage(address, title or address, text)


def _write_copy(path: Path, content: bytes) -> None:
    """Write a private copy for a confined process; copies left by a crash are swept."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        copy.write(content)


def _absolute(address: str, link: str) -> str:
    try:
        return urljoin(address, link)
    except ValueError:
        return link
