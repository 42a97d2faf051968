"""Functions of the engine itself: search of the web and of tools; reading of pages, files and messages."""

from collections.abc import Sequence

import msgspec

from retinue.adapters.search import SearchError
from retinue.agents.search_engine import search_web
from retinue.chat.engine.attachment_reader import read_attachment
from retinue.chat.engine.call_outcomes import CallRefused, sanitize_page
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.page_reader import addresses_named, read_page
from retinue.chat.engine.parts import CalledTool, Source
from retinue.chat.engine.recall import recall
from retinue.chat.engine.task import TurnTask
from retinue.chat.engine.tool_search import MAX_FOUND, find_functions
from retinue.chat.engine.toolbox import OwnFunction, Toolbox
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.usage.model_call import SpendingHold


class OwnResult(msgspec.Struct, frozen=True):
    output: object
    sources: tuple[Source, ...] = ()


class OwnFunctions:
    """The functions in one turn; `called` are the calls that it has made so far."""

    def __init__(
        self,
        ctx: Context,
        task: TurnTask,
        toolbox: Toolbox,
        called: Sequence[CalledTool],
        fence: PromptFence,
        hold: SpendingHold,
    ) -> None:
        self._ctx = ctx
        self._hold = hold
        self._fence = fence
        self._task = task
        self._toolbox = toolbox
        self._called = called

    def addresses_named(self) -> frozenset[str]:
        """Return the web pages that stood in the conversation."""
        functions = self._toolbox.names_of(OwnFunction.web_search, OwnFunction.read_page)
        return addresses_named(self._task, self._called, functions)

    async def run(self, function: OwnFunction, arguments: JsonObject, sources_before: int) -> OwnResult:
        match function:
            case OwnFunction.web_search:
                return await self._search_web(arguments, sources_before)
            case OwnFunction.read_page:
                config, named = self._task.agent.web_search, self.addresses_named()
                read = await read_page(self._ctx, config, named, arguments, sources_before)
                return OwnResult(read.output, (read.source,))
            case OwnFunction.read_attachment:
                return OwnResult(await read_attachment(self._ctx, self._task.documents, arguments))
            case OwnFunction.recall:
                assert self._task.memory is not None
                return OwnResult(await recall(self._task.memory, arguments, self._fence))
            case OwnFunction.tool_search:
                return await self._find_functions(arguments)
            case OwnFunction.call_tool:
                name = arguments.get("name")
                if isinstance(name, str) and name in self._toolbox.searched:
                    raise CallRefused(
                        "invalid_arguments",
                        "Give an object as `input`, and nothing besides `name` and `input`.",
                    )
                raise CallRefused("tool_not_found", "`name` must be a function that tool_search has found.")

    async def _find_functions(self, arguments: JsonObject) -> OwnResult:
        query, limit = arguments.get("query"), arguments.get("limit")
        if not isinstance(query, str) or not query.strip():
            raise CallRefused("invalid_arguments", "`query` must say what the function should do.")
        wanted = min(max(limit, 1), MAX_FOUND) if isinstance(limit, int) else None
        found = await find_functions(self._ctx, self._toolbox.searched, query, wanted, self._hold)
        return OwnResult(found)

    async def _search_web(self, arguments: JsonObject, sources_before: int) -> OwnResult:
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            raise CallRefused("invalid_arguments", "`query` must say what to look for.")
        try:
            pages = [sanitize_page(page) for page in await search_web(self._ctx, self._task.agent, query)]
        except SearchError as error:
            raise CallRefused(error.code, error.message) from None
        sources = tuple(
            Source(
                document_name=page.title,
                chunk_preview=page.snippet,
                relevance_score=round(1 / (1 + position), 3),
                url=page.url,
                index=sources_before + position + 1,
            )
            for position, page in enumerate(pages)
        )
        output = [
            {"index": source.index, "title": page.title, "url": page.url, "snippet": page.snippet}
            for source, page in zip(sources, pages, strict=True)
        ]
        return OwnResult(output, sources)
