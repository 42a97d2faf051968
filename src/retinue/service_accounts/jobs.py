from retinue.kit.jobs.declare import implement
from retinue.service_accounts.job_kinds import RECORD_REFUSED_TOKEN
from retinue.service_accounts.refused_tokens import record_refused_token

JOBS = (implement(RECORD_REFUSED_TOKEN, record_refused_token),)
