"""Write `src/retinue/kit/unicode_scripts.txt`; needs fontTools, which carries the Unicode files as Python.

pip install fonttools && python scripts/unicode_scripts.py
"""

import re
from itertools import groupby, pairwise
from pathlib import Path

from fontTools.unicodedata import ScriptExtensions, Scripts, script_extension

TABLE = Path(__file__).parent.parent / "src/retinue/kit/unicode_scripts.txt"
ANY = {"Zyyy", "Zinh"}
UNKNOWN = {"Zzzz"}
HEADER = """\
# The scripts a character is written in (Script_Extensions, else Script); * is every script. Made by
# scripts/unicode_scripts.py from {sources} of the Unicode Character Database.
# Copyright (c) 1991-2026 Unicode, Inc. All rights reserved. https://www.unicode.org/license.txt
"""


def scripts_of(code: int) -> str:
    found = set(script_extension(chr(code)))
    return "*" if found & ANY else " ".join(sorted(found))


def main() -> None:
    bounds = sorted({*Scripts.RANGES, *ScriptExtensions.RANGES, 0x110000})
    pieces = [(first, after - 1, scripts_of(first)) for first, after in pairwise(bounds)]
    lines = []
    for scripts, group in groupby(pieces, key=lambda piece: piece[2]):
        parts = list(group)
        if set(scripts.split()) != UNKNOWN:
            lines.append(f"{parts[0][0]:04X} {parts[-1][1]:04X} {scripts}")
    names = [
        re.findall(r"# (\w+-[\d.]+\.txt)", Path(module.__file__).read_text())[0]
        for module in (Scripts, ScriptExtensions)
    ]
    TABLE.write_text(HEADER.format(sources=" and ".join(names)) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
