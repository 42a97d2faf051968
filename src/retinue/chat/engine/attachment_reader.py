"""The function with which a model reads the pages of attached documents that its prompt leaves out."""

from collections.abc import Sequence

from retinue.adapters.llm import ToolSpec
from retinue.chat.engine.attached import READ_ATTACHMENT, Attachment
from retinue.chat.engine.attachment_content import load_page
from retinue.chat.engine.call_outcomes import CallRefused
from retinue.chat.engine.sanitizer import sanitize_text
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject

READ_ATTACHMENT_SPEC = ToolSpec(
    READ_ATTACHMENT,
    "Read a page of a document that is attached to this conversation.",
    {
        "type": "object",
        "properties": {
            "file_id": {"type": "string", "description": "The file_id of the attached document."},
            "page": {"type": "integer", "minimum": 1, "description": "The page, counted from 1."},
        },
        "required": ["file_id", "page"],
    },
)


async def read_attachment(ctx: Context, documents: Sequence[Attachment], arguments: JsonObject) -> JsonObject:
    """Return one page; a file that is not attached to this conversation is refused."""
    page = arguments.get("page", 1)
    if not isinstance(page, int) or isinstance(page, bool):
        raise CallRefused("invalid_arguments", "`page` must be a number, counted from 1.")
    document = next((one for one in documents if one.file_id == arguments.get("file_id")), None)
    if document is None:
        raise CallRefused("file_not_found", "No such document is attached to this conversation.")
    found = await load_page(ctx, document, page)
    if found is None:
        raise CallRefused("file_not_found", f"The document has no page {page}, or it was deleted.")
    text, page_count = found
    return {"file_id": document.file_id, "page": page, "pages": page_count, "text": sanitize_text(text)}
