"""Whether a model's call of one endpoint of a REST tool waits for an approval, and of how many it does."""

from collections.abc import Mapping
from typing import Any

from retinue.kit.json_types import JsonObject


def endpoint_needs_approval(own: JsonObject, effective: JsonObject, input: JsonObject) -> bool:
    """Return whether the endpoint that the input chooses requires an approval.

    `effective` is the configuration after an agent's override. The override cannot lift the requirement: once
    the tool guards an endpoint, one that the override adds, changes or moves to another address waits too.
    """
    own_endpoints, endpoints = _endpoints(own), _endpoints(effective)
    name = input.get("endpoint")
    if name is None and len(endpoints) == 1:
        name = next(iter(endpoints))
    chosen = endpoints.get(name) if isinstance(name, str) else None
    if chosen is None:
        return False
    is_changed = chosen != own_endpoints.get(name) or own.get("base_url") != effective.get("base_url")
    return _is_guarded(chosen) or (is_changed and any(map(_is_guarded, own_endpoints.values())))


def count_guarded(config: JsonObject) -> int:
    """Return how many endpoints of a REST tool, or functions of an MCP server, require an approval."""
    return sum(map(_is_guarded, (*_endpoints(config).values(), *_endpoints(config, "functions").values())))


def _endpoints(config: JsonObject, field: str = "endpoints") -> dict[Any, Mapping[str, Any]]:
    declared = config.get(field)
    if not isinstance(declared, dict):
        return {}
    return {name: endpoint for name, endpoint in declared.items() if isinstance(endpoint, dict)}


def _is_guarded(endpoint: Mapping[str, Any]) -> bool:
    return endpoint.get("requires_approval") is True
