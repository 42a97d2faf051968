"""What several types of nodes check before they may be published."""

from typing import Any

from retinue.kit.db.models import Record
from retinue.workflows.nodes.kinds import Checking, Problems


def is_template(value: Any) -> bool:
    return isinstance(value, str) and "{{" in value


def required(checking: Checking, *names: str) -> Problems:
    config = checking.node.config
    return {f"{checking.path}.{name}": "is required" for name in names if config.get(name) in (None, "")}


async def problems_of_reference(
    checking: Checking, name: str, record: type[Record], missing: str
) -> Problems:
    """Whether the tenant has what a field names; what a template will name shows when it is used."""
    value = checking.node.config.get(name)
    if value is None or is_template(value):
        return {}
    found = await checking.ctx.db.get(record, value) if isinstance(value, str) else None
    return {} if found is not None else {f"{checking.path}.{name}": missing}
