"""The agents that one can chat with, without what they are made of."""

from retinue.agents.models import Agent, AgentStatus
from retinue.chat.chat_agent_schemas import ChatAgent, ChatAgentList, ChatInputs
from retinue.chat.engine.attached import AttachmentKind
from retinue.chat.errors import SttNotConfigured
from retinue.chat.voice_models import choose_voice_model
from retinue.kit.context import Context
from retinue.kit.lists import Listing, Page
from retinue.providers.model_resolution import can_see

_agents = Agent.__table__
_CHAT_AGENTS = Listing(
    Agent,
    searches=("name", "description"),
    sorts=("name", "created_at"),
    only=(_agents.c.parent_id.is_(None), _agents.c.status == AgentStatus.published.value),
    default_sort="name",
)


async def page_of_chat_agents(ctx: Context, query: ChatAgentList) -> Page[ChatAgent]:
    page = await _CHAT_AGENTS.page(ctx.db, query)
    hears = bool(page.items) and await can_transcribe(ctx)
    inputs = {agent.id: await _inputs_of(ctx, agent, hears=hears) for agent in page.items}
    return page.to_page(lambda agent: ChatAgent.of(agent, takes=inputs[agent.id]))


async def _inputs_of(ctx: Context, agent: Agent, *, hears: bool) -> ChatInputs:
    files = [AttachmentKind.document]
    # A model that is not known may see: it gets the image, and says so itself if it cannot.
    if await can_see(ctx, agent.primary_model) is not False:
        files.append(AttachmentKind.image)
    if hears:
        files.append(AttachmentKind.audio)
    return ChatInputs(files=files, voice=hears)


async def can_transcribe(ctx: Context) -> bool:
    try:
        await choose_voice_model(ctx, "transcription")
    except SttNotConfigured:
        return False
    return True
