from retinue.kit.errors import InternalError, NotFound
from retinue.usage.errors import BudgetExceeded, ModelUnpriced


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


class EmbeddingUnpaid(EmbeddingFailed):
    """No budget pays for the embedding of the text."""

    def __init__(self, refusal: BudgetExceeded | ModelUnpriced) -> None:
        super().__init__(refusal.message, is_transient=True)
        self.refusal_code = refusal.code
        self.retry_after_s = int((refusal.details or {}).get("retry_after", 0))
