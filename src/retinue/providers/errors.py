from retinue.kit.errors import Conflict, RetinueError
from retinue.kit.references import Referrer


class ApiKeyNotFound(RetinueError):
    """There is no such provider key."""

    status, code = 404, "api_key_not_found"


class ApiKeyInUse(Conflict):
    """This provider key is the last one for a model in use; delete it with force=true."""

    code = "api_key_in_use"

    def __init__(self, users: dict[str, list[Referrer]]) -> None:
        super().__init__(details={kind: list(found) for kind, found in users.items()})


class ModelNotConfigured(RetinueError):
    """No provider key serves this model."""

    status, code = 422, "model_not_configured"
