"""Whose clock says when a job is due."""

from retinue.kit.clock import Clock, SystemClock

DATABASE_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def database_keeps_time(dialect: str, clock: Clock) -> bool:
    """PostgreSQL's own clock counts, so that machines agree; a clock that tests hold counts everywhere."""
    return dialect == "postgresql" and type(clock) is SystemClock
