"""The project's documents (`docs/guides`, `docs/reference`, `docs/adr`) as HTML pages."""

import itertools
import os
import re
import sys
import unicodedata
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from retinue.kit.errors import NotFound
from retinue.kit.http.replies import WebDocument

FOLDERS = ("guides", "reference", "adr")
README = "README.md"
_FIRST = "tutorial.md"
"""The guide to begin with; the others follow by name."""
_PICTURES = "pictures"
# Pages show pictures from this server and run no scripts.
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@cache
def docs_folder() -> Path | None:
    """Return the folder of the documents: in the source tree, or where the wheel installed them."""
    package = Path(str(resources.files("retinue")))
    for folder in (package.parents[1] / "docs", Path(sys.prefix) / "share" / "retinue" / "docs"):
        if (folder / "guides").is_dir():
            return folder
    return None


def guide_index(base: str) -> WebDocument:
    items = "".join(
        f'        <li><a href="{base}/docs/guides/{escape(path.name)}">{escape(_title(path))}</a></li>\n'
        for path in _pages("guides").values()
    )
    return _page("Guides", f'      <h1>Guides</h1>\n      <ul class="links">\n{items}      </ul>', base)


def guide_list() -> WebDocument:
    """Return the guides in JSON, for the console: `page` is the address below `/docs/guides/`."""
    listed = [{"page": path.stem, "title": _title(path)} for path in _pages("guides").values()]
    return WebDocument(msgspec.json.encode({"data": listed}), "application/json")


def document(folder: str, name: str, base: str) -> WebDocument:
    """Return a document as a page, or a picture used in one."""
    if folder == _PICTURES:
        return _picture(name)
    pages = _pages(folder)
    path = pages.get(name) or pages.get(f"{name}.md")
    if path is None:
        raise NotFound
    return _rendered(path, base)


@cache
def _pages(folder: str) -> dict[str, Path]:
    """Return the documents of a folder by file name; no other file can be requested."""
    docs = docs_folder()
    if docs is None or folder not in FOLDERS:
        return {}
    pages = sorted((docs / folder).glob("*.md"), key=lambda path: (path.name != _FIRST, path.name))
    return {path.name: path for path in pages}


def _picture(name: str) -> WebDocument:
    docs = docs_folder()
    pictures = {path.name: path for path in (docs / _PICTURES).glob("*.png")} if docs else {}
    if name not in pictures:
        raise NotFound
    return WebDocument(pictures[name].read_bytes(), "image/png")


@cache
def _title(path: Path) -> str:
    first = path.read_text("utf-8").partition("\n")[0]
    return first.removeprefix("# ").strip()


def readme(base: str) -> WebDocument:
    """Return the project's README, which the guides link to."""
    docs = docs_folder()
    path = docs.parent / README if docs is not None else None
    if path is None or not path.is_file():
        raise NotFound
    return _rendered(path, base)


@cache
def _rendered(path: Path, base: str) -> WebDocument:
    from markdown_it import MarkdownIt

    # No embedded HTML: a document contains only text, links and pictures.
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.parse(path.read_text("utf-8"))
    _name_headings(tokens)
    _unlink_files(tokens, path)
    _describe_missing_pictures(tokens, path)
    return _page(_title(path), markdown.renderer.render(tokens, markdown.options, {}), base)


def _name_headings(tokens: list[Any]) -> None:
    """Give headings the ids that links in the documents use."""
    for token, following in itertools.pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(following.content))


def _unlink_files(tokens: list[Any], page: Path) -> None:
    """Turn links to files that this server does not publish into plain text."""
    docs = docs_folder()
    shown = {f"docs/{folder}" for folder in FOLDERS} | {f"docs/{_PICTURES}"}
    for token in tokens:
        for child in token.children or ():
            href = str(child.attrGet("href") or "") if child.type == "link_open" else ""
            if not href or "://" in href or href.startswith("#") or docs is None:
                continue
            target = Path(os.path.normpath(page.parent / href.partition("#")[0]))
            inside = target.relative_to(docs.parent) if target.is_relative_to(docs.parent) else target
            if str(inside) != README and (str(inside.parent) not in shown or not target.is_file()):
                child.attrs.pop("href")


def _describe_missing_pictures(tokens: list[Any], page: Path) -> None:
    """Show the description of a picture in its place: a wheel has the documents without their pictures."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "image" and not (page.parent / str(child.attrGet("src"))).is_file():
                child.type, child.tag, child.content = "text", "", f"[{child.content}]"


def _anchor(heading: str) -> str:
    words = unicodedata.normalize("NFC", heading).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words).strip())


def _page(title: str, content: str, base: str) -> WebDocument:
    template = resources.files("retinue.kit.http").joinpath("assets", "guide.html").read_text("utf-8")
    return WebDocument(
        template.format(title=escape(title), content=content, base=base).encode(), policy=_POLICY
    )
