"""Whole attention layers of transformers with random weights: norms of queries and keys, gates, and the combinations that current
models use. Records for mechanisms.json.

Weights are written as ours, y = x W, each the transpose of what a Linear stores. `Layer` runs the module in float64, takes the
queries, keys and values from its call of the attention function, and checks the steps from there to its result.
"""

import contextlib
from functools import partial
from importlib import import_module
from unittest import mock

import torch
import torch.nn.functional as F
import transformers
from transformers import DynamicCache

from mechanisms_common import doubles, inputs, joined, record, same, split, steps, visible
from mechanisms_positions import by_definition


def fill(module, draw):
    """Gives every parameter random numbers: matrices that keep the scores moderate, norms around what they start with."""
    for name, parameter in module.named_parameters():
        start = float(parameter.flatten()[0]) if "norm" in name else 0.0
        parameter.data = draw(*parameter.shape, spread=0.6 if parameter.dim() == 2 else 0.3, about=start)


@contextlib.contextmanager
def watched(modeling, name):
    """Keeps the arguments and results of a function of a module of transformers while it is used."""
    calls, function = [], getattr(modeling, name)

    def spy(*arguments, **options):
        result = function(*arguments, **options)
        calls.append((arguments, options, result))
        return result

    with mock.patch.object(modeling, name, spy):
        yield calls


class Layer:
    """An attention layer of a model family, and what came out of it for a random X of T rows.

    `rope` has the base as `rope_theta` and a scaling; None turns nothing. The first token stands at position `first`.
    """

    def __init__(self, family, prefix, seed, T=5, hidden=8, heads=4, kv_heads=2, width=4, rope=None, first=0, window=None,
                 depth=0, **more):
        self.modeling = import_module(f"transformers.models.{family}.modeling_{family}")
        self.prefix, self.first, self.window, self.turns = prefix, first, window, rope is not None
        kind = "sliding_attention" if window else "full_attention"
        self.rope = {"rope_type": "default", "rope_theta": 10000.0, **(rope or {})}
        nested = prefix in ("Gemma3", "Step3p7")
        self.config = getattr(transformers, f"{prefix}TextConfig" if nested else f"{prefix}Config")(**dict(
            hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=width, sliding_window=window,
            num_hidden_layers=depth + 1, attention_dropout=0.0, attention_bias=False, layer_types=[kind] * (depth + 1),
            rope_parameters={kind: self.rope} if nested else self.rope,
        ) | more)
        self.config._attn_implementation = "eager"
        draw = inputs(seed)
        self.X, self.children = draw(T, hidden), {}
        self.sees, self.mask = visible(T, T, window)
        with doubles():
            self.module = getattr(self.modeling, f"{prefix}Attention")(self.config, depth).eval()
            fill(self.module, draw)
            for name, child in self.module.named_children():
                child.register_forward_hook(partial(self.keep, name))
            rotary = getattr(self.modeling, f"{prefix}RotaryEmbedding")(self.config)
            self.turn = rotary(self.X, first + torch.arange(T)[None], *([kind] if nested else []))
            self.frequencies = getattr(rotary, f"{kind}_inv_freq" if nested else "inv_freq")
            self.factor = torch.tensor(float(getattr(rotary, f"{kind}_attention_scaling" if nested else "attention_scaling")))
            if not self.turns:
                self.turn = torch.ones_like(self.turn[0]), torch.zeros_like(self.turn[1])
            with watched(self.modeling, "eager_attention_forward") as self.calls:
                self.result = self.module(self.X[None], position_embeddings=self.turn, attention_mask=self.mask)[0][0]
        (_, self.query, self.key, self.value, _), self.options, (_, self.weights) = self.calls[0]

    def keep(self, name, _module, _given, result):
        """Notes what a child gave when it was called first."""
        self.children.setdefault(name, result[0])

    def weight(self, name):
        return getattr(self.module, name).weight.T

    def gain(self, name):
        """What a norm multiplies by: its weight, or 1 more where the model stores it so."""
        norm = getattr(self.module, name)
        plus = 1.0 if self.prefix in ("Gemma3", "Qwen3Next", "Step3p7") else 0.0
        one = norm(torch.ones(norm.weight.shape)) * (1 + self.config.rms_norm_eps) ** 0.5
        same(one, plus + norm.weight, 1e-6)
        return plus + norm.weight

    def normed(self, name):
        """What a norm gave, rows × (heads · width)."""
        result = self.children[name]
        if self.prefix == "Gemma3":  # it normalises heads × rows × width, the others rows × heads × width
            result = result.transpose(0, 1)
        return result.flatten(1)

    def check_rotation(self, before, after):
        """Asserts that the rotation is the definition's, half-split; both are 1 × heads × rows × width."""
        same(by_definition(before, self.frequencies, self.factor, self.first, interleaved=False), after)

    def steps(self):
        """What was rotated, and of the scores only those that the softmax reads."""
        outputs = {"Q_rotated": joined(self.query), "K_rotated": joined(self.key)} if self.turns else {}
        cap, sinks = self.options.get("softcap"), self.options.get("s_aux")
        nodes = steps(
            self.query, self.key, self.value, self.weights, self.options["scaling"], cap=cap, sees=self.sees, sinks=sinks,
        )
        return outputs | {name: node for name, node in nodes.items() if name[0] != "S" or name.startswith("S_masked")}

    def parameters(self):
        config = self.config
        given = {"heads": config.num_attention_heads, "kv_heads": config.num_key_value_heads, "causal": True}
        given |= {"scale": self.options["scaling"]} | ({"window": self.window} if self.window else {})
        if self.turns:
            scaling = {key: x for key, x in self.rope.items() if key not in ("rope_theta", "partial_rotary_factor")}
            given |= {
                "position": "rope", "rope_base": self.rope["rope_theta"], "first_position": self.first,
                "rope_width": int(config.head_dim * self.rope.get("partial_rotary_factor", 1.0)),
                "rope_scaling": None if scaling["rope_type"] == "default" else scaling,
            }
        if self.options.get("softcap") is not None:
            given["softcap"] = self.options["softcap"]
        if hasattr(self.module, "q_norm"):
            given |= {"qk_norm": "whole width" if self.prefix == "Olmo2" else "per head", "eps": config.rms_norm_eps}
        return given

    def source(self):
        rotary = f" and {self.prefix}RotaryEmbedding" if self.turns else ""
        return f"{self.prefix}Attention{rotary} of {self.modeling.__name__}, in float64"


