"""Runs a model of `transformers` twice and collects what the tests compare.

`as_shipped` runs the model in f64 as the library does it: rotary angles, RMS norms and the
softmax of most families fall back to f32 there. `exact` takes these fall-backs away: while it
runs, every request for f32 is answered with f64, the rotary modules are built anew in f64, and
any operation that still gives a narrower float is an error.
"""

import contextlib

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NARROW = (torch.float32, torch.float16, torch.bfloat16)


class WidenRequests(TorchFunctionMode):
    """Answers `.float()` and every `dtype=torch.float32` with f64."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.float:
            return args[0].double()
        widen = lambda value: torch.float64 if value is torch.float32 else value
        return function(*tree_map(widen, args), **tree_map(widen, kwargs or {}))


class RefuseNarrow(TorchDispatchMode):
    """Raises an error for an operation whose result is a float narrower than f64."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.dtype in NARROW:
                raise TypeError(f"{function} gives {leaf.dtype} in the exact run")
        return result


@contextlib.contextmanager
def everything_f64():
    """The exact run: see the head of this file."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with WidenRequests(), RefuseNarrow():
            yield
    finally:
        torch.set_default_dtype(before)


def as_shipped():
    """The run as the library does it."""
    return contextlib.nullcontext()


def new_rotary_modules(model):
    """Builds every rotary module anew: in the exact run its frequencies become f64, and the
    `dynamic` type forgets the longest text it has seen."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child).__name__.endswith("RotaryEmbedding"):
                setattr(parent, name, type(child)(child.config))


def plain_attention(model):
    """GPT-2's `reorder_and_upcast_attn` raises an error in f64 (transformers 5.23 insists that the
    scores stay f32): take the plain path, which is the same formula."""
    for module in model.modules():
        if hasattr(module, "reorder_and_upcast_attn"):
            module.reorder_and_upcast_attn = False


def layers_of(model):
    """The list of layers, whatever its family calls it."""
    for path in ("model.language_model.layers", "model.layers", "gpt_neox.layers", "transformer.h",
                 "bert.encoder.layer", "encoder.layer", "distilbert.transformer.layer"):
        place = model
        for step in path.split("."):
            place = getattr(place, step, None)
        if place is not None:
            return place
    raise AttributeError("no list of layers found")


def collect(model, ids):
    """One forward pass over `ids`: residual stream by hooks, patterns, logits where there is a head."""
    new_rotary_modules(model)
    layers, found, hooks = layers_of(model), {}, []

    def before(index):
        def hook(module, args, kwargs):
            found[f"residual.{index}"] = (args[0] if args else kwargs["hidden_states"])[0].clone()
        return hook

    def after(module, args, output):
        last = output[0] if isinstance(output, tuple) else output
        found[f"residual.{len(layers)}"] = last[0].clone()

    for index, layer in enumerate(layers):
        hooks.append(layer.register_forward_pre_hook(before(index), with_kwargs=True))
    hooks.append(layers[-1].register_forward_hook(after))
    output = model(input_ids=torch.tensor([ids]), output_attentions=True, use_cache=False)
    for hook in hooks:
        hook.remove()
    for index, pattern in enumerate(output.attentions):
        found[f"attentions.{index}"] = pattern[0]
    if getattr(output, "logits", None) is not None:
        found["logits"] = output.logits[0]
    return found


def run(model, ids, exact):
    """`collect` in one of the two ways, without gradients."""
    plain_attention(model)
    with torch.no_grad(), (everything_f64() if exact else as_shipped()):
        found = collect(model, ids)
    return {name: tensor.detach().double().contiguous() for name, tensor in sorted(found.items())}


def greedy(model, ids, count):
    """`count` most probable next tokens in the exact run, each from a full pass over the text so
    far (no cache), and the smallest lead of a winner over the second."""
    ids, lead = list(ids), float("inf")
    for _ in range(count):
        last = run(model, ids, exact=True)["logits"][-1]
        best = last.topk(2).values
        lead = min(lead, ((best[0] - best[1]) / last.abs().max()).item())
        ids.append(last.argmax().item())
    return ids[-count:], lead
