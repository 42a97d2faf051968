"""Why a document could not be read; `code` is for programs, `message` for the person who sent it."""

from retinue.kit.errors import RetinueError


class DocumentError(RetinueError):
    """The document could not be read."""

    status, code = 422, "parse_error"


class UnreadableDocument(DocumentError):
    """The file is damaged, protected, or not what its name says."""


class EmptyDocument(DocumentError):
    """There is no text in this document."""

    code = "empty_document"


class DocumentTooLarge(DocumentError):
    """The document has more text, or takes more memory or time, than allowed."""

    code = "too_large"


class ParserUnavailable(DocumentError):
    """This machine cannot confine the process that reads documents, so none is read."""

    status, code = 503, "sandbox_unavailable"


_BY_CODE: dict[str, type[DocumentError]] = {
    error.code: error for error in (UnreadableDocument, EmptyDocument, DocumentTooLarge, ParserUnavailable)
}


def refusal(code: str, message: str) -> DocumentError:
    return _BY_CODE.get(code, UnreadableDocument)(message or None)
