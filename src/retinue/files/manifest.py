from retinue.files.events import FileDeleted, FileShared, FileUploaded
from retinue.files.jobs import expire_files, sweep_orphans
from retinue.files.models import File
from retinue.files.routes import public, routes
from retinue.files.service import remove_bytes
from retinue.kit.manifest import Manifest

manifest = Manifest(
    name="files",
    records=(File,),
    routes=(routes, public),
    events=(FileUploaded, FileDeleted, FileShared),
    jobs=(remove_bytes, sweep_orphans, expire_files),
)
