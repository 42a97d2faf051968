"""The passages of an agent's documents that a turn begins with."""

from msgspec import Struct

from retinue.chat.engine.budget import TurnBudget
from retinue.chat.engine.quotations import QuotationFinder
from retinue.chat.engine.task import TurnTask
from retinue.kit.context import Context
from retinue.knowledge import retrieval
from retinue.knowledge.retrieval import BY_WORDS_WARNING, Passage


class FoundPassages(Struct, frozen=True):
    """Passages of documents, and the quoter if the built-in model answers."""

    passages: list[Passage]
    quotations: QuotationFinder
    warnings: tuple[str, ...] = ()


async def search_documents(ctx: Context, task: TurnTask, budget: TurnBudget) -> FoundPassages:
    """Search the agent's documents for the message; the budget of the turn pays for it."""
    agent = task.agent
    found = await retrieval.search(ctx, agent.knowledge_base_id, task.message, hold=budget)
    finder = QuotationFinder(ctx, agent, task.message, task.history, found.passages, budget)
    return FoundPassages(found.passages, finder, (BY_WORDS_WARNING,) if found.is_unpaid else ())
