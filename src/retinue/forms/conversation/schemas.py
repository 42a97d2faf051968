from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.forms.models import FormConversation, FormConversationStatus, FormMessage
from retinue.forms.schemas import Option
from retinue.kit.clock import Instant
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema
from retinue.kit.schema.fields.values import MAX_FILES, MAX_SIGNATURE_BYTES
from retinue.kit.schema.messages import PatternMessage

FileId = Annotated[str, Meta(min_length=1, max_length=64)]
FieldId = Annotated[str, Meta(min_length=1, max_length=64)]
Language = Annotated[
    str,
    Meta(max_length=35, pattern=r"^[A-Za-z0-9-]*$"),
    PatternMessage("must be a language tag such as en or pt-BR"),
]


class ConversationStart(Schema, kw_only=True):
    """`prefill` is by field id; invalid values are left out and reported in `errors`."""

    prefill: JsonObject = {}
    metadata: Any = None
    language: Language | None = None
    token: Any = None
    proof: Any = None


class ConversationSay(Schema, kw_only=True):
    """`field_id` is the field the message answers; without it, the field is inferred."""

    content: Annotated[str, Meta(max_length=MAX_SIGNATURE_BYTES)] = ""
    file_ids: Annotated[list[FileId], Meta(max_length=MAX_FILES)] = []
    field_id: FieldId | None = None


class FormMessageOut(Schema, kw_only=True):
    id: str
    role: Literal["assistant", "user"]
    content: str
    field_id: str | UnsetType = UNSET
    created_at: Instant

    @classmethod
    def from_record(cls, message: FormMessage) -> "FormMessageOut":
        return cls.of(message, field_id=message.field_id or UNSET)


class InputOut(Schema, kw_only=True):
    """The current question, for clients that render buttons; `confirm` asks for the final confirmation."""

    field_id: str | None
    type: str
    options: list[Option]
    required: bool


class CapturedOut(Schema, kw_only=True):
    field_id: str
    value: Any


class RejectedOut(Schema, kw_only=True):
    field_id: str | None
    message: str


class FormConversationOut(Schema, kw_only=True):
    id: str
    form_slug: str
    status: FormConversationStatus
    fields_completed: int
    fields_total: int
    collected_data: JsonObject
    created_at: Instant
    input: InputOut | None
    submission_id: str | UnsetType = UNSET


class ConversationStarted(FormConversationOut, kw_only=True):
    assistant_message: FormMessageOut
    errors: list[RejectedOut]


class ConversationAnswer(Schema, kw_only=True):
    user_message: FormMessageOut
    assistant_message: FormMessageOut
    status: FormConversationStatus
    fields_completed: int
    fields_total: int
    form_completed: bool
    captured: list[CapturedOut]
    errors: list[RejectedOut]
    input: InputOut | None
    submission_id: str | UnsetType = UNSET
    redirect_url: str | UnsetType = UNSET


def submission_of(conversation: FormConversation) -> str | UnsetType:
    return conversation.submission_id or UNSET
