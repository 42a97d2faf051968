"""Checks before publication that several node types share."""

from retinue.kit.db.models import Record
from retinue.kit.text.templates import is_template
from retinue.workflows.engine.node_type import NodeCheck, Problems


def problems_of_missing(node_check: NodeCheck, *names: str) -> Problems:
    config = node_check.node.config
    return {f"{node_check.path}.{name}": "is required" for name in names if config.get(name) in (None, "")}


async def problems_of_reference(
    node_check: NodeCheck, name: str, record: type[Record], missing: str
) -> Problems:
    """Check that the record a field names exists; a template is only known when the node runs."""
    value = node_check.node.config.get(name)
    if value is None or is_template(value):
        return {}
    found = await node_check.ctx.db.get(record, value) if isinstance(value, str) else None
    return {} if found is not None else {f"{node_check.path}.{name}": missing}
