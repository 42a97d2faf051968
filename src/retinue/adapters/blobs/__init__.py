"""Storage of files' contents."""

from retinue.adapters.blobs.local import LocalBlobs
from retinue.adapters.blobs.s3 import S3Blobs
from retinue.adapters.blobs.s3_address import parse_s3_url
from retinue.adapters.blobs.store import BadBlobKey, BlobMissing, Blobs, StorageUnavailable
from retinue.kit.settings import Settings

__all__ = ["BadBlobKey", "BlobMissing", "Blobs", "LocalBlobs", "S3Blobs", "StorageUnavailable", "blobs_for"]


def blobs_for(settings: Settings) -> Blobs:
    """Return the store: a bucket if one is configured, else a folder of the data dir."""
    if settings.files_url:
        return S3Blobs(parse_s3_url(settings.files_url), settings=settings)
    return LocalBlobs(settings.data_dir / "files")
