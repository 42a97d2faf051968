"""Records know the conversations that they quote; headers of webhooks have a sealed place.

What was stored before is marked as far as it can be told: such a record quotes a conversation that is not
named (`*`), and only who reads all conversations reads it. The headers themselves are sealed after the start,
because a migration has no keys (`webhooks.headers`).
"""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

QUOTING = (
    "event_log",
    "tool_executions",
    "workflow_executions",
    "approvals",
    "user_notifications",
    "notification_deliveries",
)
_UNNAMED = """UPDATE {table} SET conversation_ids = '["*"]' WHERE {condition}"""
_QUOTING_RUNS = "SELECT {column} FROM workflow_executions WHERE conversation_ids IS NOT NULL"
_BY_CORRELATION = f"correlation_id IN ({_QUOTING_RUNS.format(column='correlation_id')})"
_QUOTING_APPROVALS = "SELECT id FROM approvals WHERE conversation_ids IS NOT NULL"
# The key of a node that waits begins with the id of its run.
_OF_A_QUOTING_RUN = f"substr(waiting_key, 1, 30) IN ({_QUOTING_RUNS.format(column='id')})"
_ASKED_AN_AGENT = "id IN (SELECT execution_id FROM workflow_node_runs WHERE type = 'agent')"
_STARTED_BY_ONE = "\"trigger\" = 'tool'"
_STARTED_BY_A_MESSAGE = (
    "correlation_id IN (SELECT correlation_id FROM event_log WHERE type = 'agent.chat.message')"
)
_QUOTED_BEFORE = (
    ("workflow_executions", f"{_ASKED_AN_AGENT} OR {_STARTED_BY_ONE} OR {_STARTED_BY_A_MESSAGE}"),
    ("event_log", f"category = 'workflow' AND subject_id IN ({_QUOTING_RUNS.format(column='id')})"),
    ("approvals", f"source_type <> 'workflow' OR {_OF_A_QUOTING_RUN}"),
    ("event_log", f"category = 'approval' AND subject_id IN ({_QUOTING_APPROVALS})"),
    # Events that a tenant named itself have no subject.
    ("event_log", f"subject_id = '' AND {_BY_CORRELATION}"),
    ("tool_executions", f"source = 'workflow' AND {_BY_CORRELATION}"),
    ("user_notifications", f"type = 'agent.chat.message' OR {_BY_CORRELATION}"),
    ("notification_deliveries", "type IN ('agent.chat.message', 'workflow_notification')"),
)


def upgrade() -> None:
    for table in QUOTING:
        op.add_column(table, sa.Column("conversation_ids", types.Json(), nullable=True))
    op.add_column("webhooks", sa.Column("header_values", types.SealedColumn(), nullable=True))
    for statement in marks():
        op.execute(statement)


def marks() -> list[str]:
    """Return the statements that mark what was stored before, in their order."""
    return [_UNNAMED.format(table=table, condition=condition) for table, condition in _QUOTED_BEFORE]
