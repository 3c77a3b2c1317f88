"""Dumps of right models as TransformerLens holds them: with its usual processing of weights, and under the names of its hooks.

    python lens.py

The processing is written here from its documentation (`fold_ln`, `center_writing_weights`, `center_unembed`,
`fold_value_biases`), and applied to the weights of models of `transformers`, which then run as they are. The script stops if the
processed model's logits, apart from their mean, are not those of the model as it was.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoConfig

from porting import ids_of, opened

HERE = Path(__file__).resolve().parent
OUT = HERE / "lens"


def processed_gpt2(model):
    """GPT-2, all four; the head is no longer the embedding. Returns its weight and its bias."""
    body = model.transformer
    head = body.wte.weight.clone()

    def fold(norm, linear):
        linear.bias += norm.bias @ linear.weight
        linear.weight *= norm.weight[:, None]
        norm.weight.fill_(1.0), norm.bias.zero_()

    for block in body.h:
        fold(block.ln_1, block.attn.c_attn)
        fold(block.ln_2, block.mlp.c_fc)
        width = block.attn.c_proj.weight.shape[0]
        values = block.attn.c_attn.bias[2 * width:]
        for linear in (block.attn.c_proj, block.mlp.c_proj):
            linear.weight -= linear.weight.mean(1, keepdim=True)
            linear.bias -= linear.bias.mean()
        block.attn.c_proj.bias += values @ block.attn.c_proj.weight
        values.zero_()
    bias = head @ body.ln_f.bias
    head *= body.ln_f.weight
    body.ln_f.weight.fill_(1.0), body.ln_f.bias.zero_()
    for embedding in (body.wte, body.wpe):
        embedding.weight -= embedding.weight.mean(1, keepdim=True)
    return head - head.mean(0), bias - bias.mean()


def processed_llama(model):
    """Llama: an RMS norm has no mean to take out, so the stream stays as it is."""
    body = model.model
    head = model.lm_head.weight.clone()
    for layer in body.layers:
        attention, mlp = layer.self_attn, layer.mlp
        for norm, linears in ((layer.input_layernorm, (attention.q_proj, attention.k_proj, attention.v_proj)),
                              (layer.post_attention_layernorm, (mlp.gate_proj, mlp.up_proj))):
            for linear in linears:
                linear.weight *= norm.weight
            norm.weight.fill_(1.0)
    head *= body.norm.weight
    body.norm.weight.fill_(1.0)
    return head - head.mean(0), torch.zeros(len(head))


def hooked(modules, run):
    """What passes through modules while something runs: {name: (module, which side, in how many heads)}."""
    found, handles = {}, []
    for name, (module, side, heads) in modules.items():
        def hook(module, args, kwargs, output, name=name, side=side, heads=heads):
            first = lambda value: value[0] if isinstance(value, tuple) else value
            given = args[0] if args else kwargs["hidden_states"]
            tensor = given if side == "in" else first(output)
            found[name] = tensor.unflatten(-1, (heads, -1)) if heads else tensor
        handles.append(module.register_forward_hook(hook, with_kwargs=True))
    output = run()
    for handle in handles:
        handle.remove()
    return found, output


def gpt2_modules(model):
    modules = {"ln_final.hook_normalized": (model.transformer.ln_f, "out", 0)}
    for i, block in enumerate(model.transformer.h):
        at, heads = f"blocks.{i}.", model.config.n_head
        modules |= {
            at + "hook_resid_pre": (block, "in", 0), at + "ln1.hook_normalized": (block.ln_1, "out", 0),
            at + "attn.qkv": (block.attn.c_attn, "out", 0), at + "attn.hook_z": (block.attn.c_proj, "in", heads),
            at + "hook_attn_out": (block.attn, "out", 0), at + "hook_resid_mid": (block.ln_2, "in", 0),
            at + "ln2.hook_normalized": (block.ln_2, "out", 0), at + "mlp.hook_pre": (block.mlp.c_fc, "out", 0),
            at + "mlp.hook_post": (block.mlp.c_proj, "in", 0), at + "hook_mlp_out": (block.mlp, "out", 0),
            at + "hook_resid_post": (block, "out", 0),
        }
    return modules


def llama_modules(model):
    config = model.config
    modules = {"ln_final.hook_normalized": (model.model.norm, "out", 0)}
    for i, layer in enumerate(model.model.layers):
        at, attention, mlp = f"blocks.{i}.", layer.self_attn, layer.mlp
        heads, groups = config.num_attention_heads, config.num_key_value_heads
        modules |= {
            at + "hook_resid_pre": (layer, "in", 0), at + "ln1.hook_normalized": (layer.input_layernorm, "out", 0),
            at + "attn.hook_q": (attention.q_proj, "out", heads), at + "attn.hook_k": (attention.k_proj, "out", groups),
            at + "attn.hook_v": (attention.v_proj, "out", groups), at + "attn.hook_z": (attention.o_proj, "in", heads),
            at + "hook_attn_out": (attention, "out", 0),
            at + "hook_resid_mid": (layer.post_attention_layernorm, "in", 0),
            at + "ln2.hook_normalized": (layer.post_attention_layernorm, "out", 0),
            at + "mlp.hook_pre": (mlp.gate_proj, "out", 0), at + "mlp.hook_pre_linear": (mlp.up_proj, "out", 0),
            at + "mlp.hook_post": (mlp.down_proj, "in", 0), at + "hook_mlp_out": (mlp, "out", 0),
            at + "hook_resid_post": (layer, "out", 0),
        }
    return modules


def dump(name, process, modules_of):
    config, ids = AutoConfig.from_pretrained(HERE / name), ids_of(name)
    run = lambda model: lambda: model(torch.tensor([ids]), output_attentions=True, use_cache=False)
    before = run(opened(name, config))().logits
    model = opened(name, config)
    head, bias = process(model)
    found, output = hooked(modules_of(model), run(model))
    for i, pattern in enumerate(output.attentions):
        found[f"blocks.{i}.attn.hook_pattern"] = pattern
    for key in [key for key in found if key.endswith("attn.qkv")]:
        for part, tensor in zip("qkv", found.pop(key).chunk(3, -1)):
            found[key.replace("qkv", f"hook_{part}")] = tensor.unflatten(-1, (config.n_head, -1))
    found["logits"] = found["ln_final.hook_normalized"] @ head.T + bias
    centred = before - before.mean(-1, keepdim=True)
    assert torch.allclose(found["logits"], centred, rtol=1e-4, atol=1e-5 * centred.abs().max().item()), name
    tensors = {key: tensor.detach().clone().contiguous() for key, tensor in sorted(found.items())}
    save_file(tensors, OUT / f"{name}.safetensors", metadata={"ids": ",".join(map(str, ids))})
    print(name, len(tensors), "tensors")


def main():
    OUT.mkdir(exist_ok=True)
    with torch.no_grad():
        dump("gpt2-a", processed_gpt2, gpt2_modules)
        dump("llama-b", processed_llama, llama_modules)


if __name__ == "__main__":
    main()