def parts(layer):
    """X and the weights; then Q, K and V before anything else happens to them, and normed ones."""
    given = {"X": layer.X} | {f"W_{n.upper()}": layer.weight(f"{n}_proj") for n in "qkvo"}
    if layer.prefix == "Qwen3Next":  # of every head first the query's columns, then the gate's
        both = given["W_Q"].reshape(len(given["W_Q"]), layer.config.num_attention_heads, -1)
        given["W_Q"], given["W_G"] = (W.flatten(1) for W in both.chunk(2, 2))
    outputs = {n: layer.X @ given[f"W_{n}"] for n in "QKV"}
    if hasattr(layer.module, "q_norm"):
        given |= {f"g_{n.upper()}": layer.gain(f"{n}_norm") for n in "qk"}
        outputs |= {f"{n.upper()}_normed": layer.normed(f"{n}_norm") for n in "qk"}
        for n in "QK":
            gain = given[f"g_{n}"]
            expected = F.rms_norm(outputs[n].view(-1, len(gain)), (len(gain),), gain, layer.config.rms_norm_eps)
            same(outputs[f"{n}_normed"], expected.view(len(layer.X), -1))
    if layer.turns:
        for n, after in ("Q", layer.query), ("K", layer.key):
            layer.check_rotation(split(outputs.get(f"{n}_normed", outputs[n]), after.shape[1]), after)
    if "s_aux" in layer.options:
        given["sinks"] = layer.options["s_aux"]
    return given, outputs


def stack(name, mechanism, family, prefix, seed, **settings):
    """A layer as it is: projections, norms, rotation, scores, weights, output."""
    layer = Layer(family, prefix, seed, **settings)
    given, outputs = parts(layer)
    outputs |= layer.steps()
    outputs["C"] = outputs["O"]
    same(outputs["C"] @ given["W_O"], layer.result)
    cache_gives_the_rows_of_the_full_run(layer)
    return record(name, mechanism, layer.parameters(), given, outputs | {"O": layer.result}, layer.source())


