from retinue.kit.errors import NotFound, RetinueError


class DocumentNotFound(NotFound):
    """There is no such document."""

    code = "document_not_found"


class EmbeddingFailed(RetinueError):
    """The text could not be turned into vectors."""

    status, code = 502, "embedding_error"

    def __init__(self, message: str, *, is_passing: bool) -> None:
        """`is_passing`: the same may succeed a little later."""
        super().__init__(message)
        self.is_passing = is_passing
