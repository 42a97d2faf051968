from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.traces.directory import ExporterDirectory
from retinue.traces.events import TraceExporterCreated, TraceExporterDeleted, TraceExporterUpdated
from retinue.traces.jobs import JOBS
from retinue.traces.models import InstanceTraceExport, TraceExporter
from retinue.traces.routes import exporter_routes, routes

manifest = Manifest(
    name="traces",
    records=(TracePart, QueuedTracePart, TraceExporter, InstanceTraceExport),
    routes=(routes, exporter_routes),
    events=(TraceExporterCreated, TraceExporterUpdated, TraceExporterDeleted),
    jobs=JOBS,
    process_state=(ProcessState(ExporterDirectory, ExporterDirectory, ExporterDirectory.close),),
)
