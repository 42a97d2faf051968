"""The list of all domains: every manifest, in the order of the neighbourhoods (docs/architecture.md)."""

from retinue.access.manifest import manifest as access
from retinue.adapters.mail.mail_queue import manifest as mail
from retinue.agents.manifest import manifest as agents
from retinue.approvals.manifest import manifest as approvals
from retinue.audit.manifest import manifest as audit
from retinue.auth.manifest import manifest as auth
from retinue.chat.manifest import manifest as chat
from retinue.console.manifest import manifest as console
from retinue.credentials.manifest import manifest as credentials
from retinue.embed.manifest import manifest as embed
from retinue.events.manifest import manifest as events
from retinue.files.manifest import manifest as files
from retinue.forms.manifest import manifest as forms
from retinue.home.manifest import manifest as home
from retinue.incoming.manifest import manifest as incoming
from retinue.kit.http.discovery import manifest as kit
from retinue.knowledge.manifest import manifest as knowledge
from retinue.notifications.manifest import manifest as notifications
from retinue.operate.manifest import manifest as operate
from retinue.providers.manifest import manifest as providers
from retinue.search.manifest import manifest as search
from retinue.service_accounts.manifest import manifest as service_accounts
from retinue.tables.manifest import manifest as tables
from retinue.tenant_file.manifest import manifest as tenant_file
from retinue.tenants.manifest import manifest as tenants
from retinue.tools.manifest import manifest as tools
from retinue.traces.manifest import manifest as traces
from retinue.usage.manifest import manifest as usage
from retinue.users.manifest import manifest as users
from retinue.webhooks.manifest import manifest as webhooks
from retinue.workflows.manifest import manifest as workflows

DOMAINS = (
    kit,
    mail,
    # foundation
    tenants,
    access,
    files,
    usage,
    audit,
    # identity
    service_accounts,
    users,
    auth,
    credentials,
    # events
    events,
    webhooks,
    incoming,
    notifications,
    # ai
    providers,
    knowledge,
    tools,
    approvals,
    agents,
    chat,
    embed,
    traces,
    # automation
    tables,
    workflows,
    forms,
    # workspace
    home,
    operate,
    search,
    tenant_file,
    console,
)
