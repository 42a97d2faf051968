from retinue.chat.agents import delete_conversations, find_conversations
from retinue.chat.background import answer_accepted_turn, fail_lost_turns
from retinue.chat.continuing import continue_turn, fail_lost_continuations, take_decision
from retinue.chat.events import ChatCompleted, ChatMessage, ChatStarted
from retinue.chat.forgetting import forget_agent_events, forget_events
from retinue.chat.jobs import end_silent_conversations, purge_chat_logs
from retinue.chat.models import ChatJob, ChatLog, ChatTotals, Conversation, Message, PausedTurn
from retinue.chat.pausing import CONTINUATION
from retinue.chat.routes import ROUTES
from retinue.chat.tool_kind import run as run_tool
from retinue.kit.continuations import Continuation
from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
from retinue.kit.tool_kinds import ToolKind

manifest = Manifest(
    name="chat",
    records=(Conversation, Message, ChatLog, ChatTotals, ChatJob, PausedTurn),
    routes=ROUTES,
    events=(ChatStarted, ChatMessage, ChatCompleted),
    jobs=(
        answer_accepted_turn,
        fail_lost_turns,
        continue_turn,
        fail_lost_continuations,
        forget_events,
        forget_agent_events,
        end_silent_conversations,
        purge_chat_logs,
    ),
    references=(
        Reference(to="agent", kind="conversations", find=find_conversations, detach=delete_conversations),
    ),
    tool_kinds=(ToolKind(name="agent", run=run_tool),),
    continuations=(Continuation(CONTINUATION, take_decision),),
)
