from retinue.files.jobs import sweep_orphans
from retinue.files.models import File
from retinue.files.routes import routes
from retinue.files.service import remove_bytes
from retinue.kit.manifest import Manifest

manifest = Manifest(name="files", records=(File,), routes=(routes,), jobs=(remove_bytes, sweep_orphans))
