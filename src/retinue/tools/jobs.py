"""The jobs of tools."""

from retinue.kit.jobs.declare import implement, periodic
from retinue.tools.config.packages import MAX_INSTALL_SECONDS, install_packages, remove_packages
from retinue.tools.executors.call import MAX_TIMEOUT_MS
from retinue.tools.job_kinds import (
    FAIL_LOST_EXECUTION,
    INSTALL_PACKAGES,
    REFRESH_LISTING,
    REMOVE_PACKAGES,
    RUN_ACCEPTED_EXECUTION,
)
from retinue.tools.mcp_servers.catalog import TIMEOUT_SECONDS
from retinue.tools.mcp_servers.nightly import enqueue_listings
from retinue.tools.mcp_servers.refresh import refresh_listing
from retinue.tools.run.background import run_accepted_execution
from retinue.tools.run.idempotent import fail_lost_execution

JOBS = (
    implement(INSTALL_PACKAGES, install_packages, timeout_s=MAX_INSTALL_SECONDS + 60, transactional=False),
    implement(REMOVE_PACKAGES, remove_packages, transactional=False),
    implement(FAIL_LOST_EXECUTION, fail_lost_execution, transactional=False),
    implement(
        RUN_ACCEPTED_EXECUTION,
        run_accepted_execution,
        timeout_s=MAX_TIMEOUT_MS / 1000 + 30,
        transactional=False,
    ),
    periodic(
        "tools.enqueue_listings", enqueue_listings, every_s=24 * 3600, timeout_s=600, transactional=False
    ),
    # Few at a time: they wait for servers of others, and nobody waits for them.
    implement(
        REFRESH_LISTING, refresh_listing, timeout_s=TIMEOUT_SECONDS + 30, transactional=False, at_once=4
    ),
)
