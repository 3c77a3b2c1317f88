"""Latent attention, differential attention, linear attention and the delta rule: records for mechanisms.json."""

import torch
import torch.nn.functional as F
from transformers.models.diffllama.modeling_diffllama import lambda_init_fn
from transformers.models.qwen3_next.modeling_qwen3_next import torch_chunk_gated_delta_rule, torch_recurrent_gated_delta_rule

from mechanisms_common import doubles, inputs, joined, named, record, same, split
from mechanisms_layers import Layer, parts


def latent(name, seed, heads=2, q_rank=5, rank=4, d_n=3, d_r=4, d_v=2, interleave=True, **settings):
    """DeepSeek-V3's attention, expanded; then absorbed, which gives the same.

    The module writes rotated pairs half-split even where it reads them interleaved; the scores do not change.
    """
    layer = Layer(
        "deepseek_v3", "DeepseekV3", seed, hidden=6, heads=heads, kv_heads=heads, width=d_r, q_lora_rank=q_rank,
        kv_lora_rank=rank, qk_nope_head_dim=d_n, qk_rope_head_dim=d_r, v_head_dim=d_v, rope_interleave=interleave, **settings,
    )
    seen, module = layer.children, layer.module
    given = {"X": layer.X}
    if q_rank:
        given |= {"W_DQ": layer.weight("q_a_proj"), "g_Q": module.q_a_layernorm.weight, "W_UQ": layer.weight("q_b_proj")}
        outputs = {"c_Q": seen["q_a_layernorm"], "Q": seen["q_b_proj"]}
        same(outputs["c_Q"], F.rms_norm(layer.X @ given["W_DQ"], (q_rank,), given["g_Q"], 1e-6))
    else:
        given, outputs = given | {"W_Q": layer.weight("q_proj")}, {"Q": seen["q_proj"]}
    given |= {"W_DKV": layer.weight("kv_a_proj_with_mqa"), "g_KV": module.kv_a_layernorm.weight,
              "W_UKV": layer.weight("kv_b_proj"), "W_O": layer.weight("o_proj")}
    c_KV, k_R, turned = seen["kv_a_layernorm"], seen["kv_a_proj_with_mqa"][:, rank:], layer.key[0, 0, :, d_n:]
    for before, after in (split(outputs["Q"], heads)[..., d_n:], layer.query[..., d_n:]), (k_R[None, None], turned[None, None]):
        layer.check_rotation(torch.cat([before[..., 0::2], before[..., 1::2]], -1) if interleave else before, after)
    outputs |= {"c_KV": c_KV, "k_R": k_R, "k_R_rotated": turned}
    outputs |= {"V": joined(layer.value)} | layer.steps()
    outputs["C"] = outputs["O"]
    same(outputs["C"] @ given["W_O"], layer.result)

    # Absorbed: queries against the latent itself, the values' weights after the mixture.
    up = given["W_UKV"].reshape(rank, heads, d_n + d_v).transpose(0, 1)
    query, weights = layer.query[0], layer.weights[0]
    absorbed = query[:, :, :d_n] @ up[:, :, :d_n].mT
    scores = (absorbed @ c_KV.T + query[:, :, d_n:] @ turned.T) * module.scaling
    same(torch.softmax(torch.where(layer.sees, scores, -torch.inf), 2), weights)
    mixed = weights @ c_KV
    same(joined((mixed @ up[:, :, d_n:])[None]), outputs["C"])
    outputs |= named("Q_absorbed", absorbed) | named("mixed_latent", mixed) | {"O": layer.result}

    parameters = layer.parameters() | {
        "q_rank": q_rank, "kv_rank": rank, "d_nope": d_n, "d_rope": d_r, "d_v": d_v, "eps": 1e-6,
        "position": "rope-interleaved" if interleave else "rope",
    }
    return record(name, "latent", parameters, given, outputs, layer.source() + "; the absorbed form by hand")


