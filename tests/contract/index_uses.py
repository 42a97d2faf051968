"""The indexes of the tables that every chat writes to, each with the statements that need it."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat import completion_event, event_erasure, figures, jobs, queries
from retinue.chat.models import ChatLog, Conversation, Message
from retinue.chat.replies import live
from retinue.events import queries as event_queries
from retinue.home import today
from retinue.kit.db import session
from retinue.kit.db.in_list import list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.db.text_match import contains_text_parameters
from retinue.kit.events import outbox
from retinue.kit.events.models import EventEntry
from retinue.traces import content, retention
from retinue.traces import queries as trace_queries
from retinue.usage import compaction, enforcement
from retinue.usage.models import ScopeType, UsageEntry

TABLES = tuple(record.__table__ for record in (EventEntry, Conversation, Message, ChatLog, UsageEntry))
TENANT, AGENT, CONVERSATION, USER = "ten_0000003", "agt_0000007", "conv_0000123", "usr_0000011"
NOW, HOUR, BEFORE = "2026-11-18T12:00:00.000000Z", "2026-11-18T12", "2026-11-17T12:00:00.000000Z"
_PAGE = {"row_limit": 20, "row_offset": 0}


class Use(msgspec.Struct, frozen=True):
    """A statement and values for its parameters; one that `is_system` sees every tenant."""

    statement: Statement[Any]
    parameters: dict[str, Any]
    is_system: bool = False


def _conversations(*equal: str, sort: str = "-last_message_at", **given: Any) -> Use:
    listed = queries.CONVERSATIONS._statements_for(equal, sort, is_search=False)
    return Use(listed.rows, {**_PAGE, **given})


def _timeline(timeline: Any, **given: Any) -> Use:
    return Use(timeline._statement("page", tuple(sorted(given))), {**_PAGE, **given})


def _searched() -> Use:
    listed = queries.CONVERSATIONS._statements_for((), "-last_message_at", is_search=True)
    assert listed.count_after is not None
    last = {"last_prefix": HOUR, "last_value": NOW, "last_id": CONVERSATION}
    return Use(listed.count_after, {**contains_text_parameters("search", "parcel"), **last})


_TRACES, _KEPT = trace_queries._ALL, {"kept_since": BEFORE[:13]}
_ERASED = {"since": BEFORE, "until": NOW, "after": ""}
_FIGURES = {"agent_ids": list_parameter([AGENT]), "since": BEFORE}


def uses(dialect: str) -> dict[str, list[Use]]:
    """Return the statements by index, or by unique constraint."""
    reply = {"reply_id": "msg_0000123"}
    return {
        "uq_conversations_tenant_id_agent_id_session_key": [
            Use(
                session._find(Conversation, ("agent_id", "session_key"), ()),
                {"agent_id": AGENT, "session_key": "s"},
            )
        ],
        "ix_conversations_tenant_id_agent_id_last_message_hour": [
            _conversations("agent_id", agent_id=AGENT),
            _conversations("agent_id", sort="last_message_at", agent_id=AGENT),
            Use(queries._ACTIVE, {"agent_id": AGENT, "since": NOW, "hour": HOUR}),
        ],
        "ix_conversations_tenant_id_last_message_hour_title": [_conversations(), _searched()],
        "ix_conversations_user_id_present": [_conversations("user_id", user_id=USER)],
        "ix_conversations_active": [
            Use(jobs._IDLE_CONVERSATIONS, {"before": BEFORE, "hour": BEFORE[:13]}, is_system=True)
        ],
        "uq_messages_tenant_id_conversation_id_position": [
            Use(queries.ALL_MESSAGES, {"conversation_id": CONVERSATION})
        ],
        "ix_messages_reply_id_present": [
            Use(session._find(Message, ("reply_id",), ()), reply),
            Use(content._QUESTIONS, {"ids": list_parameter(["msg_0000123"])}),
        ],
        "ix_messages_is_stopped": [Use(live._STOPPED, {"since": BEFORE}, is_system=True)],
        "ix_messages_rating_nonzero": [Use(figures._RATINGS, _FIGURES)],
        "ix_chat_logs_tenant_id_agent_id_created_at": [
            _timeline(queries._BY_TIME, agent_id=AGENT),
            Use(jobs._PURGE, {"agent_id": AGENT, "before": BEFORE}),
        ],
        "ix_chat_logs_tenant_id_conversation_id": [
            Use(completion_event._TOKENS_USED, {"conversation_id": CONVERSATION})
        ],
        "ix_chat_logs_tenant_id_created_at": [
            Use(today._FAILED_CHATS, {"since": NOW}),
            Use(today._FIRST_TOKENS, {"since": NOW}),
            _timeline(_TRACES, **_KEPT),
            _timeline(_TRACES, user_id=USER, **_KEPT),
            _timeline(_TRACES, min_duration_us=10_000, **_KEPT),
            Use(_TRACES._statement("count", tuple(_KEPT)), _KEPT),
            Use(retention._OLD_TURNS, {"since": "", "before": BEFORE}),
        ],
        "ix_chat_logs_trace_ns_present": [
            Use(trace_queries._TURNS_OF_TRACE, {"correlation_id": "cor_0000123"}),
            _timeline(_TRACES, correlation_id="cor_0000123"),
        ],
        "ix_usage_entries_tenant_id_hour": [
            Use(enforcement._SPENT[ScopeType.tenant], {"since": HOUR}),
        ],
        "ix_usage_entries_is_new": [Use(compaction._NEW_IDS, {}, is_system=True)],
        "ix_event_log_tenant_id_created_at_type_category": [
            _timeline(event_queries._LOG),
            _timeline(event_queries._LOG, event_type="agent.created"),
            _timeline(event_queries._LOG, category="workflow"),
            Use(event_erasure._CHAT_MESSAGES, _ERASED),
            Use(event_erasure._MESSAGES_OF_CONVERSATION, {**_ERASED, "conversation_id": CONVERSATION}),
        ],
        "ix_event_log_tenant_id_correlation_id_created_at": [
            Use(event_queries._TRACE, {"correlation_id": "cor_0000123"}),
            _timeline(event_queries._LOG, correlation_id="cor_0000123"),
        ],
        "ix_event_log_waiting": [
            Use(outbox._undispatched_statement(dialect), {"after": "", "each": 20}, is_system=True)
        ],
    }


def declared() -> set[str]:
    """Return the names of the indexes and unique constraints, without primary keys."""
    names: set[str] = set()
    for table in TABLES:
        names |= {str(index.name) for index in table.indexes}
        for constraint in table.constraints:
            if isinstance(constraint, sa.UniqueConstraint):
                columns = "_".join(column.name for column in constraint.columns)
                names.add(f"uq_{table.name}_{columns}")
    return names
