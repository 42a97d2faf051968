"""The address of an API and its authentication."""

import re
from collections.abc import Mapping
from typing import Any

from retinue.adapters.openapi.description import SuggestedAuth
from retinue.adapters.openapi.document import ApiDocument, clean_text
from retinue.kit.json_types import JsonObject

_ABSOLUTE = re.compile(r"https?://[^\s/?#@\\]+(?:/[^\s?#\\]*)?", re.IGNORECASE)
_VARIABLE = re.compile(r"\{([^{}]{1,100})\}")
_MAX_URL_LENGTH = 2000
_MAX_SCHEMES = 50
_NO_AUTH = SuggestedAuth("none", {})


def find_base_url(source: ApiDocument) -> str | None:
    if source.is_swagger:
        host = clean_text(source.document.get("host"), 300)
        schemes = source.document.get("schemes")
        is_plain_http = isinstance(schemes, list) and "http" in schemes and "https" not in schemes
        base_path = clean_text(source.document.get("basePath"), 500)
        return _absolute(f"{'http' if is_plain_http else 'https'}://{host}{base_path}") if host else None
    return find_server(source.document)


def find_server(node: Mapping[str, Any]) -> str | None:
    """Return the first server of a document, path or operation with its variables, if it is an address."""
    servers = node.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(first, dict):
        return None
    variables = first.get("variables")

    def default(matched: re.Match[str]) -> str:
        variable = variables.get(matched[1]) if isinstance(variables, dict) else None
        return clean_text(variable.get("default"), 200) if isinstance(variable, dict) else ""

    return _absolute(_VARIABLE.sub(default, clean_text(first.get("url"), _MAX_URL_LENGTH)))


def _absolute(url: str) -> str | None:
    return url.rstrip("/") if len(url) <= _MAX_URL_LENGTH and _ABSOLUTE.fullmatch(url) else None


def suggest_auth(source: ApiDocument) -> SuggestedAuth:
    """Return the suggested authentication from the first usable scheme; globally required ones come first."""
    if source.is_swagger:
        declared = source.document.get("securityDefinitions")
    else:
        declared = source.follow(source.document.get("components")).get("securitySchemes")
    if not isinstance(declared, dict):
        return _NO_AUTH
    required = [name for name in _required_names(source.document.get("security")) if name in declared]
    names = list(dict.fromkeys([*required, *list(declared)[:_MAX_SCHEMES]]))
    suggested = (_suggestion(source.follow(declared[name])) for name in names)
    return next((auth for auth in suggested if auth is not None), _NO_AUTH)


def _required_names(security: object) -> list[str]:
    requirements = security[:_MAX_SCHEMES] if isinstance(security, list) else []
    return [name for requirement in requirements if isinstance(requirement, dict) for name in requirement]


def _suggestion(scheme: JsonObject) -> SuggestedAuth | None:
    match scheme.get("type"), clean_text(scheme.get("scheme"), 20).lower(), scheme.get("in"):
        case "apiKey", _, "header" | "query" as location:
            name = clean_text(scheme.get("name"), 100)
            return (
                SuggestedAuth("api_key", {"api_key_header": name, "api_key_location": location})
                if name
                else None
            )
        case ("basic", _, _) | ("http", "basic", _):
            return SuggestedAuth("basic", {})
        case ("http", "bearer", _) | ("openIdConnect", _, _):
            return SuggestedAuth("bearer", {})
        case "oauth2", _, _:
            return _oauth(scheme)
    return None


def _oauth(scheme: JsonObject) -> SuggestedAuth:
    """Suggest OAuth only for client credentials; a token obtained by a person must be entered as it is."""
    flows = scheme.get("flows")
    flow = flows.get("clientCredentials") if isinstance(flows, dict) else None
    if scheme.get("flow") == "application":
        flow = scheme
    token_url = clean_text(flow.get("tokenUrl"), _MAX_URL_LENGTH) if isinstance(flow, dict) else ""
    if not isinstance(flow, dict) or _absolute(token_url) is None:
        return SuggestedAuth("bearer", {})
    scopes = flow.get("scopes")
    scope_names = [clean_text(name, 200) for name in list(scopes)[:50]] if isinstance(scopes, dict) else []
    config = {"token_url": token_url}
    return SuggestedAuth(
        "oauth2", {**config, "scope": " ".join(filter(None, scope_names))} if any(scope_names) else config
    )
