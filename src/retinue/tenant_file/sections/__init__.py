"""The sections of a file, in the order of the file."""

from retinue.tenant_file.sections import (
    agent_documents,
    agents,
    budgets,
    data_tables,
    forms,
    incoming_webhooks,
    notification_channels,
    subscriptions,
    tools,
    trace_exporters,
    webhooks,
    workflows,
)
from retinue.tenant_file.sections.base import FileSection

SECTIONS: dict[str, FileSection] = {
    module.SECTION.name: module.SECTION
    for module in (
        data_tables,
        tools,
        agents,
        workflows,
        forms,
        notification_channels,
        webhooks,
        incoming_webhooks,
        subscriptions,
        budgets,
        trace_exporters,
        agent_documents,
    )
}
# Tools of the kinds `agent`, `workflow` and so on name what they use, so they are created after it.
CREATION_ORDER = ("data_tables", "agents", "workflows", "forms", "notification_channels", "tools")
