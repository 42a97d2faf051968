"""Extraction of answers from a message with a model; every proposed value is validated later.

If the model hangs, fails or returns nonsense, the message is parsed without it.
"""

import asyncio

import msgspec
import sqlalchemy as sa
import structlog

from retinue.adapters.llm import ChatRequest, ModelReply, ModelUsage
from retinue.adapters.llm.estimates import estimate_request
from retinue.agents.loaders import find_agent
from retinue.agents.models import Agent, AgentStatus
from retinue.chat.engine.agent_models import AgentModels
from retinue.chat.engine.budget import TurnBudget
from retinue.chat.models import ChatChannel
from retinue.chat.turn.slots import acquire_turn_slot
from retinue.forms.conversation import turns
from retinue.forms.conversation.answers import Verify, validate_answer
from retinue.forms.conversation.grounding_check import VisitorText
from retinue.forms.conversation.lookups import FormLookups
from retinue.forms.conversation.model_prompt import ExtractedAnswers, ExtractionPrompt, build_request
from retinue.forms.conversation.parser import accepts_any_text
from retinue.forms.conversation.state import ConversationState, Proposals
from retinue.forms.models import FormMessage
from retinue.forms.open_form import OpenForm
from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import limits_for
from retinue.kit.schema.fields import CHOICES, FieldType
from retinue.providers import model_calls
from retinue.providers.generation import extract_json, find_default_model
from retinue.providers.turn_budgets import hold_turn
from retinue.tenants.queries import own_tenant
from retinue.usage import enforcement, unpriced
from retinue.usage.enforcement import BudgetHold, Spender
from retinue.usage.errors import ModelUnpriced
from retinue.usage.meters import meter, token_counts
from retinue.usage.price_book import load_price_book, usd

log = structlog.get_logger("retinue.forms")

MODEL_TIMEOUT_SECONDS = 20.0
_MAX_HISTORY_MESSAGES = 12
_MAX_PERSONA_LENGTH = 4000
_RESERVED_TOKENS = 8000
"""Upper bound of one request, which is limited in characters."""

_messages = FormMessage.__table__
_LATEST_MESSAGES = record_statement(
    FormMessage,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id", type_=sa.Text()))
    .order_by(_messages.c.position.desc())
    .limit(_MAX_HISTORY_MESSAGES + 1),
)


class Extraction(msgspec.Struct):
    """The model's answer, if it was readable, and its reply for metering."""

    answer: ExtractedAnswers | None = None
    options: dict[str, list[JsonObject]] = {}
    texts: list[str] = []
    is_repeated: bool = False
    """Whether the same question was already asked twice without an understandable answer."""
    reply: ModelReply | None = None
    nano_usd: int | None = None
    """The cost of the reply; None if its price is unknown."""
    is_metered: bool = False


async def find_extractor(ctx: Context, form: OpenForm) -> "AnswerExtractor | None":
    """Return an extractor with the form's agent, its model or the tenant's default, or None.

    A model that nobody chose is never used.
    """
    chosen = form.rules.conversational
    if chosen.model is False:
        return None
    if chosen.agent_id:
        agent = await find_agent(ctx, chosen.agent_id)
        usable = agent is not None and agent.status is not AgentStatus.archived
        return AnswerExtractor(form, agent, "") if usable else None
    model = chosen.model if isinstance(chosen.model, str) else await find_default_model(ctx)
    return AnswerExtractor(form, None, model) if model else None


