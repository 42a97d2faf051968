"""Figures about exported spans, for all exporters together."""

from typing import Literal

import structlog

from retinue.kit.context import Context

logger = structlog.get_logger("retinue.traces")


def count_exported_spans(ctx: Context, outcome: Literal["sent", "dropped"], count: int) -> None:
    """Count spans that a receiver accepted, or that were refused or given up."""
    if count:
        logger.debug("spans_exported", outcome=outcome, count=count, tenant_id=ctx.tenant_id)
