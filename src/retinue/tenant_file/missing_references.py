"""Everything that a file names and a tenant lacks, reported at once."""

import re
from collections.abc import Iterator

from retinue.kit.errors import Invalid
from retinue.tenant_file.parts import leaves, to_plain
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex

# The fields in which references are resolved; elsewhere a text is a text, even if it looks like one.
_FIELDS = {
    "data_tables": r"columns\.\d+\.table",
    "tools": r".+",
    "agents": r"tools\.\d+\.(?:tool|config_override\..+)|web_search\..+|sub_agents\.\d+\.agent",
    "workflows": r".+",
    "forms": r"workflow|data_table\.table|(?:fields|settings|branding)\..+",
    "notification_channels": r"config\..+|credential",
    "webhooks": r"filters\..+",
    "incoming_webhooks": r"workflow",
    "subscriptions": r"(?:action_config|filters)\..+",
    "budgets": r"scope\.id",
    "agent_documents": r"agent",
}


def require_references(names: ReferenceIndex, changes: list[PlannedChange]) -> None:
    """Raise one Invalid with every reference that names nothing, or several objects."""
    created = {f"@{change.location}" for change in changes if change.action == "create"}
    problems = {
        f"{change.location}: {path}": problem
        for change in changes
        for path, text in _references(change)
        if text not in created and (problem := names.problem(text))
    }
    if problems:
        raise Invalid(problems)


def _references(change: PlannedChange) -> Iterator[tuple[str, str]]:
    """Yield the texts of an object that may be references."""
    fields = _FIELDS.get(change.section)
    if fields is None or change.part is None:
        return
    for path, value in leaves(to_plain(change.part)):
        if isinstance(value, str) and re.fullmatch(fields, path):
            yield path, value
