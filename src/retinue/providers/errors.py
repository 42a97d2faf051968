from retinue.kit.context.references import Referrer
from retinue.kit.errors import Conflict, RetinueError


class ApiKeyNotFound(RetinueError):
    """There is no such provider key."""

    status, code = 404, "api_key_not_found"


class ApiKeyInUse(Conflict):
    """This is the last provider key for a model in use. Delete it with force=true."""

    code = "api_key_in_use"

    def __init__(self, users: dict[str, list[Referrer]]) -> None:
        super().__init__(details={kind: list(referrers) for kind, referrers in users.items()})


class ModelNotConfigured(RetinueError):
    """The model is not configured. Add a provider key or choose one of the available models."""

    status, code = 422, "model_not_configured"
