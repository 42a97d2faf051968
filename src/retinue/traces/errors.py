from retinue.kit.errors import Conflict, NotFound


class TraceNotFound(NotFound):
    """There is no such trace."""

    code = "trace_not_found"


class TraceExporterNotFound(NotFound):
    """There is no such trace exporter."""

    code = "trace_exporter_not_found"


class TooManyTraceExporters(Conflict):
    """The tenant has reached the maximum number of trace exporters. Delete one first."""

    code = "too_many_trace_exporters"
