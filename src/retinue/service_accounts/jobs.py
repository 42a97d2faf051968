from retinue.kit.jobs.declare import implement, periodic
from retinue.service_accounts.job_kinds import RECORD_LAST_REFUSALS, RECORD_REFUSED_TOKEN
from retinue.service_accounts.refused_tokens import record_last_refusals, record_refused_token, record_rest

JOBS = (
    implement(RECORD_REFUSED_TOKEN, record_refused_token),
    implement(RECORD_LAST_REFUSALS, record_last_refusals),
    periodic("service_accounts.record_refused_tokens", record_rest, every_s=600, transactional=False),
)