def cache_gives_the_rows_of_the_full_run(layer):
    """All but three tokens, one more, then two more with a DynamicCache: the rows are those of the run at once."""
    cache, done, found = DynamicCache(), 0, []
    for count in (len(layer.X) - 3, 1, 2):
        part = slice(done, done + count)
        turn = [x[:, part] for x in layer.turn]
        mask = layer.mask[:, :, part, : done + count]
        with doubles():
            rows, _ = layer.module(layer.X[None, part], position_embeddings=turn, attention_mask=mask, past_key_values=cache)
        found.append(rows[0])
        done += count
    same(torch.cat(found), layer.result)


def gated(name, family, prefix, seed, per_head, **settings):
    """The gate: the mixtures of the heads times sigmoid(X W_G), before W_O; W_G has a column a cell, or a head."""
    layer = Layer(family, prefix, seed, **settings)
    given, outputs = parts(layer)
    if per_head:
        given["W_G"] = layer.weight("g_proj")
    gate = torch.sigmoid(layer.X @ given["W_G"])
    outputs |= layer.steps()
    wide = gate.repeat_interleave(layer.config.head_dim, 1) if per_head else gate
    outputs |= {"gate": gate, "C": outputs["O"], "O_gated": outputs["O"] * wide}
    same(outputs["O_gated"] @ given["W_O"], layer.result)
    parameters = layer.parameters() | {"gate": "per head" if per_head else "per cell"}
    return record(name, "gate", parameters, given, outputs | {"O": layer.result}, layer.source())


def gate_alone(per_head, seed, T=4, heads=3, width=2):
    """Only the function, `attn_output * torch.sigmoid(gate)`."""
    draw = inputs(seed)
    O, logits = draw(T, heads * width), draw(T, heads if per_head else heads * width, spread=3.0)
    gate = torch.sigmoid(logits)
    outputs = {"gate": gate, "O_gated": O * (gate.repeat_interleave(width, 1) if per_head else gate)}
    name = "gate-alone-per-head" if per_head else "gate-alone-per-cell"
    parameters = {"heads": heads, "gate": "per head" if per_head else "per cell"}
    return record(name, "gate", parameters, {"O": O, "logits": logits}, outputs, "torch.sigmoid, as in Qwen3NextAttention")


def records():
    small = {"heads": 2, "kv_heads": 1, "hidden": 6}
    yield stack("qk-norm-per-head-without-positions", "qk-norm", "qwen3", "Qwen3", 201, T=4, **small)
    yield stack("qk-norm-of-olmo2-over-the-whole-width", "qk-norm", "olmo2", "Olmo2", 202, T=4, rope={"rope_theta": 500.0}, **small)
    yield stack("qk-norm-of-gemma3-whose-gain-is-1-more-than-stored", "qk-norm", "gemma3", "Gemma3", 203, T=4, window=2,
                rope={"rope_theta": 200.0}, query_pre_attn_scalar=10, **small)
    yield gate_alone(False, 221)
    yield gate_alone(True, 222)
    half = {"rope_theta": 1000.0, "partial_rotary_factor": 0.5}
    yield gated("gate-layer-of-qwen3-next-per-cell", "qwen3_next", "Qwen3Next", 223, False, T=4, rope=half, **small)
    yield gated("gate-layer-of-step3-per-head", "step3p7", "Step3p7", 224, True, T=4, rope={"rope_theta": 50.0}, first=2, **small)
    llama3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 64}
    yield stack("stack-like-llama-3", "stack", "llama", "Llama", 231, T=4, rope=llama3, first=40)
    yield stack("stack-like-gemma-2", "stack", "gemma2", "Gemma2", 232, rope={}, window=3, attn_logit_softcapping=1.5,
                query_pre_attn_scalar=6)
    yarn = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
            "original_max_position_embeddings": 4096}
    yield stack("stack-like-gpt-oss", "stack", "gpt_oss", "GptOss", 233, width=6, rope=yarn, window=3, first=3)
    yield stack("stack-like-qwen-3", "stack", "qwen3", "Qwen3", 234, T=4, rope={"rope_theta": 1e6})
