"""The jobs that approvals enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind


class ApproversToNotify(msgspec.Struct):
    approval_id: str
    is_reminder: bool = False


class AnnouncementsToMark(msgspec.Struct):
    """The notifications about an approval that need nobody any more; with `user_id`, those of this user."""

    approval_id: str
    requested_at: str
    user_id: str | None = None


NOTIFY_APPROVERS = JobKind("approvals.notify_approvers", ApproversToNotify)
MARK_ANNOUNCEMENTS_READ = JobKind("approvals.mark_announcements_read", AnnouncementsToMark)
