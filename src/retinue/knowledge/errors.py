from retinue.kit.errors import InternalError, NotFound


class DocumentNotFound(NotFound):
    """There is no such document."""

    code = "document_not_found"


class EmbeddingFailed(InternalError):
    """The text could not be embedded."""

    code = "embedding_error"
    shown_in = "documents"

    def __init__(self, message: str, *, is_transient: bool) -> None:
        """`is_transient`: a later attempt may succeed."""
        super().__init__(message)
        self.is_transient = is_transient
