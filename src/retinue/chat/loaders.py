from typing import Annotated

from retinue.chat.errors import ConversationNotFound, JobNotFound
from retinue.chat.models import ChatJob, Conversation
from retinue.chat.queries import find_visible_conversation, find_visible_job
from retinue.chat.shares import ReadableConversation, find_own_conversation, find_readable_conversation
from retinue.kit.http.routing import PathLoader

ConversationById = Annotated[
    Conversation, PathLoader("conversation_id", find_visible_conversation, ConversationNotFound)
]
ReadableById = Annotated[
    ReadableConversation, PathLoader("conversation_id", find_readable_conversation, ConversationNotFound)
]
OwnConversationById = Annotated[
    Conversation, PathLoader("conversation_id", find_own_conversation, ConversationNotFound)
]
JobById = Annotated[ChatJob, PathLoader("job_id", find_visible_job, JobNotFound)]
