"""Vectors of all-MiniLM-L6-v2 computed in plain NumPy from the published checkpoint, as an independent reference.

    python -m venv venv && venv/bin/pip install -r lab/models/requirements.txt
    venv/bin/python lab/models/reference_vectors.py DIRECTORY

DIRECTORY holds the model's `model.safetensors` and `tokenizer.json`. The texts are the lines of
crates/embed/tests/fixtures/multilingual.txt and, as one more, the whole file. The vectors are written as little endian
f32, 384 a text in the order of the texts, to crates/embed/tests/fixtures/minilm-reference.f32.
"""

import hashlib
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

CHECKPOINT = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FIXTURES = pathlib.Path(__file__).parents[2] / "crates/embed/tests/fixtures"
LAYERS, HEADS, WIDTH = 6, 12, 32

# Numerical Recipes' erfc has a relative error below 1.2e-7, which is that of f32.
ERFC = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
        0.17087277)


def erf(x):
    t = 1 / (1 + 0.5 * np.abs(x))
    return np.sign(x) * (1 - t * np.exp(-x * x + np.polynomial.polynomial.polyval(t, ERFC)))


class Model:
    def __init__(self, path):
        self.weights = {name: value.astype(np.float64) for name, value in load_file(path).items()}

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def vector(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x + w["embeddings.position_embeddings.weight"][: len(ids)], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."
            heads = lambda part: self.linear(x, f"{name}attention.self.{part}").reshape(-1, HEADS, WIDTH).swapaxes(0, 1)
            scores = heads("query") @ heads("key").swapaxes(1, 2) / np.sqrt(WIDTH)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            context = scores / scores.sum(-1, keepdims=True) @ heads("value")
            context = context.swapaxes(0, 1).reshape(len(ids), -1)
            x = self.norm(self.linear(context, name + "attention.output.dense") + x, name + "attention.output.LayerNorm")
            inner = self.linear(x, name + "intermediate.dense")
            inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
            x = self.norm(self.linear(inner, name + "output.dense") + x, name + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def main():
    directory = pathlib.Path(sys.argv[1])
    found = hashlib.sha256((directory / "model.safetensors").read_bytes()).hexdigest()
    assert found == CHECKPOINT, f"model.safetensors has SHA-256 {found}; expected {CHECKPOINT}"
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.no_padding()
    # Only line feeds separate: the fixture holds other characters that count as line ends elsewhere.
    whole = (FIXTURES / "multilingual.txt").read_bytes().decode("utf-8")
    texts = whole.removesuffix("\n").split("\n") + [whole]
    model = Model(directory / "model.safetensors")
    vectors = np.stack([model.vector(tokenizer.encode(text).ids) for text in texts]).astype("<f4")
    (FIXTURES / "minilm-reference.f32").write_bytes(vectors.tobytes())
    print(len(texts), "texts", hashlib.sha256(vectors.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
