"""Makes layers.json: one attention layer of each library, small, with random weights, and what it computes.

Run with: python tests/input/layers.py
Made with Python 3.11, PyTorch 2.15.0, transformers 5.24.0, Flax and Keras (the versions are in the file). Where the library's own
layer is a class of a tutorial, its lines stand here, as they do there. Each case has the names of the layer's `state_dict`, in its
own shapes, the tokens X, the options that say what the layer does, and O.
"""

import json
import math
import os
import pathlib

os.environ["KERAS_BACKEND"] = "torch"

import flax
import jax
import keras
import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional as F

jax.config.update("jax_enable_x64", True)
keras.backend.set_floatx("float64")
torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
random = np.random.default_rng(3)

T, E, H = 4, 4, 2
X = random.integers(-8, 9, (T, E)) / 4
x = torch.tensor(X)[None]
cases = []


def numbers(*shape):
    """Multiples of 1/8: exact in every type."""
    return random.integers(-8, 9, shape) / 8


def fill(module):
    """Other weights, and biases of 0."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            is_bias = name.endswith("bias") and "relative" not in name
            new = np.zeros(parameter.shape) if is_bias else numbers(*parameter.shape)
            parameter.copy_(torch.tensor(new))
    return module.eval()


def case(of, by, entries, o, options="", prefix=""):
    entries = {prefix + name: np.asarray(value, dtype=float) for name, value in entries.items()}
    cases.append({
        "of": of, "by": by, "options": f"--heads {H} {options}".strip(),
        "entries": {name: {"shape": list(a.shape), "values": a.ravel().tolist()} for name, a in entries.items()},
        "O": np.asarray(o).reshape(T, -1).tolist(),
    })


def of_module(of, by, module, o, **more):
    case(of, by, {name: value.detach().numpy() for name, value in module.state_dict().items()}, o.detach().numpy(), **more)


def split(a):
    """(1, T, H d) to (1, H, T, d)."""
    return a.view(1, T, H, -1).transpose(1, 2)


def attend(q, k, v, causal=False):
    """softmax(q kᵀ / √d) v of heads that stand in front, side by side again."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.triu(torch.ones(T, T), 1).bool(), -torch.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(1, T, -1)


# PyTorch.
mha = fill(nn.MultiheadAttention(E, H, batch_first=True))
of_module("PyTorch's MultiheadAttention", "torch", mha, mha(x, x, x)[0], prefix="layers.0.self_attn.")
w = {name: torch.tensor(numbers(E, E)) for name in ["q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"]}
o = F.multi_head_attention_forward(
    x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), E, H, None, None, None, None, False, 0.0, w["out_proj.weight"], None,
    use_separate_proj_weight=True, q_proj_weight=w["q_proj_weight"], k_proj_weight=w["k_proj_weight"], v_proj_weight=w["v_proj_weight"],
)[0]
case("PyTorch's MultiheadAttention", "torch", w, o)

