"""A model that thinks about a message: it proposes values, and every one of them has yet to hold.

One that hangs, fails or talks nonsense changes nothing: then the message is understood without it.
"""

import asyncio
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.adapters.llm import ChatReply, ChatRequest
from retinue.agents.loaders import find_agent
from retinue.agents.models import Agent, AgentStatus
from retinue.chat.admission import take_place
from retinue.chat.engine.asking_models import Models
from retinue.chat.models import Channel
from retinue.forms.conversation import turns
from retinue.forms.conversation.desk import Desk
from retinue.forms.conversation.grounding import Words
from retinue.forms.conversation.prompts import Answer, Question, request_for
from retinue.forms.conversation.state import Proposals, State
from retinue.forms.conversation.taking import Verify, judge
from retinue.forms.conversation.understanding import is_free
from retinue.forms.models import FormMessage
from retinue.forms.opening import OpenForm
from retinue.forms.prompting import chosen_model, json_in
from retinue.kit.context import Context
from retinue.kit.db.statements import reading
from retinue.kit.errors import RetinueError
from retinue.kit.fields import CHOICES, FieldType
from retinue.kit.limits import limits_for
from retinue.providers import calling
from retinue.tenants.queries import own_tenant
from retinue.usage import spending
from retinue.usage.metering import cost_usd, meter
from retinue.usage.spending import Spender

log = structlog.get_logger("retinue.forms")

PATIENCE_S = 20.0
_MOST_EARLIER = 12
_LONGEST_PERSONA = 4000
_MOST_TOKENS = 8000
"""What one question can come to: it is bounded in characters."""

_messages = FormMessage.__table__
_EARLIER = reading(
    FormMessage,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id", type_=sa.Text()))
    .order_by(_messages.c.position.desc())
    .limit(_MOST_EARLIER + 1),
)


class Thought(msgspec.Struct):
    """What a model said, if it said anything that can be read; and what it was asked for, to be paid."""

    answer: Answer | None = None
    options: dict[str, list[dict[str, Any]]] = {}
    texts: list[str] = []
    is_repeated: bool = False
    """Whether the same was asked twice already, without an answer that anyone understood."""
    reply: ChatReply | None = None
    is_metered: bool = False


async def find_thinker(ctx: Context, form: OpenForm) -> "Thinker | None":
    """The form's agent, or the model it names, or what the tenant has chosen; never one that nobody chose."""
    chosen = form.rules.conversational
    if chosen.model is False:
        return None
    if chosen.agent_id:
        agent = await find_agent(ctx, chosen.agent_id)
        usable = agent is not None and agent.status is not AgentStatus.archived
        return Thinker(form, agent, "") if usable else None
    model = chosen.model if isinstance(chosen.model, str) else await chosen_model(ctx)
    return Thinker(form, None, model) if model else None


