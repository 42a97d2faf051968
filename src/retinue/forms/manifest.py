from retinue.files.service import REFERENCE as FILE
from retinue.forms.conversation.sweeping import sweep_form_conversations
from retinue.forms.counting import count_submissions, forget_progress
from retinue.forms.events import (
    FormCreated,
    FormDeleted,
    FormPublished,
    FormSubmissionCreated,
    FormSubmissionUpdated,
    FormUpdated,
)
from retinue.forms.models import (
    Form,
    FormConversation,
    FormDay,
    FormMessage,
    FormUpload,
    FormVersion,
    Progress,
    SearchIndex,
    Submission,
)
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
from retinue.forms.tool_kind import run as run_tool
from retinue.forms.uploading import forget_uploads
from retinue.kit.manifest import Listener, Manifest
from retinue.kit.references import Reference
from retinue.kit.tool_kinds import ToolKind
from retinue.tables.service import REFERENCE as TABLE
from retinue.workflows.service import REFERENCE as WORKFLOW

manifest = Manifest(
    name="forms",
    records=(
        Form,
        FormVersion,
        Submission,
        FormUpload,
        Progress,
        FormDay,
        FormConversation,
        FormMessage,
        SearchIndex,
    ),
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
        sweep_form_conversations,
        tell_of_submission,
    ),
    listeners=(
        Listener("form.submission.created", tell_of_submission),
        Listener("workflow.execution.completed", end_processing, only=(("trigger", "form"),)),
    ),
    tool_kinds=(ToolKind(name="form", run=run_tool),),
    references=(
        Reference(to=TABLE, kind="forms", find=find_forms_of_table, detach=keep_table),
        Reference(to=WORKFLOW, kind="forms", find=find_forms_of_workflow, detach=let_go_of_workflow),
        Reference(to=FILE, kind="submissions", find=find_submission_of_file, detach=let_go_of_file),
    ),
)
