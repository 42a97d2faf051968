"""Web search settings of an agent: whether a search can run, and where its key may go."""

from typing import Annotated, Any

import msgspec
import sqlalchemy as sa
from msgspec import UNSET, Meta, UnsetType

from retinue.adapters.search import SearchEngine, find_engine, parse_domain
from retinue.agents import service
from retinue.agents.models import Agent, WebSearch
from retinue.agents.search_engine import SECRET_FIELD_BY_TYPE, base_url_of, credential_problem, destination_of
from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.statements import Statement
from retinue.kit.db.text_match import escape_like
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema, sent_fields
from retinue.providers.addresses import read_base_url

EngineName = Annotated[str, Meta(min_length=1, max_length=64)]
MaxResults = Annotated[int, Meta(ge=1, le=20)]
CredentialId = Annotated[str, Meta(min_length=1, max_length=64)]
BaseUrl = Annotated[str, Meta(min_length=1, max_length=2048)]
Domains = Annotated[list[Annotated[str, Meta(min_length=1, max_length=253)]], Meta(max_length=100)]

_agents = Agent.__table__
# The configuration is one JSON value; this query is rare and limited to one tenant.
_AGENTS_MENTIONING = Statement(
    sa.select(_agents.c.id)
    .where(sa.cast(_agents.c.web_search, sa.Text).like(sa.bindparam("pattern"), escape="\\"))
    .order_by(_agents.c.id)
)
_DOMAIN_LISTS = ("allowed_domains", "blocked_domains")


class WebSearchOut(Schema, kw_only=True):
    """`configured` says whether a search can run; `warnings` lists obstacles and ignored settings."""

    enabled: bool
    search_engine: str
    max_results: int
    safe_search: bool
    read_pages: bool
    credential_id: str | None
    base_url: str | None
    allowed_domains: list[str]
    blocked_domains: list[str]
    configured: bool
    warnings: list[str]


class WebSearchUpdate(Schema, kw_only=True):
    enabled: bool | UnsetType = UNSET
    search_engine: EngineName | UnsetType = UNSET
    max_results: MaxResults | UnsetType = UNSET
    safe_search: bool | UnsetType = UNSET
    read_pages: bool | UnsetType = UNSET
    credential_id: CredentialId | UnsetType | None = UNSET
    base_url: BaseUrl | UnsetType | None = UNSET
    allowed_domains: Domains | UnsetType = UNSET
    blocked_domains: Domains | UnsetType = UNSET


async def show(ctx: Context, agent: Agent) -> WebSearchOut:
    config = agent.web_search
    engine = find_engine(config.search_engine)
    if engine is None:
        obstacles, notes = [f"The search engine {config.search_engine} is unknown. Choose another one."], []
    else:
        obstacles, notes = await _obstacles(ctx, config, engine), _unused_settings(config, engine)
    return WebSearchOut.of(
        config,
        allowed_domains=list(config.allowed_domains),
        blocked_domains=list(config.blocked_domains),
        configured=not obstacles,
        warnings=[*obstacles, *notes],
    )


async def update(ctx: Context, agent: Agent, body: WebSearchUpdate) -> WebSearchOut:
    # Lock first, so that concurrent changes of different fields do not overwrite each other.
    locked = await service.lock_agent(ctx, agent.id)
    return await _save(ctx, locked, await apply_changes(ctx, locked.web_search, sent_fields(body)))


async def apply_changes(ctx: Context, current: WebSearch, wanted: JsonObject) -> WebSearch:
    """Return the settings with these changes; raise if the caller may not make them or they are invalid."""
    wanted = dict(wanted)
    if wanted.get("base_url"):
        wanted["base_url"] = read_base_url(wanted["base_url"])
    for name in _DOMAIN_LISTS:
        if name in wanted:
            wanted[name] = _parse_domains(name, wanted[name])
    if wanted.get("credential_id"):
        await _check_credential(ctx, wanted["credential_id"])
    config = msgspec.structs.replace(current, **wanted)
    return await _with_destination(ctx, config, wanted.keys())


async def set_enabled(ctx: Context, agent: Agent, *, enabled: bool) -> WebSearchOut:
    locked = await service.lock_agent(ctx, agent.id)
    return await _save(ctx, locked, msgspec.structs.replace(locked.web_search, enabled=enabled))


