"""The names of spans and attributes, by the GenAI conventions of OpenTelemetry.

The conventions have the status "development" and may change: every name of theirs stands here, and
`SCHEMA_URL` says which version it is from.
"""

from typing import Literal

SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0"

SpanKind = Literal[
    "turn",
    "model",
    "embedding",
    "retrieval",
    "tool",
    "sub_agent",
    "approval",
    "workflow",
    "workflow_node",
    "delivery",
    "channel",
    "job",
]

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT_ID = "gen_ai.agent.id"
AGENT_NAME = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
CONVERSATION_ID = "gen_ai.conversation.id"
DATA_SOURCE_ID = "gen_ai.data_source.id"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_STREAM = "gen_ai.request.stream"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
WORKFLOW_NAME = "gen_ai.workflow.name"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT = "gen_ai.tool.call.result"

ERROR_TYPE = "error.type"
HTTP_METHOD = "http.request.method"
HTTP_STATUS = "http.response.status_code"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
USER_ID = "user.id"

# Attributes without a convention.
COST_USD = "retinue.cost_usd"
CHANNEL = "retinue.channel"
TENANT_ID = "retinue.tenant.id"
CORRELATION_ID = "retinue.correlation_id"
EXECUTION_ID = "retinue.execution_id"
MESSAGE_ID = "retinue.message_id"
DELIVERY_ID = "retinue.delivery_id"
FINISH_REASON = "retinue.finish_reason"
CANDIDATES = "retinue.retrieval.candidates"
RETURNED = "retinue.retrieval.returned"
BY_WORDS = "retinue.retrieval.by_words"
"""Why a search went on by words alone."""
APPROVAL_ID = "retinue.approval.id"
APPROVAL_OUTCOME = "retinue.approval.outcome"
WORKFLOW_ID = "retinue.workflow.id"
NODE_ID = "retinue.workflow.node_id"
ATTEMPT = "retinue.attempt"
INTERRUPTED = "retinue.interrupted"
DROPPED_SPANS = "retinue.dropped_spans"
EVENT_TYPE = "retinue.event.type"
OUTPUT_ATTEMPT = "retinue.output.attempt"
OUTPUT_ATTEMPTS = "retinue.output.attempts"
OUTPUT_PROBLEMS = "retinue.output.problems"
COMPACTION_TIERS = "retinue.compaction.tiers"
COMPACTION_TOKENS_BEFORE = "retinue.compaction.tokens_before"
COMPACTION_TOKENS_AFTER = "retinue.compaction.tokens_after"

COMPACTION_EVENT = "retinue.compaction"
OUTPUT_REJECTED_EVENT = "retinue.output.rejected"
RETRIEVAL_SCORES_EVENT = "retinue.retrieval.scores"
