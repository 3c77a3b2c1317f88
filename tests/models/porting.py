"""Dumps of models that were ported with one mistake each: `ports/MODEL-MISTAKE.safetensors`.

Each dump is made by `transformers` itself, with one change: another value in the configuration, another tensor, or another
function in place of its own. The model runs in f32, as a port does; the metadata of a dump has the ids of its text.

    python porting.py            # all, no network

with Python 3.11, torch 2.15.0, transformers 5.23.0 and safetensors 0.8.0.
"""

import copy
import importlib
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

HERE = Path(__file__).resolve().parent
OUT = HERE / "ports"
TOKENS = 8


def ids_of(name):
    return load_file(HERE / name / "expected.safetensors")["ids"].flatten()[:TOKENS].tolist()


def opened(name, config, dtype=torch.float32, widened=True):
    """The model in the dtype of its file, then in another; or read in the other at once."""
    kind = AutoModelForMaskedLM if config.model_type == "bert" else AutoModelForCausalLM
    first = getattr(config, "dtype", None) if widened else dtype
    model = kind.from_pretrained(HERE / name, config=config, dtype=first or dtype, attn_implementation="eager")
    return model.to(dtype).eval()


def layers_of(model):
    for path in ("transformer.h", "gpt_neox.layers", "model.layers", "bert.encoder.layer"):
        try:
            return path, list(model.get_submodule(path))
        except AttributeError:
            pass
    raise LookupError("no layers")


def attention_of(layer):
    for name in ("attn", "self_attn", "attention"):
        if hasattr(layer, name):
            return name, getattr(layer, name)
    raise LookupError("no attention")


# The mistakes that show in the logits alone, and some more.
WITH_LOGITS = ("head-tied", "logit-cap-missing", "bos-missing", "bos-surplus", "right")


def dump(model, ids, naming, mistake):
    """Patterns, inputs of the layers, and logits where they are needed, under names of one kind."""
    path, layers = layers_of(model)
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
    count = len(layers)
    is_bert = path.startswith("bert")
    found = {}
    for i in range(count):
        attention, _ = attention_of(layers[i])
        if naming == "outputs" or is_bert:
            found[f"attentions.{i}"] = out.attentions[i]
            found[f"hidden_states.{i}"] = out.hidden_states[i]
        elif naming == "lens":
            found[f"blocks.{i}.attn.hook_pattern"] = out.attentions[i]
            found[f"blocks.{i}.hook_resid_pre"] = out.hidden_states[i]
        else:
            found[f"model.{path}.{i}.{attention}.output.1"] = out.attentions[i]
            found[f"model.{path}.{i}.input"] = out.hidden_states[i]
    if naming == "lens":
        found["ln_final.hook_normalized"] = out.hidden_states[count]
    else:
        found[f"hidden_states.{count}"] = out.hidden_states[count]
    if mistake in WITH_LOGITS:
        found["logits"] = out.logits
    return {name: tensor.detach().clone().contiguous() for name, tensor in found.items()}


# Changes of the configuration.

def setting(**values):
    def change(config):
        for key, value in values.items():
            setattr(config, key, value)
    return change


def rope(**values):
    def change(config):
        rope = copy.deepcopy(config.rope_parameters)
        rope.update(values)
        config.rope_parameters = {key: value for key, value in rope.items() if value is not ...}
    return change


def rope_default(config):
    kept = {key: value for key, value in config.rope_parameters.items() if key in ("rope_theta", "partial_rotary_factor")}
    config.rope_parameters = kept | {"rope_type": "default"}


def swapped_factors(config):
    rope = config.rope_parameters
    config.rope_parameters = rope | {"short_factor": rope["long_factor"], "long_factor": rope["short_factor"]}


def types(kind):
    def change(config):
        config.layer_types = [kind] * config.num_hidden_layers
    return change


def other_types(config):
    other = {"full_attention": "sliding_attention", "sliding_attention": "full_attention"}
    config.layer_types = [other[kind] for kind in config.layer_types]


def window(more):
    def change(config):
        config.sliding_window += more
    return change


# Changes of the tensors and modules.

