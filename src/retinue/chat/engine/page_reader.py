"""The function with which a model reads a web page.

Only addresses that stood in the conversation are read: those of search results, of the user's messages and of
pages read before, and those of hosts that the agent's settings allow. The links of a page are its words: they
could otherwise make the model carry what it knows to an address that they name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urldefrag, urlsplit

import msgspec

from retinue.adapters.llm import ModelMessage, ToolSpec
from retinue.adapters.search.domains import is_domain_allowed, is_within
from retinue.adapters.web_pages import PageFailed, WebPage, read_web_page
from retinue.agents.models import WebSearch
from retinue.chat.engine.call_outcomes import CallRefused
from retinue.chat.engine.parts import CalledTool, Source
from retinue.chat.engine.sanitizer import sanitize_text
from retinue.chat.engine.task import TurnTask
from retinue.kit.context import Context
from retinue.kit.egress import Egress
from retinue.kit.json_types import JsonObject

PAGE_LENGTH = 12_000
_PREVIEW_LENGTH = 300
_MAX_ADDRESS_LENGTH = 2_000
_MAX_ADDRESSES = 5_000
# The end of an address in running text: what closes brackets and sentences is not part of it.
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]{1,2000}")
_TRAILING = ".,;:!?*_"
_URL_FIELD = re.compile(r'"url":("(?:[^"\\]|\\["\\/bfnrtu])*")')

READ_PAGE_SPEC = ToolSpec(
    "read_page",
    (
        "Reads a web page and returns its text. Only addresses from search results, from the user's messages "
        "and from pages read before can be read. A long page has several parts: `page` chooses one."
    ),
    {
        "type": "object",
        "properties": {
            "url": {"type": "string", "maxLength": _MAX_ADDRESS_LENGTH, "description": "The page's address."},
            "page": {"type": "integer", "minimum": 1, "description": "The part of the page, counted from 1."},
        },
        "required": ["url"],
        "additionalProperties": False,
    },
)


class PageRead(msgspec.Struct, frozen=True):
    """A part of a page as the model gets it, and the source that it can cite."""

    output: JsonObject
    source: Source


def addresses_named(task: TurnTask, called: Iterable[CalledTool], functions: Sequence[str]) -> frozenset[str]:
    """Return the addresses that stood in the conversation; `functions` are those whose results name them."""
    named = [*_named_in_history(task.history, functions)]
    # The message to a sub-agent was written by a model; it brings along what its caller may read.
    if not task.depth:
        named += _find_addresses(task.message)
    for call in called:
        if call.tool in functions:
            pages = call.output if isinstance(call.output, list) else [call.output]
            named += [str(page["url"]) for page in pages if isinstance(page, dict) and "url" in page]
    return task.named_addresses | {_canonical(url) for url in named[-_MAX_ADDRESSES:]}


def _named_in_history(history: Sequence[ModelMessage], functions: Sequence[str]) -> Iterator[str]:
    results: set[str] = set()
    for message in history:
        results |= {call.id for call in message.tool_calls if call.name in functions}
        if message.role == "user":
            yield from _find_addresses(message.text())
        elif message.role == "tool" and message.tool_call_id in results:
            # Only the addresses of results and pages, not those in their texts, where quotes are escaped.
            for quoted in _URL_FIELD.findall(message.text()):
                yield str(msgspec.json.decode(quoted))


def _find_addresses(text: str) -> Iterator[str]:
    for found in _ADDRESS.findall(text):
        address = found.rstrip(_TRAILING)
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(_TRAILING)
        yield address


def _canonical(url: str) -> str:
    return urldefrag(url).url.removesuffix("/")


async def read_page(
    ctx: Context, config: WebSearch, named: frozenset[str], arguments: JsonObject, sources_before: int
) -> PageRead:
    url, number = arguments.get("url"), arguments.get("page", 1)
    if not isinstance(url, str) or not 0 < len(url) <= _MAX_ADDRESS_LENGTH:
        raise CallRefused("invalid_arguments", "`url` must be the address of a page.")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise CallRefused("invalid_arguments", "`page` must be a number, counted from 1.")
    _require_named(config, named, url)
    try:
        page = await read_web_page(ctx.adapter(Egress), url, ctx.settings.data_dir / "tmp", ctx.requester)
    except PageFailed as failed:
        raise CallRefused(failed.code, failed.message) from None
    if not is_domain_allowed(_host(page.url), allowed=(), blocked=config.blocked_domains):
        raise CallRefused("not_readable", "The page leads to a site that this agent does not read.")
    return _part_of(page, number, sources_before)


def _require_named(config: WebSearch, named: frozenset[str], url: str) -> None:
    host = _host(url)
    if not host or not is_domain_allowed(host, allowed=(), blocked=config.blocked_domains):
        raise CallRefused("not_readable", "This agent does not read pages of this site.")
    if _canonical(url) in named or any(is_within(host, domain) for domain in config.allowed_domains):
        return
    raise CallRefused(
        "not_named",
        "Only addresses that stood in this conversation can be read: from search results, from the user's "
        "messages and from pages read before.",
    )


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in {"http", "https"} else ""


def _part_of(page: WebPage, number: int, sources_before: int) -> PageRead:
    text, title = sanitize_text(page.text), sanitize_text(page.title)
    parts = max(1, -(-len(text) // PAGE_LENGTH))
    if number > parts:
        raise CallRefused("invalid_arguments", f"The page has only {parts} parts.")
    shown = text[(number - 1) * PAGE_LENGTH : number * PAGE_LENGTH]
    source = Source(
        document_name=title,
        chunk_preview=shown[:_PREVIEW_LENGTH],
        relevance_score=1.0,
        url=page.url,
        index=sources_before + 1,
    )
    output: JsonObject = {"index": source.index, "title": title, "url": page.url, "text": shown}
    return PageRead({**output, "page": number, "pages": parts}, source)
