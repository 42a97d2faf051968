from retinue.chat.agent_deletion import delete_conversations, find_conversations
from retinue.chat.events import ChatCompleted, ChatMessage, ChatStarted
from retinue.chat.jobs import JOBS
from retinue.chat.models import (
    ChatJob,
    ChatLog,
    ChatTotals,
    Conversation,
    Message,
    PausedTurn,
    ReplayableReply,
    StreamFollower,
)
from retinue.chat.queries import can_read_all_conversations, find_own_conversation_ids
from retinue.chat.replies.after_approval import record_decision
from retinue.chat.replies.live import LiveTurns
from retinue.chat.routes import ROUTES
from retinue.chat.tool_kind import TOOL_KIND
from retinue.chat.turn.suspension import TURN_CONTINUATION
from retinue.kit.context.continuations import Continuation
from retinue.kit.context.conversation_access import ConversationAccess
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference

manifest = Manifest(
    name="chat",
    records=(
        Conversation,
        Message,
        ReplayableReply,
        StreamFollower,
        ChatLog,
        ChatTotals,
        ChatJob,
        PausedTurn,
    ),
    routes=ROUTES,
    events=(ChatStarted, ChatMessage, ChatCompleted),
    jobs=JOBS,
    references=(
        Reference(to="agent", kind="conversations", find=find_conversations, detach=delete_conversations),
    ),
    tool_kinds=(TOOL_KIND,),
    config_schemas=(TOOL_KIND.config_schema,),
    continuations=(Continuation(TURN_CONTINUATION, record_decision),),
    conversation_access=(ConversationAccess(can_read_all_conversations, find_own_conversation_ids),),
    process_state=(ProcessState(LiveTurns, LiveTurns, LiveTurns.close),),
)
