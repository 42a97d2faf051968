"""The clock that decides when a job is due."""

from retinue.kit.clock import Clock, SystemClock

DATABASE_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def uses_database_clock(dialect: str, clock: Clock) -> bool:
    """Return whether PostgreSQL's clock decides, so that machines agree; a test clock always decides."""
    return dialect == "postgresql" and type(clock) is SystemClock