class Thinker:
    def __init__(self, form: OpenForm, agent: Agent | None, model: str) -> None:
        self._form = form
        self._agent = agent
        self._models = (agent.primary_model, *agent.fallback_models) if agent is not None else (model,)
        self._spender = Spender(agent_id=agent.id if agent is not None else "")

    async def think(self, ctx: Context, begun: turns.Begun, thought: Thought) -> None:
        """Fill in the thought; whatever goes wrong, it is over in time."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                question = await self._question(ctx, begun, thought)
                thought.reply = await self._ask(ctx, request_for(question))
            thought.answer = msgspec.json.decode(json_in(thought.reply.text), type=Answer)
        except (RetinueError, TimeoutError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            log.info("form_model_not_used", form_id=self._form.id, error=repr(error)[:200])

    async def _question(self, ctx: Context, begun: turns.Begun, thought: Thought) -> Question:
        reader = ctx.apart()
        conversation = await turns.fetch(reader, self._form, begun.conversation_id)
        state = State.of(self._form.fields, conversation)
        desk = Desk(reader, self._form)
        thought.options = {
            field.id: await desk.choices(field) for field in state.inputs if field.type in CHOICES
        }
        found = await reader.db.rows(_EARLIER, conversation_id=conversation.id)
        earlier = [one for one in reversed(found) if one.id != begun.user_message.id]
        thought.texts = [begun.said.content, *(one.content for one in earlier if one.role == "user")]
        asked = [one.field_id for one in earlier if one.role == "assistant"][-2:]
        thought.is_repeated = asked == [state.asked, state.asked]
        rules = self._form.rules.conversational
        return Question(
            state=state,
            options=thought.options,
            earlier=earlier,
            said=begun.said.content,
            persona=self._agent.system_prompt[:_LONGEST_PERSONA] if self._agent is not None else "",
            tone=rules.tone,
            language=conversation.language,
        )

    async def _ask(self, ctx: Context, request: ChatRequest) -> ChatReply:
        tenant = await own_tenant(ctx.apart())
        place = await take_place(ctx, limits_for(tenant.plan, tenant.limits))
        try:
            held = await spending.hold(ctx, self._spender, self._models, _MOST_TOKENS)
            try:
                if held.spent is not None:
                    raise spending.exceeded(ctx, held.spent)
                if self._agent is not None:
                    return await Models(ctx, self._agent).reply(request)
                return await calling.chat(ctx, msgspec.structs.replace(request, model=self._models[0]))
            finally:
                await held.give_back()
        finally:
            await place.give_back()

    def meter(self, ctx: Context, thought: Thought) -> None:
        """Count what was used in the transaction that ends the turn, whether it was of any use or not."""
        reply = thought.reply
        if reply is None or thought.is_metered:
            return
        thought.is_metered = True
        prompt = reply.usage.prompt_tokens if reply.usage is not None else 0
        completion = reply.usage.completion_tokens if reply.usage is not None else 0
        cost = cost_usd(reply.model, prompt, completion)
        meter(
            ctx,
            {
                "chat_requests": 1,
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "cost_usd": cost,
            },
            agent_id=self._spender.agent_id,
            model=reply.model,
            channel=Channel.form,
        )
        spending.look_later(ctx, self._spender, cost, prompt + completion)


async def weigh(state: State, plain: Proposals, thought: Thought, verify: Verify) -> Proposals:
    """What is taken of a model's word, and what of the message as it stands.

    Files, confirmations and commands are never the model's to say.
    """
    answer = thought.answer
    if answer is None or plain.is_certain:
        return plain
    proposed, is_doubtful = _grounded(state, answer, thought)
    skips = [id for id in answer.skip if id not in state.answers and id in state.fields.by_id]
    own = await _own_answer(state, plain, proposed, verify)
    reply = "" if is_doubtful or len(skips) < len(answer.skip) else answer.reply
    has_values = bool(proposed or skips or own)
    if not has_values and (not reply or thought.is_repeated):
        return plain
    return Proposals(answers={**proposed, **own}, skips=skips, reply=reply)


def _grounded(state: State, answer: Answer, thought: Thought) -> tuple[dict[str, Any], bool]:
    """The values that the visitor's words bear out, and whether there were others."""
    words = Words(thought.texts, state.asked)
    kept: dict[str, Any] = {}
    for id, value in answer.values.items():
        field = state.find_input(id)
        known = state.fields.by_id.get(id)
        if field is None and known is not None and known.type is not FieldType.hidden:
            # An answer of the same message may show it: the engine looks again.
            field = known
        if field is not None and words.has(field, value, thought.options.get(id, [])):
            kept[id] = value
    return kept, len(kept) < len(answer.values)


async def _own_answer(
    state: State, plain: Proposals, proposed: dict[str, Any], verify: Verify
) -> dict[str, Any]:
    """What was sent along, and what plainly answers the question where the model's answer does not hold."""
    own = {id: value for id, value in plain.answers.items() if state.fields.by_id[id].type is FieldType.file}
    field = state.asked_field
    if field is None or is_free(field) or field.id not in plain.answers:
        return own
    if field.id in proposed and (await judge(field, proposed[field.id], verify))[0] is None:
        return own
    if (await judge(field, plain.answers[field.id], verify))[0] is None:
        own[field.id] = plain.answers[field.id]
    return own
