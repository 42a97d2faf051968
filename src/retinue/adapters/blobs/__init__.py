"""Where the bytes of files are kept."""

from retinue.adapters.blobs.local import LocalBlobs
from retinue.adapters.blobs.store import BadBlobKey, BlobMissing, Blobs

__all__ = ["BadBlobKey", "BlobMissing", "Blobs", "LocalBlobs"]
