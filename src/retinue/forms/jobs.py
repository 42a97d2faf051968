"""The jobs of forms."""

from retinue.forms.after.daily_counts import count_submissions, purge_progress
from retinue.forms.after.notify import notify_submission
from retinue.forms.after.processing import finish_processing
from retinue.forms.conversation.retention import sweep_form_conversations
from retinue.forms.intake.file_uploads import purge_uploads
from retinue.forms.job_kinds import ERASE_FORM, FINISH_PROCESSING, NOTIFY_SUBMISSION
from retinue.forms.service import erase_form
from retinue.kit.jobs.declare import implement, periodic

JOBS = (
    implement(ERASE_FORM, erase_form, timeout_s=1800, transactional=False),
    periodic(
        "forms.sweep_conversations",
        sweep_form_conversations,
        every_s=1800,
        timeout_s=600,
        transactional=False,
    ),
    periodic(
        "forms.count_submissions",
        count_submissions,
        every_s=30,
        timeout_s=600,
        transactional=False,
    ),
    periodic(
        "forms.purge_progress",
        purge_progress,
        every_s=3600,
        timeout_s=600,
        transactional=False,
    ),
    implement(NOTIFY_SUBMISSION, notify_submission),
    implement(FINISH_PROCESSING, finish_processing),
    periodic(
        "forms.purge_uploads",
        purge_uploads,
        every_s=3600,
        timeout_s=600,
        transactional=False,
    ),
)
