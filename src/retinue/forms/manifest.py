from retinue.files.service import REFERENCE as FILE
from retinue.forms.events import (
    FormCreated,
    FormDeleted,
    FormDraftDiscarded,
    FormDraftSaved,
    FormPublished,
    FormSubmissionCreated,
    FormSubmissionUpdated,
    FormUpdated,
)
from retinue.forms.job_kinds import FINISH_PROCESSING, NOTIFY_SUBMISSION
from retinue.forms.jobs import JOBS
from retinue.forms.models import (
    Form,
    FormConversation,
    FormDay,
    FormDraft,
    FormMessage,
    FormUpload,
    FormVersion,
    Progress,
    SearchIndex,
    Submission,
)
from retinue.forms.queries import (
    detach_channel,
    detach_file,
    detach_table,
    detach_workflow,
    find_forms_of_channel,
    find_forms_of_table,
    find_forms_of_workflow,
    find_submission_of_file,
)
from retinue.forms.routes import ROUTES
from retinue.forms.tool_kind import TOOL_KIND
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.kit.events.declare import Listener
from retinue.notifications.channels import REFERENCE as CHANNEL
from retinue.tables.service import REFERENCE as TABLE
from retinue.workflows.service import REFERENCE as WORKFLOW

manifest = Manifest(
    name="forms",
    records=(
        Form,
        FormDraft,
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
        FormDraftSaved,
        FormDraftDiscarded,
        FormSubmissionCreated,
        FormSubmissionUpdated,
    ),
    jobs=JOBS,
    listeners=(
        Listener("form.submission.created", NOTIFY_SUBMISSION),
        Listener("workflow.execution.completed", FINISH_PROCESSING, only=(("trigger", "form"),)),
    ),
    tool_kinds=(TOOL_KIND,),
    config_schemas=(TOOL_KIND.config_schema,),
    references=(
        Reference(to=TABLE, kind="forms", find=find_forms_of_table, detach=detach_table),
        Reference(to=WORKFLOW, kind="forms", find=find_forms_of_workflow, detach=detach_workflow),
        Reference(to=CHANNEL, kind="forms", find=find_forms_of_channel, detach=detach_channel),
        Reference(to=FILE, kind="submissions", find=find_submission_of_file, detach=detach_file),
    ),
    search_sources=(
        SearchSource(
            kind="form",
            requires="forms:read",
            record=Form,
            name=Form.__table__.c.name,
            description=Form.__table__.c.description,
        ),
    ),
)
