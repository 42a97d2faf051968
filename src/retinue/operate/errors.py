from retinue.kit.errors import Conflict, RetinueError


class QueuedJobNotFound(RetinueError):
    """There is no such job."""

    status, code = 404, "queued_job_not_found"


class JobNotFailed(Conflict):
    """Only a job that has failed for good can be run again."""

    code = "job_not_failed"
