from retinue.chat.engine.attached import AttachmentKind
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Schema


class ChatAgentList(ListQuery, kw_only=True):
    """Search and order of the agents that one can chat with."""


class ChatInputs(Schema, kw_only=True):
    """Inputs beside text: abilities of the model, and what the instance has configured."""

    files: list[AttachmentKind]
    voice: bool


class ChatAgent(Schema, kw_only=True):
    """A published agent as people see it who chat with it."""

    id: str
    name: str
    description: str
    starters: list[str]
    takes: ChatInputs
