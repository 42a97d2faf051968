from typing import Annotated

from retinue.chat.errors import ConversationNotFound, JobNotFound
from retinue.chat.models import ChatJob, Conversation
from retinue.chat.queries import find_visible, find_visible_job
from retinue.kit.http.routing import Loaded

ConversationById = Annotated[Conversation, Loaded("conversation_id", find_visible, ConversationNotFound)]
JobById = Annotated[ChatJob, Loaded("job_id", find_visible_job, JobNotFound)]
