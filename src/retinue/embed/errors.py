from retinue.kit.errors import Conflict, Forbidden, NotFound, RateLimited

YOUR_ROLE = "embed_key"


class EmbedKeyNotFound(NotFound):
    """There is no such embed key."""

    code = "api_key_not_found"


class EmbedKeyRevoked(Conflict):
    """This embed key is revoked; create another one."""


class OriginNotAllowed(Forbidden):
    """Pages of this origin may not use the key."""

    def __init__(self) -> None:
        super().__init__("allowed_origin", YOUR_ROLE, reason="origin_not_allowed")


class KeyAgentMismatch(Forbidden):
    """This key is for another agent."""

    def __init__(self) -> None:
        super().__init__("key_of_this_agent", YOUR_ROLE, reason="key_agent_mismatch")


class TokenBudgetSpent(RateLimited):
    """The key has used up its tokens for this month."""