def transposed(model):
    for layer in model.transformer.h:
        layer.attn.c_proj.weight.data = layer.attn.c_proj.weight.data.T.contiguous()


def reshaped(model):
    for layer in model.transformer.h:
        for conv in (layer.attn.c_attn, layer.attn.c_proj, layer.mlp.c_fc, layer.mlp.c_proj):
            rows, cols = conv.weight.shape
            conv.weight.data = conv.weight.data.reshape(cols, rows).T.contiguous()


def by_head(model):
    """Three blocks, read as if they stood head by head."""
    for layer in model.transformer.h:
        conv, heads = layer.attn.c_attn, model.config.n_head
        for tensor in (conv.weight, conv.bias):
            split = tensor.data.reshape(*tensor.shape[:-1], heads, 3, -1)
            tensor.data = torch.cat([split[..., at, :].flatten(-2) for at in range(3)], -1).contiguous()


def by_blocks(model):
    """Head by head, read as if there were three blocks."""
    for layer in model.gpt_neox.layers:
        linear, heads = layer.attention.query_key_value, model.config.num_attention_heads
        for tensor in (linear.weight, linear.bias):
            split = tensor.data.reshape(3, heads, -1, *tensor.shape[1:])
            tensor.data = split.transpose(0, 1).reshape(tensor.shape).contiguous()


def without_bias(*names):
    def change(model):
        for name, parameter in model.named_parameters():
            if name.endswith(".bias") and any(part in name for part in names):
                parameter.data.zero_()
    return change


def gains_as_stored(model):
    for module in model.modules():
        if "RMSNorm" in type(module).__name__:
            module.weight.data -= 1.0


def exchanged_gate(model):
    for layer in model.model.layers:
        mlp = layer.mlp
        if hasattr(mlp, "gate_up_proj"):
            gate, up = mlp.gate_up_proj.weight.data.chunk(2, 0)
            mlp.gate_up_proj.weight.data = torch.cat([up, gate], 0)
        else:
            mlp.gate_proj, mlp.up_proj = mlp.up_proj, mlp.gate_proj


def tied(model):
    model.lm_head.weight.data = model.get_input_embeddings().weight.data.clone()


def scaling(value):
    def change(model):
        for layer in layers_of(model)[1]:
            attention_of(layer)[1].scaling = value(model.config)
    return change


def without_embedding_factor(model):
    found = 0
    for module in model.modules():
        if hasattr(module, "embed_scale"):
            module.embed_scale = torch.tensor(1.0)
            module.scalar_embed_scale = 1.0
            found += 1
    assert found


def without_magnitude(model):
    model.model.rotary_emb.attention_scaling = 1.0


def magnitude_twice(model):
    model.model.rotary_emb.attention_scaling **= 2


def norm_of_result(model):
    """The norms of BERT before the residual stream is added."""
    for layer in model.bert.encoder.layer:
        for part in (layer.attention.output, layer.output):
            part.forward = lambda x, residual, part=part: part.LayerNorm(part.dense(x)) + residual


def bert_pre_norm(model):
    """The norms of BERT before its sublayers."""
    for layer in model.bert.encoder.layer:
        attention, first, second = layer.attention.self, layer.attention.output, layer.output
        own = attention.forward
        attention.forward = lambda x, *a, own=own, first=first, **k: own(first.LayerNorm(x), *a, **k)
        first.forward = lambda x, residual, first=first: first.dense(x) + residual
        middle = layer.intermediate.forward
        layer.intermediate.forward = lambda x, middle=middle, second=second: middle(second.LayerNorm(x))
        second.forward = lambda x, residual, second=second: second.dense(x) + residual


def rope_of_full_layers(config):
    full = config.rope_parameters["full_attention"]
    config.rope_parameters = {kind: dict(full) for kind in config.rope_parameters}


def identity_norms(model):
    for layer in model.model.layers:
        layer.self_attn.q_norm = nn.Identity()
        layer.self_attn.k_norm = nn.Identity()


