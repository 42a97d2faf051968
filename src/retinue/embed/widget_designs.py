"""Settings of an agent's widget, as its owner designs it and as pages load it."""

from collections.abc import Sequence

from retinue.agents.models import Agent
from retinue.chat.engine.parts import Source
from retinue.chat.engine.sources import cited_sources
from retinue.embed.models import EmbedKey, WidgetDesign
from retinue.embed.schemas import AgentName, PublicSource, PublicWidget, WidgetSettings
from retinue.kit.context import Context


async def load(ctx: Context, agent: Agent) -> WidgetSettings:
    """Return the settings of the agent's widget; those of a new widget if nobody has designed it."""
    design = await ctx.db.find(WidgetDesign, agent_id=agent.id)
    return WidgetSettings.of(design) if design is not None else WidgetSettings()


async def save(ctx: Context, agent: Agent, body: WidgetSettings) -> WidgetSettings:
    """Replace the settings as a whole; pages show them within five minutes."""
    await ctx.db.insert_missing(WidgetDesign(agent_id=agent.id, suggestions=[]))
    design = await ctx.db.find(WidgetDesign, agent_id=agent.id)
    locked = await ctx.db.lock(WidgetDesign, design.id) if design is not None else None
    assert locked is not None
    changed = await ctx.db.update(
        locked,
        title=_text(body.title),
        greeting=_text(body.greeting),
        placeholder=_text(body.placeholder),
        accent=body.accent,
        on_accent=body.on_accent,
        scheme=body.scheme,
        position=body.position,
        suggestions=body.suggestions,
        show_sources=body.show_sources,
        second_accent=body.second_accent,
        lead=_text(body.lead),
        logo_url=body.logo_url,
        contact_url=body.contact_url,
        privacy_url=body.privacy_url,
        imprint_url=body.imprint_url,
    )
    return WidgetSettings.of(changed)


async def visible_sources(
    ctx: Context, agent: Agent, text: str, sources: Sequence[Source]
) -> list[PublicSource]:
    """Return the sources of a reply that a visitor may see: those it cites, unless the owner hides them."""
    cited = cited_sources(text, sources)
    if not cited or not (await load(ctx, agent)).show_sources:
        return []
    return [PublicSource.of(source) for source in cited]


async def load_for_page(ctx: Context, agent: Agent) -> PublicWidget:
    key = await ctx.db.get(EmbedKey, ctx.principal.id)
    return PublicWidget(
        agent=AgentName.of(agent),
        settings=await load(ctx, agent),
        allow_attachments=key is not None and key.allow_attachments,
    )


def _text(value: str | None) -> str | None:
    return (value or "").strip() or None
