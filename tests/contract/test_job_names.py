"""Jobs are stored by name: a released name is known for ever, under the same payload or a wider one."""

from typing import Any

import pytest

from retinue.domains import DOMAINS
from retinue.kit.jobs.declare import handlers_by_name
from retinue.kit.jobs.models import Job, Schedule
from tests.factories.people import People
from tests.services import Service

HANDLERS = handlers_by_name(handler for manifest in DOMAINS for handler in manifest.jobs)
# The names of today, and the function names that releases before 2026-11 stored.
RELEASED = {
    "audit.enqueue_streams": "audit.enqueue_streams",
    "audit.send_stream": "audit.send_stream",
    "approvals.expire": "expire_approvals",
    "approvals.mark_announcements_read": "approvals.mark_announcements_read",
    "approvals.notify_approvers": "tell_approvers",
    "approvals.purge": "forget_old_approvals",
    "approvals.purge_links": "forget_approval_links",
    "auth.purge_sign_ins": "sweep_sign_ins",
    "auth.record_failed_login": "record_failed_login",
    "auth.send_password_reset": "prepare_password_reset",
    "service_accounts.record_last_refusals": "service_accounts.record_last_refusals",
    "service_accounts.record_refused_token": "service_accounts.record_refused_token",
    "service_accounts.record_refused_tokens": "service_accounts.record_refused_tokens",
    "auth.send_verification": "prepare_verification",
    "chat.answer": "answer_accepted_turn",
    "chat.close_idle_conversations": "end_silent_conversations",
    "chat.embed_functions": "chat.embed_functions",
    "chat.erase_agent_events": "forget_agent_events",
    "chat.erase_conversation_events": "forget_events",
    "chat.fail_lost_resumptions": "fail_lost_continuations",
    "chat.fail_lost_turns": "fail_lost_turns",
    "chat.index_functions": "chat.index_functions",
    "chat.purge_function_vectors": "chat.purge_function_vectors",
    "chat.purge_logs": "purge_chat_logs",
    "chat.purge_stream_followers": "chat.purge_stream_followers",
    "chat.resume_turn": "continue_turn",
    "credentials.announce_expiries": "announce_expiries",
    "credentials.renew_token": "renew_token",
    "credentials.renew_tokens": "renew_tokens",
    "events.post_message": "post_message",
    "events.purge": "forget_old_events",
    "events.run_action": "act_on_event",
    "files.expire": "expire_files",
    "files.remove_bytes": "remove_bytes",
    "files.sweep_orphans": "sweep_orphans",
    "forms.count_submissions": "count_submissions",
    "forms.erase": "erase_form",
    "forms.finish_processing": "end_processing",
    "forms.notify_submission": "tell_of_submission",
    "forms.purge_progress": "forget_progress",
    "forms.purge_uploads": "forget_uploads",
    "forms.sweep_conversations": "sweep_form_conversations",
    "incoming.erase_payloads": "erase_received",
    "incoming.purge_payloads": "sweep_received_payloads",
    "incoming.trigger_workflow": "trigger_received",
    "kit.purge_attempts": "sweep_attempts",
    "kit.purge_dead_jobs": "sweep_dead_jobs",
    "kit.purge_idempotency_keys": "sweep_idempotency_keys",
    "kit.retire_signing_keys": "retire_signing_keys",
    "knowledge.erase_revision": "erase_revision",
    "knowledge.index_document": "index_document",
    "knowledge.resume_after_change": "knowledge.resume_after_change",
    "knowledge.resume_indexing": "resume_indexing",
    "knowledge.resume_waiting": "knowledge.resume_waiting",
    "knowledge.sweep_chunks": "sweep_chunks",
    "mail.send": "send_mail",
    "notifications.deliver": "deliver_notification",
    "notifications.notify_of_event": "notify_of_event",
    "notifications.purge": "purge_notifications",
    "providers.follow_credential": "follow_credential",
    "tables.erase_rows": "erase_rows",
    "tables.resume_imports": "resume_imports",
    "tables.run_import": "run_import",
    "tools.enqueue_listings": "tools.enqueue_listings",
    "tools.refresh_listing": "tools.refresh_listing",
    "tools.fail_lost_execution": "end_lost_execution",
    "tools.install_packages": "resolve_packages",
    "tools.remove_packages": "remove_packages",
    "tools.run_accepted": "run_accepted_execution",
    "traces.enqueue_exports": "traces.enqueue_exports",
    "traces.export": "traces.export",
    "traces.purge": "traces.purge",
    "usage.announce_unpriced": "usage.announce_unpriced",
    "usage.compact": "compact_usage",
    "usage.watch_budget": "watch_budget",
    "webhooks.deliver": "deliver_webhook",
    "webhooks.disable_failing": "disable_webhook",
    "webhooks.fail_lost_deliveries": "give_up_lost_deliveries",
    "webhooks.purge_deliveries": "forget_old_deliveries",
    "webhooks.replay": "replay_deliveries",
    "webhooks.seal_headers": "seal_webhook_headers",
    "workflows.abandon_node": "abandon_node",
    "workflows.check_queue": "look_for_room",
    "workflows.end_overdue": "end_overdue_executions",
    "workflows.fire_late_schedules": "fire_late_schedules",
    "workflows.fire_schedule": "fire_schedule",
    "workflows.notify_end": "tell_of_end",
    "workflows.purge_executions": "forget_old_executions",
    "workflows.run_call": "run_call",
    "workflows.run_step": "run_step",
    "workflows.start_by_event": "start_by_event",
    "workflows.start_queued": "begin_pending",
    "kit.give_up_unknown_jobs": "kit.give_up_unknown_jobs",
}


def test_every_released_name_is_still_known():
    for name, before in RELEASED.items():
        assert HANDLERS[name] is HANDLERS[before]
        assert HANDLERS[name].kind.name == name


def test_every_job_is_listed_here_when_it_is_released():
    assert {handler.kind.name for handler in HANDLERS.values()} == set(RELEASED)


@pytest.mark.parametrize("name", sorted(RELEASED))
def test_names_say_which_domain_a_job_belongs_to(name: str):
    assert name.partition(".")[0] in {manifest.name for manifest in DOMAINS}


async def test_a_schedule_of_the_release_before_is_replaced(service: Service, people: People) -> None:
    async with people.context() as ctx:
        system = ctx.system("test")
        await system.insert_missing(Schedule(id="expire_files", next_at=1.0))
    await service.runner.stop()
    service.runner._schedules.forget()
    await service.runner.drain()
    async with people.context() as ctx:
        known: list[Any] = await ctx.system("test").all(Schedule)
        waiting = await ctx.system("test").all(Job, kind="expire_files")
    assert {one.id for one in known} & {"expire_files", "files.expire"} == {"files.expire"}
    assert waiting == []
