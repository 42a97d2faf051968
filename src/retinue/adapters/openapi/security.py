"""Where an API lives and how it wants to be entered."""

import re
from collections.abc import Mapping
from typing import Any

from retinue.adapters.openapi.description import Auth
from retinue.adapters.openapi.source import Source, text_of

_ABSOLUTE = re.compile(r"https?://[^\s/?#@\\]+(?:/[^\s?#\\]*)?", re.IGNORECASE)
_VARIABLE = re.compile(r"\{([^{}]{1,100})\}")
_LONGEST_URL = 2000
_MOST_SCHEMES = 50
_NONE = Auth("none", {})


def find_base_url(source: Source) -> str | None:
    if source.is_swagger:
        host = text_of(source.document.get("host"), 300)
        schemes = source.document.get("schemes")
        is_plain_http = isinstance(schemes, list) and "http" in schemes and "https" not in schemes
        base_path = text_of(source.document.get("basePath"), 500)
        return _absolute(f"{'http' if is_plain_http else 'https'}://{host}{base_path}") if host else None
    return find_server(source.document)


def find_server(described: Mapping[str, Any]) -> str | None:
    """The first server of a document, path or operation, its variables filled in, if that is an address."""
    servers = described.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(first, dict):
        return None
    variables = first.get("variables")

    def default(matched: re.Match[str]) -> str:
        variable = variables.get(matched[1]) if isinstance(variables, dict) else None
        return text_of(variable.get("default"), 200) if isinstance(variable, dict) else ""

    return _absolute(_VARIABLE.sub(default, text_of(first.get("url"), _LONGEST_URL)))


def _absolute(url: str) -> str | None:
    return url.rstrip("/") if len(url) <= _LONGEST_URL and _ABSOLUTE.fullmatch(url) else None


def suggest_auth(source: Source) -> Auth:
    """What the document's first usable scheme means for a tool; those it requires everywhere come first."""
    if source.is_swagger:
        declared = source.document.get("securityDefinitions")
    else:
        declared = source.follow(source.document.get("components")).get("securitySchemes")
    if not isinstance(declared, dict):
        return _NONE
    required = [name for name in _required_names(source.document.get("security")) if name in declared]
    names = list(dict.fromkeys([*required, *list(declared)[:_MOST_SCHEMES]]))
    suggested = (_suggestion(source.follow(declared[name])) for name in names)
    return next((auth for auth in suggested if auth is not None), _NONE)


def _required_names(security: Any) -> list[str]:
    requirements = security[:_MOST_SCHEMES] if isinstance(security, list) else []
    return [name for requirement in requirements if isinstance(requirement, dict) for name in requirement]


def _suggestion(scheme: dict[str, Any]) -> Auth | None:
    match scheme.get("type"), text_of(scheme.get("scheme"), 20).lower(), scheme.get("in"):
        case "apiKey", _, "header" | "query" as location:
            name = text_of(scheme.get("name"), 100)
            return Auth("api_key", {"api_key_header": name, "api_key_location": location}) if name else None
        case ("basic", _, _) | ("http", "basic", _):
            return Auth("basic", {})
        case ("http", "bearer", _) | ("openIdConnect", _, _):
            return Auth("bearer", {})
        case "oauth2", _, _:
            return _oauth(scheme)
    return None


def _oauth(scheme: dict[str, Any]) -> Auth:
    """Tools get tokens for themselves; a token that a person obtained can only be entered as it is."""
    flows = scheme.get("flows")
    flow = flows.get("clientCredentials") if isinstance(flows, dict) else None
    if scheme.get("flow") == "application":
        flow = scheme
    token_url = text_of(flow.get("tokenUrl"), _LONGEST_URL) if isinstance(flow, dict) else ""
    if not isinstance(flow, dict) or _absolute(token_url) is None:
        return Auth("bearer", {})
    scopes = flow.get("scopes")
    named = [text_of(name, 200) for name in list(scopes)[:50]] if isinstance(scopes, dict) else []
    config = {"token_url": token_url}
    return Auth("oauth2", {**config, "scope": " ".join(filter(None, named))} if any(named) else config)
