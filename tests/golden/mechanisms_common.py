"""What the scripts that make mechanisms.json share: inputs, double precision, masks, the steps of attention, records."""

import contextlib
from unittest import mock

import numpy as np
import torch
import transformers
from transformers.masking_utils import causal_mask_function, eager_mask, sdpa_mask, sliding_window_causal_mask_function

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
transformers.logging.set_verbosity_error()


def inputs(seed):
    """A source of random inputs with three decimals: `draw(rows, columns, spread, about)`."""
    random = np.random.default_rng(seed)

    def draw(*shape, spread=1.0, about=0.0):
        return torch.tensor(np.round(random.normal(about, spread, shape), 3) + 0.0)

    return draw


@contextlib.contextmanager
def doubles():
    """Inside, float64 stands wherever the code of transformers names float32 or calls `.float()`."""
    with contextlib.ExitStack() as stack:
        for name in ("float32", "float"):
            stack.enter_context(mock.patch.object(torch, name, torch.float64))
        stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
        yield


@contextlib.contextmanager
def singles():
    """Inside, the code of transformers computes in float32 as it does for a user."""
    torch.set_default_dtype(torch.float32)
    yield
    torch.set_default_dtype(torch.float64)


def same(ours, theirs, tolerance=1e-13):
    """Asserts that two computations agree."""
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance, check_dtype=False)


def visible(T, N, window=None, function=None):
    """Which key each of the last T queries may read, by `masking_utils.sdpa_mask`; and what eager attention adds."""
    if function is None:
        function = causal_mask_function if window is None else sliding_window_causal_mask_function(window)
    place = dict(batch_size=1, q_length=T, kv_length=N, q_offset=N - T, mask_function=function)
    sees = sdpa_mask(**place, allow_is_causal_skip=False)[0, 0]
    return sees, eager_mask(**place, dtype=torch.float64)


def split(matrix, heads):
    """Blocks of columns, one a head: rows × (heads · d) becomes 1 × heads × rows × d, as transformers has it."""
    return matrix.view(len(matrix), heads, -1).transpose(0, 1)[None]


def joined(tensor):
    """The other way: 1 × heads × rows × d becomes rows × (heads · d)."""
    return tensor[0].transpose(0, 1).flatten(1)


def named(name, heads):
    """One matrix a head: `S_1`, `S_2` …, or `S` where there is one head."""
    return {name if len(heads) == 1 else f"{name}_{h}": matrix for h, matrix in enumerate(heads, 1)}


def steps(query, key, value, weights, scale=1.0, bias=None, cap=None, sees=None, sinks=None):
    """The scores on their way to the weights, by head, and O, the heads' outputs side by side.

    `weights` (1 × heads × T × N) are those that transformers gave; that these steps lead to them is checked.
    """
    groups = query.shape[1] // key.shape[1]
    query, key, value = query[0], key[0].repeat_interleave(groups, 0), value[0].repeat_interleave(groups, 0)
    scores = query @ key.mT
    nodes = named("S", scores)
    if scale != 1.0:
        scores = scores * scale
        nodes |= named("S_scaled", scores)
    if bias is not None:
        scores = scores + bias
        nodes |= named("S_biased", scores)
    if cap is not None:
        scores = cap * torch.tanh(scores / cap)
        nodes |= named("S_capped", scores)
    if sees is not None:
        scores = torch.where(sees, scores, -torch.inf)
        nodes |= named("S_masked", scores)
    if sinks is not None:
        scores = torch.cat([scores, sinks.view(-1, 1, 1).expand(-1, scores.shape[1], 1)], 2)
    expected = torch.softmax(scores, 2)
    same(expected if sinks is None else expected[:, :, :-1], weights[0])
    return nodes | named("A", weights[0]) | {"O": joined((weights[0] @ value)[None])}


def rows(value):
    """A matrix as lists: whole numbers, or 15 significant digits, −∞ as "-inf"; numbers and vectors become one row."""
    array = np.atleast_2d(np.asarray(value))
    if array.dtype.kind in "bi":
        return array.astype(int).tolist()
    return [["-inf" if x == -np.inf else float(f"{x:.15g}") for x in row] for row in array.tolist()]


def record(name, mechanism, parameters, given, outputs, source):
    """One line of mechanisms.json."""
    given, outputs = ({key: rows(value) for key, value in part.items()} for part in (given, outputs))
    return {
        "name": name, "mechanism": mechanism, "parameters": parameters, "inputs": given, "outputs": outputs, "source": source,
    }
