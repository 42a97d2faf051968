"""Jobs are stored by name: a released name is known for ever, under the same payload or a wider one."""

import pytest

from retinue.domains import DOMAINS
from retinue.kit.jobs.declare import handlers_by_name

HANDLERS = handlers_by_name(handler for manifest in DOMAINS for handler in manifest.jobs)
RELEASED = {
    "approvals.expire",
    "approvals.mark_announcements_read",
    "approvals.notify_approvers",
    "approvals.purge",
    "approvals.purge_links",
    "audit.enqueue_streams",
    "audit.send_stream",
    "auth.purge_sign_ins",
    "auth.record_failed_login",
    "auth.send_password_reset",
    "auth.send_verification",
    "chat.answer",
    "chat.close_idle_conversations",
    "chat.embed_functions",
    "chat.erase_agent_events",
    "chat.erase_conversation_events",
    "chat.fail_lost_resumptions",
    "chat.fail_lost_turns",
    "chat.index_functions",
    "chat.make_title",
    "chat.purge_function_vectors",
    "chat.purge_logs",
    "chat.purge_stream_followers",
    "chat.resume_turn",
    "credentials.announce_expiries",
    "credentials.renew_token",
    "credentials.renew_tokens",
    "events.post_message",
    "events.purge",
    "events.run_action",
    "files.expire",
    "files.remove_bytes",
    "files.sweep_orphans",
    "forms.count_submissions",
    "forms.erase",
    "forms.finish_processing",
    "forms.notify_submission",
    "forms.purge_progress",
    "forms.purge_uploads",
    "forms.sweep_conversations",
    "incoming.erase_payloads",
    "incoming.purge_payloads",
    "incoming.trigger_workflow",
    "kit.give_up_unknown_jobs",
    "kit.purge_attempts",
    "kit.purge_dead_jobs",
    "kit.purge_idempotency_keys",
    "kit.retire_signing_keys",
    "knowledge.erase_revision",
    "knowledge.index_document",
    "knowledge.resume_after_change",
    "knowledge.resume_indexing",
    "knowledge.resume_waiting",
    "knowledge.sweep_chunks",
    "mail.send",
    "notifications.deliver",
    "notifications.notify_of_event",
    "notifications.purge",
    "providers.follow_credential",
    "service_accounts.record_last_refusals",
    "service_accounts.record_refused_token",
    "service_accounts.record_refused_tokens",
    "tables.erase_rows",
    "tables.purge_deleted_rows",
    "tables.resume_imports",
    "tables.run_import",
    "tools.enqueue_listings",
    "tools.fail_lost_execution",
    "tools.install_packages",
    "tools.refresh_listing",
    "tools.remove_packages",
    "tools.run_accepted",
    "traces.enqueue_exports",
    "traces.export",
    "traces.purge",
    "usage.announce_unpriced",
    "usage.compact",
    "usage.watch_budget",
    "webhooks.deliver",
    "webhooks.disable_failing",
    "webhooks.fail_lost_deliveries",
    "webhooks.purge_deliveries",
    "webhooks.replay",
    "workflows.abandon_node",
    "workflows.check_queue",
    "workflows.end_overdue",
    "workflows.fire_late_schedules",
    "workflows.fire_schedule",
    "workflows.notify_end",
    "workflows.purge_executions",
    "workflows.run_call",
    "workflows.run_step",
    "workflows.start_by_event",
    "workflows.start_queued",
}


def test_every_released_name_is_still_known():
    assert HANDLERS.keys() >= RELEASED


def test_every_job_is_listed_here_when_it_is_released():
    assert {handler.kind.name for handler in HANDLERS.values()} == RELEASED


@pytest.mark.parametrize("name", sorted(RELEASED))
def test_names_say_which_domain_a_job_belongs_to(name: str):
    assert name.partition(".")[0] in {manifest.name for manifest in DOMAINS}
