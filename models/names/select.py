"""Selects the 1,000 names of names.txt from two lists of the United States Census of 1990.

    python3 select.py FOLDER > names.txt

FOLDER has dist.female.first and dist.male.first of the Census Bureau (the package `names` 0.3.0 of PyPI has them, too): a name
in each line, the most frequent first. The most frequent names of both lists take turns; a name that is in both is taken once.
"""

import sys
from pathlib import Path

folder = Path(sys.argv[1])
lists = [
    [line.split()[0].lower() for line in (folder / f"dist.{which}.first").read_text().splitlines() if line.strip()]
    for which in ("female", "male")
]
chosen: list[str] = []
for pair in zip(*lists):
    for name in pair:
        if name not in chosen and len(chosen) < 1000:
            chosen.append(name)
print("\n".join(sorted(chosen)))