# transformers. A rotation by 0 is none.
still = (torch.ones(1, T, E // H), torch.zeros(1, T, E // H))
config = transformers.LlamaConfig(hidden_size=E, num_attention_heads=H, num_key_value_heads=1)
from transformers.models.llama.modeling_llama import LlamaAttention
module = fill(LlamaAttention(config, 0))
of_module("Llama, Mistral, Qwen", "transformers", module, module(x, still, None)[0], options="--kv-heads 1", prefix="model.layers.0.self_attn.")
from transformers.models.bart.modeling_bart import BartAttention
module = fill(BartAttention(E, H, config=transformers.BartConfig(d_model=E)))
of_module("BART, OPT, CLIP, Whisper", "transformers", module, module(x)[0], prefix="model.encoder.layers.0.self_attn.")
from transformers.models.bert.modeling_bert import BertAttention
module = fill(BertAttention(transformers.BertConfig(hidden_size=E, num_attention_heads=H)))
of_module("BERT", "transformers", module, module.output.dense(module.self(x)[0]), prefix="bert.encoder.layer.0.attention.")
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
module = fill(GPT2Attention(transformers.GPT2Config(n_embd=E, n_head=H), layer_idx=0))
mask = torch.triu(torch.full((T, T), -torch.inf), 1)[None, None]
of_module("GPT-2 and nanoGPT", "transformers", module, module(x, attention_mask=mask)[0], options="--causal")
from transformers.models.t5.modeling_t5 import T5Attention
module = fill(T5Attention(transformers.T5Config(d_model=E, num_heads=H, d_kv=2), has_relative_attention_bias=True))
of_module("T5", "transformers", module, module(x)[0], options="--position t5 --scale none", prefix="encoder.block.0.layer.0.SelfAttention.")
cases[-1]["table"] = "relative_attention_bias"
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXAttention
module = fill(GPTNeoXAttention(transformers.GPTNeoXConfig(hidden_size=E, num_attention_heads=H), layer_idx=0))
module.head_size = E // H
of_module("GPT-NeoX and BLOOM", "transformers", module, module(x, mask, position_embeddings=still)[0], options="--causal", prefix="gpt_neox.layers.0.attention.")
from transformers.models.modernbert.modeling_modernbert import ModernBertAttention
module = fill(ModernBertAttention(transformers.ModernBertConfig(hidden_size=E, num_attention_heads=H, attention_bias=False), 0))
o = module(x, still, attention_mask=None)[0]
of_module("ModernBERT", "transformers", module, o)

# Flax, Keras.
layer = flax.linen.MultiHeadDotProductAttention(num_heads=H, qkv_features=E, param_dtype=float)
parameters = layer.init(jax.random.key(0), X[None])
parameters = jax.tree.map(lambda a: numbers(*a.shape) if a.ndim == 3 else np.zeros(a.shape), parameters)
flat = {"/".join(path): a for path, a in flax.traverse_util.flatten_dict(parameters["params"]).items()}
case("Flax", "flax", flat, layer.apply(parameters, X[None]), prefix="MultiHeadDotProductAttention_0/")
layer = keras.layers.MultiHeadAttention(H, E // H)
layer(x, x)
layer.set_weights([numbers(*w.shape) if "kernel" in w.path else np.zeros(w.shape) for w in layer.weights])
case("Keras", "keras", {w.path: w.numpy() for w in layer.weights}, layer(x, x).detach().numpy())


# Classes of tutorials, as they stand there.
def linears(*names, out=E, into=E):
    return fill(nn.ModuleDict({name: nn.Linear(into, out, bias=False) for name in names}))


def plain(of, by, names, causal=False, wrapped=None, more={}, **rest):
    """Four layers: (batch, tokens, heads · d) split by view and transpose, and joined again, as these classes do."""
    m = linears(*names)
    q, k, v, out = (m[name] for name in names)
    entries = {f"{wrapped or ''}{name}.weight": m[name].weight.detach().numpy() for name in names}
    case(of, by, {**entries, **more}, out(attend(split(q(x)), split(k(x)), split(v(x)), causal)).detach().numpy(), options="--causal" if causal else "", **rest)


future = np.triu(np.ones((8, 8)), 1)
plain("LLMs-from-scratch", "ch03, MultiHeadAttention", ["W_query", "W_key", "W_value", "out_proj"], causal=True, more={"mask": future})
plain("LLMs-from-scratch", "ch04, TransformerBlock", ["W_query", "W_key", "W_value", "out_proj"], causal=True, more={"mask": future}, prefix="trf_blocks.0.att.")
W = [torch.tensor(numbers(E, E)) for _ in range(3)]
o = attend(split(x @ W[0]), split(x @ W[1]), split(x @ W[2]))
case("LLMs-from-scratch, as parameters", "ch03, SelfAttention_v1: x @ self.W_query", dict(zip(["W_query", "W_key", "W_value"], W)), o)
plain("minGPT", "mingpt/model.py of 2020", ["query", "key", "value", "proj"], causal=True, more={"mask": np.tril(np.ones((1, 1, 8, 8)))}, prefix="blocks.0.attn.")
plain("Meta's Llama", "llama/model.py, without its rotation", ["wq", "wk", "wv", "wo"], prefix="layers.0.attention.")
plain("d2l.ai", "MultiHeadAttention, chapter 11", ["W_q", "W_k", "W_v", "W_o"], prefix="attention.")
# As its checkpoints on the hub have it; transformers 5 renames them on reading.
m = linears("query", "key", "value", "dense")
entries = {f"attention.{name}.weight": m[name].weight.detach() for name in ["query", "key", "value"]} | {"output.dense.weight": m["dense"].weight.detach()}
o = m["dense"](attend(split(m["query"](x)), split(m["key"](x)), split(m["value"](x)))).detach()
case("ViT in transformers", "modeling_vit.py of transformers 4", entries, o, prefix="vit.encoder.layer.0.attention.")
# timm: self.qkv(x).reshape(B, N, 3, heads, d).permute(2, 0, 3, 1, 4).unbind(0), then self.proj.
m = fill(nn.ModuleDict({"qkv": nn.Linear(E, 3 * E), "proj": nn.Linear(E, E)}))
q, k, v = m["qkv"](x).reshape(1, T, 3, H, E // H).permute(2, 0, 3, 1, 4).unbind(0)
of_module("timm", "timm/layers/attention.py", m, m["proj"](attend(q, k, v)), prefix="blocks.0.attn.")
plain("hyunwoongko/transformer", "multi_head_attention.py", ["w_q", "w_k", "w_v", "w_concat"], prefix="encoder.layers.0.attention.")
plain("bentrevett/pytorch-seq2seq", "tutorial 6", ["fc_q", "fc_k", "fc_v", "fc_o"], prefix="encoder.layers.0.self_attention.")
plain("the Annotated Transformer", "MultiHeadedAttention, clones(nn.Linear, 4)", ["0", "1", "2", "3"], wrapped="linears.", prefix="encoder.layers.0.self_attn.")
m = linears("to_q", "to_k", "to_v", "out")
entries = {f"{name}.weight": m[name].weight for name in ["to_q", "to_k", "to_v"]} | {"to_out.0.weight": m["out"].weight}
o = m["out"](attend(split(m["to_q"](x)), split(m["to_k"](x)), split(m["to_v"](x))))
case("diffusers and vit-pytorch", "diffusers, Attention", {n: a.detach() for n, a in entries.items()}, o.detach(), prefix="attn1.")
# vit-pytorch: self.to_qkv(x).chunk(3, dim = -1), and where keys have their own input self.to_kv(x).chunk(2, dim = -1).
inner = 6
to_qkv, to_kv, to_q, out = (fill(nn.Linear(*sides, bias=False)) for sides in [(E, 3 * inner), (E, 2 * inner), (E, inner), (inner, E)])
q, k, v = to_qkv(x).chunk(3, dim=-1)
case("diffusers and vit-pytorch", "vit_pytorch/vit.py", {"to_qkv.weight": to_qkv.weight.detach(), "to_out.0.weight": out.weight.detach()}, out(attend(split(q), split(k), split(v))).detach(), prefix="transformer.layers.0.0.")
k, v = to_kv(x).chunk(2, dim=-1)
case("diffusers and vit-pytorch", "vit_pytorch/cait.py", {"to_q.weight": to_q.weight.detach(), "to_kv.weight": to_kv.weight.detach(), "to_out.weight": out.weight.detach()}, out(attend(split(to_q(x)), split(k), split(v))).detach())
# nanoGPT: self.c_attn = nn.Linear(n_embd, 3 * n_embd), split(n_embd, dim=2), with its buffer.
m = fill(nn.ModuleDict({"c_attn": nn.Linear(E, 3 * E), "c_proj": nn.Linear(E, E)}))
q, k, v = m["c_attn"](x).split(E, dim=2)
entries = {name: a.detach() for name, a in m.state_dict().items()} | {"bias": np.tril(np.ones((1, 1, 8, 8)))}
for prefix in ["", "transformer.h.0.attn."]:
    case("GPT-2 and nanoGPT", "nanoGPT/model.py", entries, m["c_proj"](attend(split(q), split(k), split(v), True)).detach(), options="--causal", prefix=prefix)
# TransformerLens: einsum of "pos d_model, head d_model d_head" and of "pos head d_head, head d_head d_model".
d = 3
W = {"W_Q": numbers(H, E, d), "W_K": numbers(H, E, d), "W_V": numbers(H, E, d), "W_O": numbers(H, d, E)}
q, k, v = (torch.tensor(np.einsum("pm,hmd->hpd", X, W[name]))[None] for name in ["W_Q", "W_K", "W_V"])
z = attend(q, k, v, True).view(T, H, d).numpy()
o = np.einsum("phd,hdm->pm", z, W["W_O"])
biases = {"b_Q": np.zeros((H, d)), "b_K": np.zeros((H, d)), "b_V": np.zeros((H, d)), "b_O": np.zeros(E)}
buffers = {"mask": np.tril(np.ones((8, 8))), "IGNORE": np.array(-1e30)}
case("TransformerLens", "components/abstract_attention.py", W | biases | buffers, o, options="--causal", prefix="blocks.0.attn.")
case("TransformerLens", "the same by itself", W | biases, o, options="--causal")
W2 = {"_W_K": W["W_K"][:1], "_W_V": W["W_V"][:1], "W_Q": W["W_Q"], "W_O": W["W_O"]}
o = np.einsum("phd,hdm->pm", attend(q, k[:, [0, 0]], v[:, [0, 0]], True).view(T, H, d).numpy(), W["W_O"])
case("TransformerLens", "components/grouped_query_attention.py", W2, o, options="--causal", prefix="blocks.0.attn.")

versions = {module.__name__: module.__version__ for module in [np, torch, transformers, jax, flax, keras]}
file = pathlib.Path(__file__).with_suffix(".json")
file.write_text(json.dumps({"versions": versions, "X": X.tolist(), "cases": cases}) + "\n")
print(file, file.stat().st_size, len(cases), versions)
