"""The judge: layers of all-MiniLM-L6-v2 and a linear layer, as a cross-encoder."""

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

HIDDEN, HEADS, INNER = 384, 12, 1536


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (torch.nn.Linear(HIDDEN, HIDDEN) for _ in range(3))
        self.attended, self.attended_norm = torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.LayerNorm(HIDDEN, 1e-12)
        self.inner, self.outer = torch.nn.Linear(HIDDEN, INNER), torch.nn.Linear(INNER, HIDDEN)
        self.norm = torch.nn.LayerNorm(HIDDEN, 1e-12)

    NAMES = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "attended": "attention.output.dense",
        "attended_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "norm": "output.LayerNorm",
    }

    def forward(self, x, mask, drop):
        split = lambda y: y.view(*y.shape[:2], HEADS, HIDDEN // HEADS).transpose(1, 2)
        attention = F.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)), mask)
        joined = attention.transpose(1, 2).reshape(x.shape)
        x = self.attended_norm(x + F.dropout(self.attended(joined), drop, self.training))
        return self.norm(x + F.dropout(self.outer(F.gelu(self.inner(x))), drop, self.training))


class Judge(torch.nn.Module):
    def __init__(self, layers, drop=0.1):
        super().__init__()
        self.words = torch.nn.Embedding(30522, HIDDEN)
        self.positions = torch.nn.Embedding(512, HIDDEN)
        self.types = torch.nn.Embedding(2, HIDDEN)
        self.norm = torch.nn.LayerNorm(HIDDEN, 1e-12)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(layers))
        self.classifier = torch.nn.Linear(2 * HIDDEN, 1)
        self.drop = drop
        # The word embeddings are those of the embedding model, whose file holds them.
        self.words.weight.requires_grad_(False)

    def forward(self, ids, types, mask):
        x = self.words(ids) + self.positions.weight[: ids.shape[1]] + self.types(types)
        x = F.dropout(self.norm(x), self.drop, self.training)
        attention = mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, attention, self.drop)
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return self.classifier(torch.cat([x[:, 0], mean], 1))[:, 0]

    def names(self):
        """Parameters by their names in a BERT checkpoint."""
        table = {
            "embeddings.word_embeddings.weight": self.words.weight,
            "embeddings.position_embeddings.weight": self.positions.weight,
            "embeddings.token_type_embeddings.weight": self.types.weight,
            "embeddings.LayerNorm.weight": self.norm.weight,
            "embeddings.LayerNorm.bias": self.norm.bias,
        }
        for at, layer in enumerate(self.layers):
            for own, theirs in Layer.NAMES.items():
                module = getattr(layer, own)
                table[f"encoder.layer.{at}.{theirs}.weight"] = module.weight
                table[f"encoder.layer.{at}.{theirs}.bias"] = module.bias
        return table

    @staticmethod
    def of_minilm(checkpoint, kept):
        """Starts from the given layers of the embedding model."""
        judge, weights = Judge(len(kept)), load_file(checkpoint)
        with torch.no_grad():
            for name, parameter in judge.names().items():
                if name.startswith("encoder.layer."):
                    at = int(name.split(".")[2])
                    name = name.replace(f"layer.{at}.", f"layer.{kept[at]}.")
                parameter.copy_(weights[name])
        return judge
