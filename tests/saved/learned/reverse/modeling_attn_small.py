"""A small transformer that attn trained. Vectors are rows, and every product is x @ W: rows in, columns out.

    import torch, transformers
    model = transformers.AutoModelForCausalLM.from_pretrained("FOLDER", trust_remote_code=True)
    logits = model(torch.tensor([[0, 1, 2]])).logits    # a row for each token, a column for each symbol
"""

import torch
from torch import nn
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput


class AttnSmallConfig(PretrainedConfig):
    model_type = "attn-small"

    def __init__(self, vocab_size=16, max_position_embeddings=24, hidden_size=16, num_hidden_layers=2,
                 num_attention_heads=1, intermediate_size=0, norm="none", rms_norm_eps=1e-5, mlp="none",
                 causal=True, **others):
        self.vocab_size = vocab_size
        self.max_position_embeddings = max_position_embeddings
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.norm = norm
        self.rms_norm_eps = rms_norm_eps
        self.mlp = mlp
        self.causal = causal
        others["use_cache"] = False
        super().__init__(**others)


def norm(x, config):
    """Each row divided by its root mean square; there are no learned gains."""
    if config.norm == "none":
        return x
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + config.rms_norm_eps)


def weights(rows, columns):
    return nn.Parameter(torch.zeros(rows, columns))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        d, inside = config.hidden_size, config.intermediate_size
        self.W_Q, self.W_K, self.W_V, self.W_O = (weights(d, d) for _ in range(4))
        if config.mlp == "relu":
            self.W_up, self.W_down = weights(d, inside), weights(inside, d)

    def attention(self, x):
        batch, tokens, d = x.shape
        heads = self.config.num_attention_heads
        split = lambda y: y.view(batch, tokens, heads, d // heads).transpose(1, 2)
        q, k, v = split(x @ self.W_Q), split(x @ self.W_K), split(x @ self.W_V)
        scores = q @ k.transpose(-1, -2) / (d // heads) ** 0.5
        if self.config.causal:
            later = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        mixed = scores.softmax(-1) @ v
        return mixed.transpose(1, 2).reshape(batch, tokens, d) @ self.W_O

    def forward(self, x):
        x = x + self.attention(norm(x, self.config))
        if self.config.mlp == "relu":
            x = x + torch.relu(norm(x, self.config) @ self.W_up) @ self.W_down
        return x


class AttnSmallForCausalLM(PreTrainedModel, GenerationMixin):
    config_class = AttnSmallConfig

    def __init__(self, config):
        super().__init__(config)
        d = config.hidden_size
        self.W_E = weights(config.vocab_size, d)
        self.W_P = weights(config.max_position_embeddings, d)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.W_U = weights(d, config.vocab_size)
        self.post_init()

    def forward(self, input_ids, **others):
        x = self.W_E[input_ids] + self.W_P[: input_ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return CausalLMOutput(logits=norm(x, self.config) @ self.W_U)

    def prepare_inputs_for_generation(self, input_ids, **others):
        return {"input_ids": input_ids[:, -self.config.max_position_embeddings :]}