class AnswerExtractor:
    def __init__(self, form: OpenForm, agent: Agent | None, model: str) -> None:
        self._form = form
        self._agent = agent
        self._models = (agent.primary_model, *agent.fallback_models) if agent is not None else (model,)
        self._spender = Spender(agent_id=agent.id if agent is not None else "")

    async def extract(self, ctx: Context, pending: turns.PendingFormTurn, extracted: Extraction) -> None:
        """Fill in `extracted`; errors are logged, and a timeout bounds the call."""
        try:
            async with asyncio.timeout(MODEL_TIMEOUT_SECONDS):
                extraction_prompt = await self._build_prompt(ctx, pending, extracted)
                extracted.reply = await self._request_reply(ctx, build_request(extraction_prompt))
            await self._price(ctx, extracted, extracted.reply)
            extracted.answer = msgspec.json.decode(extract_json(extracted.reply.text), type=ExtractedAnswers)
        except (RetinueError, TimeoutError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            log.info("form_model_not_used", form_id=self._form.id, error=repr(error)[:200])

    async def _build_prompt(
        self, ctx: Context, pending: turns.PendingFormTurn, extracted: Extraction
    ) -> ExtractionPrompt:
        reader = ctx.detached()
        conversation = await turns.fetch(reader, self._form, pending.conversation_id)
        state = ConversationState.of(self._form.fields, conversation)
        lookups = FormLookups(reader, self._form)
        extracted.options = {
            field.id: await lookups.choices(field) for field in state.inputs if field.type in CHOICES
        }
        messages = await reader.db.rows(_LATEST_MESSAGES, conversation_id=conversation.id)
        history = [message for message in reversed(messages) if message.id != pending.user_message.id]
        extracted.texts = [
            pending.visitor_message.content,
            *(message.content for message in history if message.role == "user"),
        ]
        asked = [message.field_id for message in history if message.role == "assistant"][-2:]
        extracted.is_repeated = asked == [state.asked, state.asked]
        rules = self._form.rules.conversational
        return ExtractionPrompt(
            state=state,
            options=extracted.options,
            history=history,
            visitor_message=pending.visitor_message.content,
            persona=self._agent.system_prompt[:_MAX_PERSONA_LENGTH] if self._agent is not None else "",
            tone=rules.tone,
            language=conversation.language,
        )

    async def _request_reply(self, ctx: Context, request: ChatRequest) -> ModelReply:
        tenant = await own_tenant(ctx.detached())
        slot = await acquire_turn_slot(ctx, limits_for(tenant.plan, tenant.limits))
        try:
            held = await hold_turn(ctx, self._spender, self._models, _RESERVED_TOKENS)
            try:
                enforcement.require_unspent(ctx, held)
                return await self._ask_models(ctx, request, held)
            finally:
                await held.release()
        finally:
            await slot.release()

    @staticmethod
    async def _price(ctx: Context, extracted: Extraction, reply: ModelReply) -> None:
        prices = await load_price_book(ctx)
        usage = reply.usage or ModelUsage(0, 0)
        extracted.nano_usd = prices.call_cost(reply.model, usage)
        prices.count_spending(reply.model, usage, extracted.nano_usd)

    async def _ask_models(self, ctx: Context, request: ChatRequest, held: BudgetHold) -> ModelReply:
        rule = await unpriced.find_rule(ctx, self._spender)
        budget = TurnBudget(await load_price_book(ctx), unpriced=rule, limits=held.limits)
        reserved = budget.reserve(self._models[0], estimate_request(request), request.max_tokens)
        try:
            if self._agent is not None:
                return await AgentModels(ctx, self._agent).reply(request, reserved)
            asked = msgspec.structs.replace(request, model=self._models[0])
            return await model_calls.chat(ctx, asked, hold=reserved)
        except ModelUnpriced as refusal:
            model = (refusal.details or {}).get("model", self._models[0])
            await unpriced.announce_refusal(ctx, self._spender, model)
            raise enforcement.count_refusal(refusal) from refusal

    def meter(self, ctx: Context, extracted: Extraction) -> None:
        """Meter the model call in the transaction that ends the turn, whether or not the answer was used."""
        reply = extracted.reply
        if reply is None or extracted.is_metered:
            return
        extracted.is_metered = True
        usage = reply.usage or ModelUsage(0, 0)
        meter(
            ctx,
            {"chat_requests": 1, **token_counts(usage, extracted.nano_usd)},
            agent_id=self._spender.agent_id,
            model=reply.model,
            channel=ChatChannel.form,
        )
        tokens = usage.prompt_tokens + usage.completion_tokens
        enforcement.enqueue_threshold_checks(ctx, self._spender, usd(extracted.nano_usd or 0), tokens)
        if extracted.nano_usd is None:
            unpriced.announce(ctx, self._spender, reply.model)


async def merge_proposals(
    state: ConversationState, parsed: Proposals, extracted: Extraction, verify: Verify
) -> Proposals:
    """Combine the model's answers with those parsed from the message itself.

    Files, confirmations and commands are never taken from the model.
    """
    answer = extracted.answer
    if answer is None or parsed.is_certain:
        return parsed
    proposed, is_doubtful = _keep_grounded(state, answer, extracted)
    skips = [id for id in answer.skip if id not in state.answers and id in state.fields.by_id]
    own = await _parsed_answers(state, parsed, proposed, verify)
    reply = "" if is_doubtful or len(skips) < len(answer.skip) else answer.reply
    has_values = bool(proposed or skips or own)
    if not has_values and (not reply or extracted.is_repeated):
        return parsed
    return Proposals(answers={**proposed, **own}, skips=skips, reply=reply)


def _keep_grounded(
    state: ConversationState, answer: ExtractedAnswers, extracted: Extraction
) -> tuple[JsonObject, bool]:
    """Return the values that the visitor's words support, and whether others were dropped."""
    words = VisitorText(extracted.texts, state.asked)
    kept: JsonObject = {}
    for id, value in answer.values.items():
        field = state.find_input(id)
        known = state.fields.by_id.get(id)
        if field is None and known is not None and known.type is not FieldType.hidden:
            # Another answer in the same message may reveal this field; the engine checks that.
            field = known
        if field is not None and words.has(field, value, extracted.options.get(id, [])):
            kept[id] = value
    return kept, len(kept) < len(answer.values)


async def _parsed_answers(
    state: ConversationState, parsed: Proposals, proposed: JsonObject, verify: Verify
) -> JsonObject:
    """Return attached files, and the parsed answer to the question if the model's is invalid."""
    own = {id: value for id, value in parsed.answers.items() if state.fields.by_id[id].type is FieldType.file}
    field = state.asked_field
    if field is None or accepts_any_text(field) or field.id not in parsed.answers:
        return own
    if field.id in proposed and (await validate_answer(field, proposed[field.id], verify))[0] is None:
        return own
    if (await validate_answer(field, parsed.answers[field.id], verify))[0] is None:
        own[field.id] = parsed.answers[field.id]
    return own
