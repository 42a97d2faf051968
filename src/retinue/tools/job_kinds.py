"""The jobs that tools enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind
from retinue.kit.json_types import JsonObject


class PackagesTask(msgspec.Struct):
    tool_id: str


class StartedExecution(msgspec.Struct):
    execution_id: str


class AcceptedExecution(msgspec.Struct):
    execution_id: str
    input: JsonObject


class ListingTask(msgspec.Struct):
    tool_id: str


INSTALL_PACKAGES = JobKind("tools.install_packages", PackagesTask, queue="packages")
REMOVE_PACKAGES = JobKind("tools.remove_packages", PackagesTask, queue="packages")
FAIL_LOST_EXECUTION = JobKind("tools.fail_lost_execution", StartedExecution, queue="tools")
RUN_ACCEPTED_EXECUTION = JobKind("tools.run_accepted", AcceptedExecution, queue="tools")
REFRESH_LISTING = JobKind("tools.refresh_listing", ListingTask, queue="listings")
