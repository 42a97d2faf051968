"""Addresses of the providers, and what a key needs for each."""

from retinue.adapters.llm import PROFILES
from retinue.credentials.destinations import origin_of
from retinue.kit.egress import EgressRefused, read_destination
from retinue.kit.errors import Invalid
from retinue.providers.models import ProviderKey, ProviderName


def address_of(provider: ProviderName, base_url: str | None) -> str:
    """Return the base URL for calls: the key's own, else the provider's; empty for the embedded models."""
    profile = PROFILES.get(provider)
    default_url = profile.base_url if profile else None
    return base_url or default_url or ""


def origin_for(provider: ProviderName, base_url: str | None) -> str:
    """Return the origin that calls go to; empty for the embedded models, which call nobody."""
    return origin_of(address_of(provider, base_url))


def read_base_url(base_url: str) -> str:
    """Return a base URL in its stored form.

    Only the syntax is checked here: the operator's network rules apply when it is called.
    """
    try:
        read_destination(base_url)
    except EgressRefused as error:
        raise Invalid({"base_url": error.message}) from None
    if "?" in base_url or "#" in base_url:
        raise Invalid({"base_url": "must not have a query or a fragment"})
    return base_url.rstrip("/")


def require_complete(provider: ProviderName, *, base_url: str | None, has_secret: bool) -> None:
    """Raise if a key lacks what its provider needs, or has what the embedded models do not use."""
    problems: dict[str, str] = {}
    profile = PROFILES.get(provider)
    if profile is None:
        if base_url:
            problems["base_url"] = f"must be empty for the provider {provider}"
        if has_secret:
            problems["api_key"] = f"must be empty for the provider {provider}"
    else:
        if not (base_url or profile.base_url):
            problems["base_url"] = f"is required for the provider {provider}"
        if profile.needs_key and not has_secret:
            problems["api_key"] = f"is required for the provider {provider}, unless credential_id is given"
    if problems:
        raise Invalid(problems)


def is_usable(key: ProviderKey) -> bool:
    """Return whether the key's provider can be called with what the key has."""
    profile = PROFILES.get(key.provider)
    if profile is None:
        return False
    return not profile.needs_key or key.api_key is not None or key.credential_id is not None
