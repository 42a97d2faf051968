"""Web search for an agent: its engine, its credential, and redacted results for the model."""

from contextlib import nullcontext

import msgspec

from retinue.adapters.llm import ToolSpec
from retinue.adapters.search import (
    EngineAccess,
    SearchEngine,
    SearchError,
    SearchResult,
    find_engine,
    searcher_for,
)
from retinue.agents.models import Agent, WebSearch
from retinue.credentials.destinations import origin_of
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.secret_access import CredentialPurpose, open_credential
from retinue.kit.context import Context
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.text.redaction import Redactor
from retinue.kit.tracing.recorder import start_span

WEB_SEARCH_SPEC = ToolSpec(
    name="web_search",
    description=(
        "Searches the web and returns pages with title, address and a part of their text. "
        "Use it for what may have changed since you were trained, and name the addresses you rely on."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": 400,
                "description": "What to search for, in a few words.",
            }
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)

# Credential types that a search engine accepts, and the field that holds the key.
SECRET_FIELD_BY_TYPE = {
    CredentialType.api_key: "api_key",
    CredentialType.bearer_token: "token",
    CredentialType.basic_auth: "password",
    CredentialType.custom: "api_key",
}
# The id of a Google search engine, stored beside the key.
ENGINE_ID_FIELD = "cx"


async def search_web(ctx: Context, agent: Agent, query: str) -> list[SearchResult]:
    """Query the agent's engine; raise `SearchError`. No transaction may be open."""
    config = agent.web_search
    engine = find_engine(config.search_engine)
    if not config.enabled or engine is None:
        raise SearchError(
            "not_configured", "The agent has no usable search engine. Check its web search settings."
        )
    access = await _open_engine_access(ctx, agent, engine)
    redactor = Redactor(access.hidden())
    span = start_span(f"retrieval {config.search_engine}", "retrieval")
    with redactor.guarding_logs(), span or nullcontext():
        results = await searcher_for(ctx.adapter(Egress), engine, access).search(
            query,
            max_results=config.max_results,
            safe_search=config.safe_search,
            allowed_domains=config.allowed_domains,
            blocked_domains=config.blocked_domains,
        )
    return msgspec.convert(redactor.value(msgspec.to_builtins(results)), list[SearchResult])


def base_url_of(settings: Settings, config: WebSearch) -> str | None:
    """Return the address of a self-hosted engine: the agent's own, or the operator's."""
    return config.base_url or settings.searxng_url or None


def destination_of(settings: Settings, config: WebSearch) -> str:
    """Return the origin a key would be sent to; empty if the engine is unknown."""
    engine = find_engine(config.search_engine)
    return origin_of(engine.address(base_url_of(settings, config))) if engine else ""


def credential_problem(engine: SearchEngine, credential: Credential) -> str:
    """Return why the engine cannot use a credential, without opening it; empty if it can."""
    if _is_misplaced_login(engine, credential.type):
        return f"{engine.title} needs an API key, not a login. Choose another credential."
    names = [
        SECRET_FIELD_BY_TYPE.get(credential.type, "api_key"),
        *([ENGINE_ID_FIELD] if "engine_id" in engine.needs else []),
    ]
    missing = [name for name in names if name not in credential.secret_keys]
    return f"The credential lacks {' and '.join(missing)} for {engine.title}." if missing else ""


def _is_misplaced_login(engine: SearchEngine, type: CredentialType) -> bool:
    """Return whether a login is used for an engine that is not self-hosted."""
    return type is CredentialType.basic_auth and "base_url" not in engine.needs


async def _open_engine_access(ctx: Context, agent: Agent, engine: SearchEngine) -> EngineAccess:
    config = agent.web_search
    base_url = base_url_of(ctx.settings, config)
    if config.credential_id is None or not engine.takes_key:
        return EngineAccess(base_url=base_url)
    purpose = CredentialPurpose(via={"agent_id": agent.id}, destination=destination_of(ctx.settings, config))
    try:
        opened = await open_credential(ctx, config.credential_id, purpose)
    except RetinueError as error:
        # A credential that cannot be opened disables the search, not the whole turn.
        raise SearchError("not_configured", error.message) from None
    if _is_misplaced_login(engine, opened.type):
        raise SearchError(
            "not_configured", f"{engine.title} needs an API key, not a login. Choose another credential."
        )
    is_login = opened.type is CredentialType.basic_auth
    return EngineAccess(
        key=Secret(_text(opened.secrets.get(SECRET_FIELD_BY_TYPE.get(opened.type, "")))),
        username=_text(opened.secrets.get("username")) if is_login else "",
        engine_id=_text(opened.secrets.get(ENGINE_ID_FIELD)),
        base_url=base_url,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
