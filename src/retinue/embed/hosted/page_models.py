from enum import StrEnum
from typing import Annotated

from retinue.agents.models import Agent
from retinue.kit.db.models import Ref, TenantRecord, table


class PageAudience(StrEnum):
    """Who may chat on a hosted page: everybody who has the link, or people of the organization."""

    public = "public"
    members = "members"


@table("hosted_pages", prefix="hpg", unique=[("tenant_id", "agent_id"), ("slug",)])
class HostedPage(TenantRecord, kw_only=True):
    """A page on which people chat with one agent, at an address of its own.

    `page_key` is what a public page sends in place of its embed key: whoever opens the page gets it, so it is
    no secret. `opened_count` counts the visits of `opened_month`.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    slug: str
    audience: PageAudience
    is_open: bool = True
    key_id: str | None = None
    page_key: str | None = None
    opened_count: int = 0
    opened_month: str = ""


@table("hosted_slugs", prefix="hsl", unique=[("slug",)], indexes=[("tenant_id", "agent_id")])
class HostedSlug(TenantRecord, kw_only=True):
    """An address that an agent's page has or had; it stays reserved as long as there is the agent."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    slug: str
