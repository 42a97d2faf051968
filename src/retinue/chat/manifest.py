from retinue.agents.figures import AgentFigures
from retinue.chat.agent_deletion import delete_conversations, find_conversations
from retinue.chat.attachment_models import (
    ConversationFile,
    FileDerivative,
)
from retinue.chat.attachments.derivation import Conversions
from retinue.chat.attachments.lifetimes import (
    detach_derived,
    detach_file,
    find_conversations_with_file,
    find_originals,
)
from retinue.chat.engine.function_vectors import FunctionVector
from retinue.chat.engine.tool_search import FunctionIndexes
from retinue.chat.events import (
    ChatCompleted,
    ChatMessage,
    ChatShared,
    ChatStarted,
    ChatUnshared,
    ConversationsExported,
)
from retinue.chat.figures import load_figures
from retinue.chat.function_index import INDEXED_EVENTS
from retinue.chat.job_kinds import INDEX_FUNCTIONS
from retinue.chat.jobs import JOBS
from retinue.chat.models import (
    ChatJob,
    ChatLog,
    ChatTotals,
    Conversation,
    ConversationSummary,
    Message,
    PausedTurn,
    ReplayableReply,
    StreamFollower,
)
from retinue.chat.queries import (
    can_read_all_conversations,
    find_own_conversation_ids,
    load_last_messages,
)
from retinue.chat.replies.after_approval import record_decision
from retinue.chat.replies.live import LiveTurns
from retinue.chat.routes import ROUTES
from retinue.chat.share_models import ConversationReader, ConversationShare
from retinue.chat.tool_kind import TOOL_KIND
from retinue.chat.turn.suspension import TURN_CONTINUATION
from retinue.files.service import REFERENCE as FILE
from retinue.kit.context.continuations import Continuation
from retinue.kit.context.conversation_access import ConversationAccess
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.kit.events.declare import Listener

manifest = Manifest(
    name="chat",
    records=(
        Conversation,
        Message,
        ConversationFile,
        ConversationShare,
        ConversationReader,
        ConversationSummary,
        FileDerivative,
        FunctionVector,
        ReplayableReply,
        StreamFollower,
        ChatLog,
        ChatTotals,
        ChatJob,
        PausedTurn,
    ),
    routes=ROUTES,
    events=(ChatStarted, ChatMessage, ChatCompleted, ChatShared, ChatUnshared, ConversationsExported),
    jobs=JOBS,
    listeners=tuple(Listener(type, INDEX_FUNCTIONS) for type in INDEXED_EVENTS),
    references=(
        Reference(to="agent", kind="conversations", find=find_conversations, detach=delete_conversations),
        Reference(to=FILE, kind="conversations", find=find_conversations_with_file, detach=detach_file),
        Reference(to=FILE, kind="files", find=find_originals, detach=detach_derived),
    ),
    tool_kinds=(TOOL_KIND,),
    config_schemas=(TOOL_KIND.config_schema,),
    continuations=(Continuation(TURN_CONTINUATION, record_decision),),
    conversation_access=(
        ConversationAccess(can_read_all_conversations, find_own_conversation_ids, load_last_messages),
    ),
    process_state=(
        ProcessState(LiveTurns, LiveTurns, LiveTurns.close, LiveTurns.wait_until_idle),
        ProcessState(FunctionIndexes, FunctionIndexes),
        ProcessState(Conversions, Conversions),
    ),
    provided=(AgentFigures(load_figures),),
    search_sources=(
        SearchSource(
            kind="conversation",
            requires="conversations:read",
            record=Conversation,
            name=Conversation.__table__.c.title,
            parent=Conversation.__table__.c.agent_id,
            reads_all=can_read_all_conversations,
            newest_by=("last_message_hour", "last_message_at"),
        ),
    ),
)
