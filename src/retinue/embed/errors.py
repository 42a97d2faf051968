from retinue.kit.errors import Conflict, Forbidden, NotFound, RateLimited
from retinue.usage.errors import MonthlyTokensSpent

EMBED_KEY_ROLE = "embed_key"


class EmbedKeyNotFound(NotFound):
    """There is no such embed key."""

    code = "api_key_not_found"


class EmbedKeyAlreadyRevoked(Conflict):
    """This embed key is revoked. Create another one."""


class OriginNotAllowed(Forbidden):
    """Pages of this origin may not use the embed key. Add the origin to its allowed domains."""

    def __init__(self) -> None:
        super().__init__("allowed_origin", EMBED_KEY_ROLE, reason="origin_not_allowed")


class KeyAgentMismatch(Forbidden):
    """This embed key belongs to another agent."""

    def __init__(self) -> None:
        super().__init__("key_of_this_agent", EMBED_KEY_ROLE, reason="key_agent_mismatch")


class AttachmentsNotAllowed(Forbidden):
    """This embed key does not accept files. Its owner can allow them."""

    def __init__(self) -> None:
        super().__init__("allow_attachments", EMBED_KEY_ROLE, reason="attachments_not_allowed")


class TooManyFiles(RateLimited):
    """Too many files were uploaded within a day. Try again later."""


class TokenBudgetSpent(MonthlyTokensSpent):
    """The embed key has used up its tokens for this month."""

    scope_type = "embed_key"


class HostedPageNotFound(NotFound):
    """There is no chat page at this address, or it is switched off."""

    code = "hosted_page_not_found"


class SlugTaken(Conflict):
    """This address belongs to another page. Choose another one."""

    code = "slug_taken"
