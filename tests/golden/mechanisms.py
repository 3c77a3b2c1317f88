"""The mechanisms of today's models, computed by PyTorch and by the functions of transformers themselves; writes mechanisms.json.

    python mechanisms.py

The records come from mechanisms_positions.py (rotary positions, sinusoids), mechanisms_scores.py (ALiBi, T5, sinks, soft cap,
windows), mechanisms_layers.py (norms, gates, whole layers) and mechanisms_latent.py (latent, differential and linear attention).
Each says which parameters a user would type, the inputs, the outputs under the names of our nodes, and what was called.

All is in float64. Where the code of transformers names float32, it runs with float64 in its place; what depends on rounding, as a
frequency, is checked against the unchanged code to the precision of float32. Where a mechanism has a second form (chunks, the
absorbed weights, a cache, the formula of the paper), the scripts check that both agree.

Row vectors: y = x W. Heads are contiguous blocks of columns. Query i of T stands at position first + N − T + i − 1 among N keys,
which stand at first … first + N − 1. C are the heads' outputs side by side where a W_O follows, and O is C W_O; without W_O they
are O. A masked score is "-inf"; vectors and numbers are matrices of one row. Outputs have 15 significant digits.
"""

import mpmath
import numpy as np
import torch
import transformers

import layout
import mechanisms_latent
import mechanisms_layers
import mechanisms_positions
import mechanisms_scores

SOURCES = (mechanisms_positions, mechanisms_scores, mechanisms_layers, mechanisms_latent)
records = [record for source in SOURCES for record in source.records()]
names = [record["name"] for record in records]
assert len(set(names)) == len(names), "each record has a name of its own"
about = "Positions, masks and mechanisms of current models by PyTorch and transformers; made by mechanisms.py"
layout.write(__file__, {"about": about, "versions": layout.versions(torch, transformers, np, mpmath), "records": records}, line=80000)
