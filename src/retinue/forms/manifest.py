from retinue.files.service import REFERENCE as FILE
from retinue.forms.counting import count_submissions, forget_progress
from retinue.forms.events import (
    FormCreated,
    FormDeleted,
    FormPublished,
    FormSubmissionCreated,
    FormSubmissionUpdated,
    FormUpdated,
)
from retinue.forms.models import Form, FormDay, FormUpload, FormVersion, Progress, Submission
from retinue.forms.processing import end_processing
from retinue.forms.queries import (
    find_forms_of_table,
    find_forms_of_workflow,
    find_submission_of_file,
    keep_table,
    let_go_of_file,
    let_go_of_workflow,
)
from retinue.forms.routes import ROUTES
from retinue.forms.service import erase_form
from retinue.forms.telling import tell_of_submission
from retinue.forms.uploading import forget_uploads
from retinue.kit.manifest import Listener, Manifest
from retinue.kit.references import Reference
from retinue.tables.service import REFERENCE as TABLE
from retinue.workflows.service import REFERENCE as WORKFLOW

manifest = Manifest(
    name="forms",
    records=(Form, FormVersion, Submission, FormUpload, Progress, FormDay),
    routes=ROUTES,
    events=(
        FormCreated,
        FormUpdated,
        FormDeleted,
        FormPublished,
        FormSubmissionCreated,
        FormSubmissionUpdated,
    ),
    jobs=(
        count_submissions,
        end_processing,
        erase_form,
        forget_progress,
        forget_uploads,
        tell_of_submission,
    ),
    listeners=(
        Listener("form.submission.created", tell_of_submission),
        Listener("workflow.execution.completed", end_processing),
    ),
    references=(
        Reference(to=TABLE, kind="forms", find=find_forms_of_table, detach=keep_table),
        Reference(to=WORKFLOW, kind="forms", find=find_forms_of_workflow, detach=let_go_of_workflow),
        Reference(to=FILE, kind="submissions", find=find_submission_of_file, detach=let_go_of_file),
    ),
)
