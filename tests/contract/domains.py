"""The contracts of all domains, each after those it refers to."""

from retinue.kit.db.models import Record
from tests.access.contract import CONTRACT as ACCESS
from tests.agents.contract import CONTRACT as AGENTS
from tests.approvals.contract import CONTRACT as APPROVALS
from tests.audit.contract import CONTRACT as AUDIT
from tests.auth.contract import CONTRACT as AUTH
from tests.chat.contract import CONTRACT as CHAT
from tests.contract.knowledge import Write
from tests.credentials.contract import CONTRACT as CREDENTIALS
from tests.embed.contract import CONTRACT as EMBED
from tests.events.contract import CONTRACT as EVENTS
from tests.files.contract import CONTRACT as FILES
from tests.forms.contract import CONTRACT as FORMS
from tests.incoming.contract import CONTRACT as INCOMING
from tests.kit.contract import CONTRACT as KIT
from tests.notifications.contract import CONTRACT as NOTIFICATIONS
from tests.operate.contract import CONTRACT as OPERATE
from tests.providers.contract import CONTRACT as PROVIDERS
from tests.service_accounts.contract import CONTRACT as SERVICE_ACCOUNTS
from tests.tables.contract import CONTRACT as TABLES
from tests.tenant_file.contract import CONTRACT as TENANT_FILE
from tests.tenants.contract import CONTRACT as TENANTS
from tests.tools.contract import CONTRACT as TOOLS
from tests.traces.contract import CONTRACT as TRACES
from tests.usage.contract import CONTRACT as USAGE
from tests.users.contract import CONTRACT as USERS
from tests.webhooks.contract import CONTRACT as WEBHOOKS
from tests.workflows.contract import CONTRACT as WORKFLOWS

CONTRACTS = (
    KIT,
    ACCESS,
    AUDIT,
    TENANTS,
    FILES,
    USAGE,
    SERVICE_ACCOUNTS,
    USERS,
    CREDENTIALS,
    EVENTS,
    AUTH,
    PROVIDERS,
    TABLES,
    TOOLS,
    NOTIFICATIONS,
    APPROVALS,
    AGENTS,
    CHAT,
    WORKFLOWS,
    EMBED,
    FORMS,
    WEBHOOKS,
    INCOMING,
    TRACES,
    TENANT_FILE,
    OPERATE,
)

WRITES: dict[str, Write] = {name: call for one in CONTRACTS for name, call in one.calls.items()}
WATCHED: dict[str, type[Record]] = {
    record.__table__.name: record for one in CONTRACTS for record in one.records
}
VALUES = {name: words for one in CONTRACTS for name, words in one.values.items()}
SHARED = {name for one in CONTRACTS for name in (*one.shared, *one.values)}
UPLOADS = {name: file for one in CONTRACTS for name, file in one.uploads.items()}
TEXTS = {name: fields for one in CONTRACTS for name, fields in one.texts.items()}
