"""Rewrites a built wheel so that the same sources give the same bytes, and adds its bill of materials.

The order, times and modes of its members come from here instead of from the machine that built it. The time
is SOURCE_DATE_EPOCH, or the first that a zip file can hold. The software bill of materials goes to the folder
that PEP 770 names.
"""

import base64
import csv
import hashlib
import io
import os
import time
import zipfile
from pathlib import Path

EARLIEST = 315_532_800  # 1980-01-01, where the calendar of zip files begins
FILE_MODE, SCRIPT_MODE = 0o100644, 0o100755


def rewrite(wheel: Path, sbom: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
    [record] = [name for name in members if name.endswith(".dist-info/RECORD")]
    info_folder = record.removesuffix("RECORD")
    members[f"{info_folder}sboms/{sbom.name}"] = sbom.read_bytes()
    del members[record]
    # The metadata comes last, as the format recommends, and the record of it all at the very end.
    ordered = sorted(members, key=lambda name: (name.startswith(info_folder), name))
    draft = wheel.with_suffix(".draft")
    with zipfile.ZipFile(draft, "w") as archive:
        for name in ordered:
            _write(archive, name, members[name])
        _write(archive, record, _record(record, {name: members[name] for name in ordered}))
    draft.replace(wheel)


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)), EARLIEST)
    member = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    member.create_system = 3  # Unix, whose modes these are
    member.external_attr = (SCRIPT_MODE if ".data/scripts/" in name else FILE_MODE) << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


def _record(record: str, members: dict[str, bytes]) -> bytes:
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    for name, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow((name, f"sha256={digest}", len(content)))
    rows.writerow((record, "", ""))
    return lines.getvalue().encode()
