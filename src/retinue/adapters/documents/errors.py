"""Failures of parsing a document; `code` is for programs, `message` for the sender."""

from retinue.kit.errors import InternalError


class DocumentError(InternalError):
    """The document could not be parsed. Check that it opens on your computer and upload it again."""

    code = "parse_error"
    shown_in = "documents"


class UnreadableDocument(DocumentError):
    """The file is damaged, protected, or not of the type its name suggests. Save it again and retry."""


class EmptyDocument(DocumentError):
    """The document contains no text. Run OCR on a scanned document first."""

    code = "empty_document"


class DocumentTooLarge(DocumentError):
    """The document has too much text, or takes too much memory or time. Split it."""

    code = "too_large"


class ParserUnavailable(DocumentError):
    """Documents cannot be parsed safely on this machine. Ask the operator to check the sandbox."""

    code = "sandbox_unavailable"


_BY_CODE: dict[str, type[DocumentError]] = {
    error.code: error for error in (UnreadableDocument, EmptyDocument, DocumentTooLarge, ParserUnavailable)
}


def document_error(code: str, message: str) -> DocumentError:
    return _BY_CODE.get(code, UnreadableDocument)(message or None)