class WholeNorm(nn.Module):
    """The norm of all heads together, with the gains of one head."""

    def __init__(self, norm):
        super().__init__()
        self.norm, self.epsilon = norm, norm.variance_epsilon

    def forward(self, x):
        square = x.pow(2).mean((-2, -1), keepdim=True)
        return self.norm.weight * x * torch.rsqrt(square + self.epsilon)


class HeadNorm(nn.Module):
    """The norm of each head, with its part of the gains of all heads."""

    def __init__(self, norm, width):
        super().__init__()
        self.norm, self.width, self.epsilon = norm, width, norm.variance_epsilon

    def forward(self, x):
        heads = x.unflatten(-1, (-1, self.width))
        heads = heads * torch.rsqrt(heads.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return self.norm.weight * heads.flatten(-2)


def norms_in_another_width(model):
    for layer in model.model.layers:
        attention = layer.self_attn
        for name in ("q_norm", "k_norm"):
            norm = getattr(attention, name)
            whole = norm.weight.shape[0] == attention.head_dim
            setattr(attention, name, WholeNorm(norm) if whole else HeadNorm(norm, attention.head_dim))


class Rms(nn.Module):
    """An RMSNorm where the model has a LayerNorm."""

    def __init__(self, norm):
        super().__init__()
        self.weight, self.epsilon = norm.weight, norm.eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon)


def rms_norms(model):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.LayerNorm):
                setattr(module, name, Rms(child))


def layer_norms(model):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if "RMSNorm" in type(child).__name__:
                norm = nn.LayerNorm(child.weight.shape[0], eps=child.variance_epsilon, bias=False)
                norm.weight = child.weight
                setattr(module, name, norm)


def parallel(model):
    """Attention and MLP of a Llama, both from the input of the layer."""
    def forward(self, hidden_states, **kwargs):
        attended, _ = self.self_attn(hidden_states=self.input_layernorm(hidden_states), **kwargs)
        return hidden_states + attended + self.mlp(self.post_attention_layernorm(hidden_states))
    replace_forward(model, forward)


def post_norm(model):
    """The norms of a Llama after the sums."""
    def forward(self, hidden_states, **kwargs):
        attended, _ = self.self_attn(hidden_states=hidden_states, **kwargs)
        middle = self.input_layernorm(hidden_states + attended)
        return self.post_attention_layernorm(middle + self.mlp(middle))
    replace_forward(model, forward)


def pre_norm(model):
    """The norms of an OLMo 2 before their sublayers."""
    def forward(self, hidden_states, **kwargs):
        attended, _ = self.self_attn(hidden_states=self.post_attention_layernorm(hidden_states), **kwargs)
        middle = hidden_states + attended
        return middle + self.mlp(self.post_feedforward_layernorm(middle))
    replace_forward(model, forward)


def norm_of_sum(model):
    """The norms of an OLMo 2 after the sums."""
    def forward(self, hidden_states, **kwargs):
        attended, _ = self.self_attn(hidden_states=hidden_states, **kwargs)
        middle = self.post_attention_layernorm(hidden_states + attended)
        return self.post_feedforward_layernorm(middle + self.mlp(middle))
    replace_forward(model, forward)


def replace_forward(model, forward):
    for layer in model.model.layers:
        original = layer.forward
        layer.forward = lambda hidden_states, *args, layer=layer, **kwargs: forward(layer, hidden_states, **kwargs)
        assert original is not None


def on_up(model):
    """The function of the MLP on the way up."""
    for layer in model.model.layers:
        mlp = layer.mlp
        mlp.forward = lambda x, mlp=mlp: mlp.down_proj(mlp.gate_proj(x) * mlp.act_fn(mlp.up_proj(x)))


# Changes of functions of the family's module.

