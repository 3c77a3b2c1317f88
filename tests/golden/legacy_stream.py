"""What `np.random.seed(N)` followed by `np.random.randn(10000)` draws, for a few N.

    python legacy_stream.py                writes legacy_stream.json

Kept are the first 50 numbers of each stream, which also hold odd and even positions, and the last 10, which only come
out right if every number between took as many words from the generator.
"""

import numpy as np

import layout

COUNT = 10_000
streams = []
for seed in [0, 1, 42, 5489, 123_456_789, 2**31, 2**32 - 1]:
    np.random.seed(seed)
    drawn = np.random.randn(COUNT).tolist()
    streams.append({"seed": seed, "first": drawn[:50], "last": drawn[-10:]})

about = "np.random.seed and np.random.randn; made by legacy_stream.py"
layout.write(__file__, {"about": about, **layout.versions(np), "count": COUNT, "streams": streams})
