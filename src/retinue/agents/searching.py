"""Searching the web for an agent: its engine, its credential, and results that may be shown to the model."""

import msgspec

from retinue.adapters.llm import ToolSpec
from retinue.adapters.search import Engine, EngineAccess, Found, SearchError, find_engine, searcher_for
from retinue.agents.models import Agent, WebSearch
from retinue.credentials.destinations import origin_of
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.use import Purpose, use
from retinue.kit.context import Context
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError
from retinue.kit.redaction import Redactor
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings

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

# The types of credentials that let a search in, and the name that the key has in them.
KEY_IN = {
    CredentialType.api_key: "api_key",
    CredentialType.bearer_token: "token",
    CredentialType.basic_auth: "password",
    CredentialType.custom: "api_key",
}
# The id of a search engine that Google makes with a key, which stands beside it.
ENGINE_ID = "cx"


async def search_web(ctx: Context, agent: Agent, query: str) -> list[Found]:
    """Ask the agent's engine; raises `SearchError`. No transaction may be open."""
    config = agent.web_search
    engine = find_engine(config.search_engine)
    if not config.enabled or engine is None:
        raise SearchError("not_configured", "This agent has no search engine that could be asked.")
    access = await _access(ctx, agent, engine)
    redactor = Redactor(access.hidden())
    with redactor.guarding_logs():
        found = await searcher_for(ctx.adapter(Egress), engine, access).search(
            query,
            max_results=config.max_results,
            safe_search=config.safe_search,
            allowed_domains=config.allowed_domains,
            blocked_domains=config.blocked_domains,
        )
    return msgspec.convert(redactor.value(msgspec.to_builtins(found)), list[Found])


def base_url_of(settings: Settings, config: WebSearch) -> str | None:
    """The address of an engine that has none of its own: the agent's, or the operator's."""
    return config.base_url or settings.searxng_url or None


def destination_of(settings: Settings, config: WebSearch) -> str:
    """Where a key would be sent: an origin, or nowhere while no engine can be asked."""
    engine = find_engine(config.search_engine)
    return origin_of(engine.address(base_url_of(settings, config))) if engine else ""


def unfit(engine: Engine, credential: Credential) -> str:
    """Why a credential cannot let a search in, by what can be said without opening it; nothing if it can."""
    if _is_misplaced_login(engine, credential.type):
        return f"{engine.title} takes a key and no login."
    names = [KEY_IN.get(credential.type, "api_key"), *([ENGINE_ID] if "engine_id" in engine.needs else [])]
    missing = [name for name in names if name not in credential.secret_keys]
    return f"The credential has no {' and no '.join(missing)} for {engine.title}." if missing else ""


def _is_misplaced_login(engine: Engine, type: CredentialType) -> bool:
    """Only a server of one's own may stand behind a login."""
    return type is CredentialType.basic_auth and "base_url" not in engine.needs


async def _access(ctx: Context, agent: Agent, engine: Engine) -> EngineAccess:
    config = agent.web_search
    base_url = base_url_of(ctx.settings, config)
    if config.credential_id is None or not engine.takes_key:
        return EngineAccess(base_url=base_url)
    purpose = Purpose(via={"agent_id": agent.id}, destination=destination_of(ctx.settings, config))
    try:
        opened = await use(ctx, config.credential_id, purpose)
    except RetinueError as error:
        # Whatever keeps the secret in the vault keeps this agent from searching, and nothing more.
        raise SearchError("not_configured", error.message) from None
    if _is_misplaced_login(engine, opened.type):
        raise SearchError("not_configured", f"{engine.title} takes a key and no login.")
    is_login = opened.type is CredentialType.basic_auth
    return EngineAccess(
        key=Secret(_text(opened.secrets.get(KEY_IN.get(opened.type, "")))),
        username=_text(opened.secrets.get("username")) if is_login else "",
        engine_id=_text(opened.secrets.get(ENGINE_ID)),
        base_url=base_url,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
