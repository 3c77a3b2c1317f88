"""What `np.random.seed(N)` followed by `np.random.randn(10000)` draws, for a few N.

    python legacy_stream.py                writes legacy_stream.json

Kept are the first 50 numbers of each stream, which also hold odd and even positions, and the last 10, which only come
out right if every number between took as many words from the generator.
"""

import json
import platform
from pathlib import Path

import numpy as np

COUNT = 10_000
streams = []
for seed in [0, 1, 42, 5489, 123_456_789, 2**31, 2**32 - 1]:
    np.random.seed(seed)
    drawn = np.random.randn(COUNT).tolist()
    streams.append({"seed": seed, "first": drawn[:50], "last": drawn[-10:]})

head = json.dumps({
    "about": "np.random.seed and np.random.randn; made by legacy_stream.py",
    "numpy": np.__version__,
    "python": platform.python_version(),
    "count": COUNT,
}, indent=2).removesuffix("\n}")
body = ",\n    ".join(json.dumps(stream) for stream in streams)
target = Path(__file__).parent / "legacy_stream.json"
target.write_text(f'{head},\n  "streams": [\n    {body}\n  ]\n}}\n', encoding="utf-8")