async def find_users_of_credential(ctx: Context, credential_id: str) -> list[Referrer]:
    return [Referrer(agent.id, agent.name) for agent in await _users_of_credential(ctx, credential_id)]


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Remove a deleted credential from every agent."""
    for agent in await _users_of_credential(ctx, credential_id):
        locked = await service.lock_agent(ctx, agent.id)
        config = msgspec.structs.replace(locked.web_search, credential_id=None, credential_destination="")
        await service.change(ctx, locked, web_search=config)


async def _users_of_credential(ctx: Context, credential_id: str) -> list[Agent]:
    rows = await ctx.db.rows(_AGENTS_MENTIONING, pattern=f'%"{escape_like(credential_id)}"%')
    agents = [await ctx.db.get(Agent, row[0]) for row in rows]
    return [agent for agent in agents if agent and agent.web_search.credential_id == credential_id]


async def _save(ctx: Context, agent: Agent, config: WebSearch) -> WebSearchOut:
    if config != agent.web_search:
        agent = await service.change(ctx, agent, web_search=config)
    return await show(ctx, agent)


def _parse_domains(field: str, entries: list[str]) -> tuple[str, ...]:
    domains: JsonObject = {}
    for index, domain in enumerate(entries):
        try:
            domains[parse_domain(domain)] = True
        except EgressRefused as error:
            raise Invalid({f"{field}.{index}": error.message}) from None
    return tuple(domains)


async def _check_credential(ctx: Context, credential_id: str) -> None:
    ctx.principal.require("credentials:read")
    credential = await ctx.db.get(Credential, credential_id)
    if credential is None:
        raise Invalid({"credential_id": "there is no such credential"})
    if credential.type not in SECRET_FIELD_BY_TYPE:
        raise Invalid({"credential_id": f"must be of type {', '.join(SECRET_FIELD_BY_TYPE)}"})


async def _with_destination(ctx: Context, config: WebSearch, named: Any) -> WebSearch:
    """Return the configuration with the destination its key may be sent to (ADR 8).

    Only a user who sets the credential or the address agrees to it; changing other fields does not.
    """
    if config.credential_id is None:
        return msgspec.structs.replace(config, credential_destination="")
    if not named & {"credential_id", *_destination_fields(config)}:
        return config
    credential = await ctx.db.get(Credential, config.credential_id)
    destination = destination_of(ctx.settings, config)
    if credential is None or not await destinations.admit(ctx, credential, destination):
        return config
    return msgspec.structs.replace(config, credential_destination=destination)


def _destination_fields(config: WebSearch) -> set[str]:
    """Return the fields that determine where searches go; not the engine if the address is self-hosted."""
    engine = find_engine(config.search_engine)
    has_own_address = engine is not None and "base_url" in engine.needs and config.base_url is not None
    return {"base_url"} if has_own_address else {"base_url", "search_engine"}


async def _obstacles(ctx: Context, config: WebSearch, engine: SearchEngine) -> list[str]:
    """Return the reasons why a search cannot run."""
    base_url = base_url_of(ctx.settings, config)
    if "base_url" in engine.needs:
        if base_url is None:
            return [f"{engine.title} needs an address. Set base_url or RETINUE_SEARXNG_URL."]
        try:
            ctx.adapter(Egress).check(base_url, require_https=True)
        except EgressRefused as error:
            return [f"{engine.title} cannot be reached: {error.message}"]
    if config.credential_id is None:
        return [f"{engine.title} needs a key. Set credential_id."] if "key" in engine.needs else []
    return await _credential_obstacles(ctx, config, engine) if engine.takes_key else []


async def _credential_obstacles(ctx: Context, config: WebSearch, engine: SearchEngine) -> list[str]:
    credential = await ctx.db.find(Credential, id=config.credential_id)
    if credential is None:
        return ["The credential no longer exists. Choose another one."]
    obstacles = [credential_problem(engine, credential)]
    if credential.is_expired(ctx.now):
        obstacles.append("The credential has expired.")
    if destination_of(ctx.settings, config) not in credential.destinations:
        # The operator's own address is not disclosed.
        place = config.base_url if config.base_url and "base_url" in engine.needs else engine.title
        obstacles.append(f"The credential may not be sent to {place}. A user who may read it must save this.")
    return [obstacle for obstacle in obstacles if obstacle]


def _unused_settings(config: WebSearch, engine: SearchEngine) -> list[str]:
    """Return notes on settings that have no effect, or will soon have none."""
    notes = []
    if config.base_url is not None and "base_url" not in engine.needs:
        notes.append(f"{engine.title} has a fixed address; base_url is not used.")
    if config.credential_id is not None and not engine.takes_key:
        notes.append(f"{engine.title} takes no key; credential_id is not used.")
    if config.safe_search and not engine.filters:
        notes.append(f"{engine.title} offers no safe search; safe_search is not used.")
    if engine.name == "google_pse":
        notes.append("Google has announced the end of this API for 2027-01-01.")
    return notes