def half(cos):
    return cos[..., : cos.shape[-1] // 2].unsqueeze(1)


def interleaved(q, k, cos, sin, *args, **kwargs):
    def turned(x):
        width = cos.shape[-1]
        part, rest = x[..., :width], x[..., width:]
        a, b, c, s = part[..., 0::2], part[..., 1::2], half(cos), half(sin)
        return torch.cat([torch.stack([a * c - b * s, b * c + a * s], -1).flatten(-2), rest], -1)
    return turned(q), turned(k)


def rotated(x, cos, sin, minus=True):
    first, second = x.chunk(2, -1)
    other = torch.cat([-second if minus else second, first], -1)
    return x * cos.unsqueeze(1) + other * sin.unsqueeze(1)


def last_columns(q, k, cos, sin, *args, **kwargs):
    def turned(x):
        start = x.shape[-1] - cos.shape[-1]
        return torch.cat([x[..., :start], rotated(x[..., start:], cos, sin)], -1)
    return turned(q), turned(k)


def other_direction(q, k, cos, sin, *args, **kwargs):
    return rotated(q, cos, -sin), rotated(k, cos, -sin)


def no_minus(q, k, cos, sin, *args, **kwargs):
    return rotated(q, cos, sin, minus=False), rotated(k, cos, sin, minus=False)


def unrotated(q, k, cos, sin, *args, **kwargs):
    return q, k


def queries_only(q, k, cos, sin, *args, **kwargs):
    return rotated(q, cos, sin), k


def keys_only(q, k, cos, sin, *args, **kwargs):
    return q, rotated(k, cos, sin)


def tiled(x, n):
    return x.repeat(1, n, 1, 1)


def cap_after_mask(module, query, key, value, attention_mask, scaling=None, softcap=None, **kwargs):
    n = module.num_key_value_groups
    scores = query @ key.repeat_interleave(n, 1).transpose(2, 3) * scaling
    scores = softcap * torch.tanh((scores + attention_mask) / softcap)
    weights = torch.softmax(scores, -1)
    return (weights @ value.repeat_interleave(n, 1)).transpose(1, 2).contiguous(), weights


def cap_before_scale(module, query, key, value, attention_mask, scaling=None, softcap=None, **kwargs):
    n = module.num_key_value_groups
    scores = softcap * torch.tanh(query @ key.repeat_interleave(n, 1).transpose(2, 3) / softcap) * scaling
    weights = torch.softmax(scores + attention_mask, -1)
    return (weights @ value.repeat_interleave(n, 1)).transpose(1, 2).contiguous(), weights


def unmasked(module, query, key, value, attention_mask, scaling=None, **kwargs):
    n = getattr(module, "num_key_value_groups", 1)
    weights = torch.softmax(query @ key.repeat_interleave(n, 1).transpose(2, 3) * scaling, -1)
    return (weights @ value.repeat_interleave(n, 1)).transpose(1, 2).contiguous(), weights


def normed_after_rotation(model):
    """q_norm and k_norm of a Qwen 3 after the rotation, layer by layer."""
    family = importlib.import_module(type(model).__module__)
    original, norms = family.apply_rotary_pos_emb, []
    for layer in model.model.layers:
        norms.append((layer.self_attn.q_norm, layer.self_attn.k_norm))
    identity_norms(model)
    turn = iter(norms)

    def rotate(q, k, *args, **kwargs):
        q, k = original(q, k, *args, **kwargs)
        q_norm, k_norm = next(turn)
        return q_norm(q), k_norm(k)
    family.apply_rotary_pos_emb = rotate


def position_from_one(model):
    original = model.forward
    model.forward = lambda ids, **kwargs: original(ids, position_ids=torch.arange(1, ids.shape[1] + 1)[None], **kwargs)


# (model, mistake, change of the configuration, change of the model, functions, names, text)
CASES = [
    ("gpt2-a", "conv1d-not-transposed", None, transposed, {}, "lens"),
    ("gpt2-c", "conv1d-reshaped", None, reshaped, {}, "outputs"),
    ("gpt2-a", "qkv-by-head", None, by_head, {}, "nnsight"),
    ("neox-a", "qkv-by-blocks", None, by_blocks, {}, "outputs"),
    ("llama-b", "rope-interleaved", None, None, {"apply_rotary_pos_emb": interleaved}, "lens"),
    ("llama-b", "rope-direction", None, None, {"apply_rotary_pos_emb": other_direction}, "outputs"),
    ("llama-b", "rope-no-minus", None, None, {"apply_rotary_pos_emb": no_minus}, "outputs"),
    ("llama-c", "rope-queries-only", None, None, {"apply_rotary_pos_emb": queries_only}, "outputs"),
    ("llama-c", "rope-keys-only", None, None, {"apply_rotary_pos_emb": keys_only}, "nnsight"),
    ("llama-c", "rope-missing", None, None, {"apply_rotary_pos_emb": unrotated}, "lens"),
    ("neox-b", "rope-wrong-end", None, None, {"apply_rotary_pos_emb": last_columns}, "outputs"),
    ("neox-b", "rope-whole-head", rope(partial_rotary_factor=1.0), None, {}, "nnsight"),
    ("qwen2-b", "rope-base", rope(rope_theta=10000.0), None, {}, "outputs"),
    ("llama-b", "rope-scaling-ignored", rope_default, None, {}, "nnsight"),
    ("mistral-b", "rope-scaling-ignored", rope_default, None, {}, "outputs"),
    ("mistral-b", "rope-magnitude-missing", None, without_magnitude, {}, "outputs"),
    ("mistral-b", "rope-magnitude-twice", None, magnitude_twice, {}, "lens"),
    ("gemma3-a", "rope-of-one-kind-of-layer", rope_of_full_layers, None, {}, "outputs"),
    ("gemma2-b", "score-cap-before-scale", None, None, {"eager_attention_forward": cap_before_scale}, "outputs"),
    ("bert-a", "norm-of-result", None, norm_of_result, {}, "outputs"),
    ("bert-b", "norm-place", None, bert_pre_norm, {}, "outputs"),
    ("phi3-c", "longrope-other-divisors", swapped_factors, None, {}, "outputs"),
    ("smollm3-a", "rope-everywhere", setting(no_rope_layers=[1, 1, 1]), None, {}, "outputs"),
    ("smollm3-a", "rope-on-other-layers", setting(no_rope_layers=[0, 1, 0]), None, {}, "lens"),
    ("gpt2-a", "position-off-by-one", None, position_from_one, {}, "outputs"),
    ("llama-b", "kv-heads-tiled", None, None, {"repeat_kv": tiled}, "outputs"),
    ("qwen3-a", "qk-norm-missing", None, identity_norms, {}, "outputs"),
    ("qwen3-a", "qk-norm-after-rotation", None, normed_after_rotation, {}, "lens"),
    ("qwen3-a", "qk-norm-width", None, norms_in_another_width, {}, "nnsight"),
    ("olmo2-b", "qk-norm-width", None, norms_in_another_width, {}, "outputs"),
    ("llama-b", "scale-of-hidden", None, scaling(lambda c: c.hidden_size ** -0.5), {}, "outputs"),
    ("llama-b", "scale-of-hidden-per-head", None,
     scaling(lambda c: (c.hidden_size // c.num_attention_heads) ** -0.5), {}, "lens"),
    ("llama-d", "scale-missing", None, scaling(lambda c: 1.0), {}, "outputs"),
    ("gemma2-b", "query-pre-attn-scalar-ignored", None, scaling(lambda c: c.head_dim ** -0.5), {}, "outputs"),
    ("gemma2-b", "score-cap-missing", setting(attn_logit_softcapping=None), None, {}, "lens"),
    ("gemma2-b", "score-cap-after-mask", None, None, {"eager_attention_forward": cap_after_mask}, "outputs"),
    ("gemma2-a", "logit-cap-missing", setting(final_logit_softcapping=None), None, {}, "outputs"),
    ("gemma2-b", "one-plus-missing", None, gains_as_stored, {}, "nnsight"),
    ("gemma-b", "embedding-scale-missing", None, without_embedding_factor, {}, "outputs"),
    ("gemma2-b", "embedding-scale-not-rounded", None, None, {}, "lens"),
    ("gemma2-b", "window-one-more", window(1), None, {}, "outputs"),
    ("mistral-a", "window-one-less", window(-1), None, {}, "nnsight"),
    ("mistral-a", "window-missing", setting(sliding_window=None), None, {}, "outputs"),
    ("gemma2-b", "window-everywhere", types("sliding_attention"), None, {}, "outputs"),
    ("gemma2-b", "window-on-other-layers", other_types, None, {}, "lens"),
    ("gpt2-a", "rms-for-layer-norm", None, rms_norms, {}, "outputs"),
    ("llama-d", "layer-norm-for-rms", None, layer_norms, {}, "nnsight"),
    ("gpt2-b", "norm-bias-missing", None, without_bias("ln_"), {}, "outputs"),
    ("llama-b", "norm-epsilon", setting(rms_norm_eps=1e-6), None, {}, "outputs"),
    ("gpt2-a", "gelu-form", setting(activation_function="gelu"), None, {}, "outputs"),
    ("neox-a", "gelu-form", setting(hidden_act="gelu_new"), None, {}, "lens"),
    ("llama-a", "activation", setting(hidden_act="relu"), None, {}, "outputs"),
    ("phi3-a", "gate-and-up-exchanged", None, exchanged_gate, {}, "outputs"),
    ("llama-d", "gate-on-up", None, on_up, {}, "outputs"),
    ("llama-d", "residual-parallel", None, parallel, {}, "outputs"),
    ("neox-a", "residual-sequential", setting(use_parallel_residual=False), None, {}, "outputs"),
    ("llama-d", "norm-place", None, post_norm, {}, "lens"),
    ("olmo2-b", "norm-place", None, pre_norm, {}, "outputs"),
    ("olmo2-b", "norm-of-sum", None, norm_of_sum, {}, "outputs"),
    ("qwen2-b", "qkv-bias-missing", None, without_bias("q_proj", "k_proj", "v_proj"), {}, "lens"),
    ("llama-d", "causal-mask-missing", None, None, {"eager_attention_forward": unmasked}, "outputs"),
    ("qwen2-b", "head-tied", None, tied, {}, "outputs"),
    ("llama-d", "bos-missing", None, None, {}, "outputs"),
    ("gpt2-a", "bos-surplus", None, None, {}, "lens"),
    ("llama-b", "rope-interleaved-bf16", None, None, {"apply_rotary_pos_emb": interleaved}, "lens"),
    ("llama-b", "rope-base+qkv-bias-missing", rope(rope_theta=10000.0), without_bias("q_proj", "k_proj", "v_proj"), {}, "outputs"),
    ("gpt2-b", "gelu-form+conv1d-not-transposed", setting(activation_function="gelu_new"), transposed, {}, "outputs"),
    ("qwen3-b", "right-bf16", None, None, {}, "lens"),
    ("llama-b", "right", None, None, {}, "nnsight"),
]


def main(wanted):
    OUT.mkdir(exist_ok=True)
    total = 0
    for name, mistake, edit, change, functions, naming in CASES:
        if wanted and mistake not in wanted:
            continue
        config = AutoConfig.from_pretrained(HERE / name)
        if edit:
            edit(config)
        dtype = torch.bfloat16 if mistake.endswith("bf16") else torch.float32
        model = opened(name, config, dtype, widened=mistake != "embedding-scale-not-rounded")
        family = importlib.import_module(type(model).__module__)
        own = dict(vars(family))
        if change:
            change(model)
        for function, other in functions.items():
            assert function in own, (name, function)
            setattr(family, function, other)
        ids = ids_of(name)
        texts = {"bos-missing": ids[1:], "bos-surplus": [config.bos_token_id] + ids}
        found = dump(model, texts.get(mistake, ids), naming, mistake)
        for function in ("apply_rotary_pos_emb", "repeat_kv", "eager_attention_forward"):
            if function in own:
                setattr(family, function, own[function])
        if not mistake.startswith(("right", "bos")) and dtype == torch.float32:
            right = dump(opened(name, AutoConfig.from_pretrained(HERE / name)), ids, naming, mistake)
            assert any(not torch.allclose(found[key], right[key], rtol=1e-5, atol=1e-6) for key in found), (name, mistake)
        path = OUT / f"{name}-{mistake}.safetensors"
        save_file(found, path, metadata={"ids": ",".join(map(str, ids))})
        total += path.stat().st_size
    print(len(CASES), "dumps,", total, "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
