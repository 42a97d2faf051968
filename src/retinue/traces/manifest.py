from retinue.kit.context.manifest import Manifest
from retinue.kit.tracing.models import QueuedTracePart, TracePart

manifest = Manifest(name="traces", records=(TracePart, QueuedTracePart))
