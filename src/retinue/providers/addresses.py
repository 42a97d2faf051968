"""Where each provider is reached, and what a key needs for it."""

from retinue.adapters.llm import PROFILES
from retinue.credentials.destinations import origin_of
from retinue.kit.egress import EgressRefused, read_destination
from retinue.kit.errors import Invalid
from retinue.providers.models import ProviderKey, ProviderName


def origin_for(provider: ProviderName, base_url: str | None) -> str:
    """Scheme, host and port of where calls go; nothing for the embedded model, which calls nobody."""
    profile = PROFILES.get(provider)
    own = profile.base_url if profile else None
    return origin_of(base_url or own or "")


def read_base_url(base_url: str) -> str:
    """A base URL in the form in which it is kept.

    Only its text is checked: whether calls may go there is for the operator to say, who may yet allow it.
    """
    try:
        read_destination(base_url)
    except EgressRefused as error:
        raise Invalid({"base_url": error.message}) from None
    if "?" in base_url or "#" in base_url:
        raise Invalid({"base_url": "must not have a query or a fragment"})
    return base_url.rstrip("/")


def require_complete(provider: ProviderName, *, base_url: str | None, has_secret: bool) -> None:
    """Refuse a key that lacks what its provider needs, or has what the embedded model has no use for."""
    found: dict[str, str] = {}
    profile = PROFILES.get(provider)
    if profile is None:
        if base_url:
            found["base_url"] = f"the provider {provider} has no address"
        if has_secret:
            found["api_key"] = f"the provider {provider} needs no key"
    else:
        if not (base_url or profile.base_url):
            found["base_url"] = f"is required for the provider {provider}"
        if profile.needs_key and not has_secret:
            found["api_key"] = f"is required for the provider {provider}, or a credential_id instead"
    if found:
        raise Invalid(found)


def is_usable(key: ProviderKey) -> bool:
    """Whether there is something to ask, and what it takes to ask it."""
    profile = PROFILES.get(key.provider)
    if profile is None:
        return False
    return not profile.needs_key or key.api_key is not None or key.credential_id is not None