def differential(name, seed, depth=0, **settings):
    """DiffLlama: heads h and h + H/2 are a pair, which shares the value heads g and g + G/2 side by side."""
    layer = Layer("diffllama", "DiffLlama", seed, hidden=6, depth=depth, rms_norm_eps=1e-5, **settings)
    module, given, outputs = layer.module, *parts(layer)
    pairs, values = layer.query.shape[1] // 2, split(outputs["V"], layer.config.num_key_value_heads)[0].chunk(2)
    vectors = {name: getattr(module, name) for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")}
    first, second = (torch.exp(vectors[f"lambda_q{i}"] @ vectors[f"lambda_k{i}"]) for i in (1, 2))
    initial = lambda_init_fn(depth)
    factor = first - second + initial

    weights = layer.weights[0]
    A = weights[:pairs] - factor * weights[pairs:]
    mixed = A @ torch.cat(values, 2).repeat_interleave(pairs // len(values[0]), 0)
    normed = (1 - initial) * F.rms_norm(mixed, mixed.shape[-1:], eps=1e-5)
    same(joined(normed[None]) @ given["W_O"], layer.result)

    outputs |= layer.steps() | {"lambda_init": initial, "lambda": factor} | {f"A_difference_{h}": a for h, a in enumerate(A, 1)}
    outputs |= {"C": joined(mixed[None]), "C_normed": joined(normed[None]), "O": layer.result}
    parameters = layer.parameters() | {"layer": depth + 1, "eps": 1e-5}
    return record(name, "differential", parameters, given | vectors, outputs, layer.source())


def initial_lambdas():
    outputs = {"lambda_init": torch.tensor([lambda_init_fn(depth) for depth in range(32)])}
    source = "lambda_init_fn of transformers.models.diffllama.modeling_diffllama, which counts layers from 0"
    return record("differential-lambda-init-of-32-layers", "differential", {"first_layer": 1}, {}, outputs, source)


def delta(name, seed, T, heads=1, key_heads=1, d_k=3, d_v=2, normed=True, gated=True, start=False, full=False, orthonormal=False):
    """The (gated) delta rule token by token and in chunks of three; states are d_k × d_v, read as q S.

    The functions of transformers take g as a logarithm, and divide q by √d_k after its norm.
    """
    draw = inputs(seed)
    Q, K, V = draw(T, key_heads * d_k), draw(T, key_heads * d_k), draw(T, heads * d_v)
    if orthonormal:
        K = torch.eye(d_k)[torch.randperm(d_k, generator=torch.Generator().manual_seed(seed))[:T]]
        Q = K * d_k**0.5
    a, b = draw(T, heads), draw(T, heads)
    A_log, dt_bias = draw(heads, spread=0.5), draw(heads, spread=0.5)
    g = -A_log.exp() * F.softplus(a + dt_bias) if gated else torch.zeros(T, heads)
    beta = torch.ones(T, heads) if full else b.sigmoid()
    state = draw(heads * d_k, d_v, spread=0.5) if start else None
    given = {"Q": Q, "K": K, "V": V} | ({"a": a, "A_log": A_log, "dt_bias": dt_bias} if gated else {})
    given |= ({} if full else {"b": b}) | ({"initial_state": state} if start else {})

    call = dict(
        query=Q.view(1, T, key_heads, d_k), key=K.view(1, T, key_heads, d_k), value=V.view(1, T, heads, d_v), g=g[None],
        beta=beta[None], use_qk_l2norm_in_kernel=normed, output_final_state=True,
        initial_state=state.view(1, heads, d_k, d_v) if start else None,
    )
    with doubles():
        result, final = torch_recurrent_gated_delta_rule(**call)
        in_chunks, final_in_chunks = torch_chunk_gated_delta_rule(**call, chunk_size=3)
        same(in_chunks, result), same(final_in_chunks, final)
        states = []
        for t in range(1 if heads == 1 else T, T + 1):
            part = call | {key: call[key][:, :t] for key in ("query", "key", "value", "g", "beta")}
            states.append(torch_recurrent_gated_delta_rule(**part)[1][0])
    outputs = {"g": g, "alpha": g.exp(), "beta": beta} if gated else {"beta": beta}
    outputs |= named("final_state", states[-1]) if heads > 1 else {f"state_{t}": one[0] for t, one in enumerate(states, 1)}
    outputs["O"] = result[0].flatten(1)
    if orthonormal:
        same(outputs["O"], V)
    parameters = {"heads": heads, "key_heads": key_heads, "d_k": d_k, "d_v": d_v, "l2_norm": normed, "scale": d_k**-0.5}
    source = "torch_recurrent_gated_delta_rule and torch_chunk_gated_delta_rule of transformers.models.qwen3_next, in float64"
    return record(name, "gated-delta-rule" if gated else "delta-rule", parameters, given, outputs, source)


def linear(name, seed, T, d_k, d_v):
    """Linear attention with φ = elu + 1, causal: by states token by token, and at once with masked scores."""
    draw = inputs(seed)
    Q, K, V = draw(T, d_k), draw(T, d_k), draw(T, d_v)
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    state, norm, rows, outputs = torch.zeros(d_k, d_v), torch.zeros(d_k), [], {"phi_Q": q, "phi_K": k}
    for t in range(T):
        state, norm = state + torch.outer(k[t], V[t]), norm + k[t]
        rows.append(q[t] @ state / (q[t] @ norm))
        outputs |= {f"state_{t + 1}": state, f"norm_{t + 1}": norm}
    scores = torch.tril(q @ k.T)
    weights = scores / scores.sum(1, keepdim=True)
    same(torch.stack(rows), weights @ V)
    outputs |= {"A": weights, "O": weights @ V}
    parameters = {"heads": 1, "causal": True, "feature_map": "elu + 1"}
    source = "arXiv:2006.16236, equations 8 to 12, with torch.nn.functional.elu"
    return record(name, "linear", parameters, {"Q": Q, "K": K, "V": V}, outputs, source)


def records():
    yield latent("latent-interleaved", 301, rope={"rope_theta": 100.0}, T=4, first=2)
    yield latent("latent-half-split", 302, interleave=False, rope={}, T=4)
    yield latent("latent-with-plain-queries", 303, q_rank=None, d_v=4, rope={"rope_theta": 500.0}, T=4)
    yarn = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0,
            "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}
    yield latent("latent-with-yarn-whose-scale-has-mscale-squared", 304, rope=yarn, T=4, first=20)
    yield initial_lambdas()
    yield differential("differential-one-pair-without-positions", 311, heads=2, kv_heads=2, T=4, width=2)
    yield differential("differential-grouped-in-layer-4-with-rope", 312, depth=3, T=4, heads=4, kv_heads=2, width=2, rope={})
    yield delta("delta-rule-gated", 321, 7)
    yield delta("delta-rule-gated-two-value-heads-a-key-head-from-a-state", 322, 5, heads=4, key_heads=2, start=True)
    yield delta("delta-rule-gated-without-norm", 323, 5, d_k=4, d_v=3, normed=False)
    yield delta("delta-rule-plain", 324, 6, gated=False)
    yield delta("delta-rule-plain-of-orthonormal-keys-gives-the-values", 325, 4, d_k=4, d_v=3, normed=False, gated=False,
                full=True, orthonormal=True)
    yield linear("linear-attention", 331, 6, 3, 2)
