"""The jobs that approvals enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind


class ApproversToNotify(msgspec.Struct):
    approval_id: str
    is_reminder: bool = False


NOTIFY_APPROVERS = JobKind("approvals.notify_approvers", ApproversToNotify, aliases=("tell_approvers",))
