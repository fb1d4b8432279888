"""Makes models of a few kilobytes in the layouts of a model hub, and the vectors that NumPy computes with them.

The transformer is a BERT of one layer with random weights, as safetensors, as ONNX, and as ONNX with the word embeddings in 8 bits. The
tables are those of Model2Vec, plain and with a mapping and weights.

Usage: python3 lab/references/tiny_models.py OUT

Writes JSON: the transformer's config.json, the expected unit vectors by model, text and pooling, and the files in hexadecimal.
"""

import json
import math
import sys

import numpy as np
import onnx
import safetensors.numpy
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, INNER, POSITIONS = 8, 2, 16, 32
WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] : . query passage search represent dimension another a and at before for from in is it of on "
    "once that the to with heat oven degrees bake bread stone glacier moves metre day leaves rock violin tuned fifths rosin bow "
    "string ships wait outside harbour tide pilot apple trees orchard pruned winter buds open telescope gathers light mirror "
    "ledger entry debit credit how hot where do must be"
).split()
TEXTS = ["heat the oven to bake bread", "ships wait for the tide", "oven", "the violin bow and the string"]
RANDOM = np.random.default_rng(20)


def normal(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def tokenizer():
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": at, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
            for at, word in enumerate(WORDS[:5])
        ],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
            ],
            "special_tokens": {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in ["[CLS]", "[SEP]"]},
        },
        "decoder": None,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {word: at for at, word in enumerate(WORDS)},
        },
    }


def ids(text):
    words = text.replace(":", " : ").split()
    return [WORDS.index(word) if word in WORDS else WORDS.index("[UNK]") for word in words]


def weights():
    layer = "encoder.layer.0."
    tensors = {
        "embeddings.word_embeddings.weight": normal(len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": normal(POSITIONS, HIDDEN, scale=0.1),
        "embeddings.token_type_embeddings.weight": normal(2, HIDDEN, scale=0.1),
    }
    for name, outputs, inputs in [
        ("attention.self.query", HIDDEN, HIDDEN),
        ("attention.self.key", HIDDEN, HIDDEN),
        ("attention.self.value", HIDDEN, HIDDEN),
        ("attention.output.dense", HIDDEN, HIDDEN),
        ("intermediate.dense", INNER, HIDDEN),
        ("output.dense", HIDDEN, INNER),
    ]:
        tensors[f"{layer}{name}.weight"] = normal(outputs, inputs, scale=0.3)
        tensors[f"{layer}{name}.bias"] = normal(outputs, scale=0.1)
    for name in ["embeddings.LayerNorm", f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"]:
        tensors[f"{name}.weight"] = 1 + normal(HIDDEN, scale=0.1)
        tensors[f"{name}.bias"] = normal(HIDDEN, scale=0.1)
    return tensors


def hidden_states(tensors, tokens):
    """The last hidden states of one text, in double precision."""
    get = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    layer = "encoder.layer.0."

    def linear(x, name):
        return x @ get[f"{name}.weight"].T + get[f"{name}.bias"]

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * get[f"{name}.weight"] + get[f"{name}.bias"]

    count = len(tokens)
    x = get["embeddings.word_embeddings.weight"][tokens] + get["embeddings.position_embeddings.weight"][:count]
    x = norm(x + get["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    heads = lambda y: y.reshape(count, HEADS, HIDDEN // HEADS).transpose(1, 0, 2)
    query, key, value = [heads(linear(x, f"{layer}attention.self.{part}")) for part in ["query", "key", "value"]]
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(HIDDEN // HEADS)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (scores / scores.sum(-1, keepdims=True)) @ value
    mixed = mixed.transpose(1, 0, 2).reshape(count, HIDDEN)
    x = norm(x + linear(mixed, f"{layer}attention.output.dense"), f"{layer}attention.output.LayerNorm")
    inner = linear(x, f"{layer}intermediate.dense")
    inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    return norm(x + linear(inner, f"{layer}output.dense"), f"{layer}output.LayerNorm")


def unit(vector):
    return (vector / np.linalg.norm(vector)).tolist()


def pooled(tensors, text):
    states = hidden_states(tensors, [WORDS.index("[CLS]"), *ids(text), WORDS.index("[SEP]")])
    places = np.arange(1, len(states) + 1)[:, None]
    return {
        "mean": unit(states.mean(0)),
        "cls": unit(states[0]),
        "lasttoken": unit(states[-1]),
        "weightedmean": unit((states * places).sum(0)),
    }


class Graph:
    """An ONNX graph in the making."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name


def graph(tensors, eight_bits=False, classifier=False):
    new = Graph()
    layer = "encoder.layer.0."
    word = tensors["embeddings.word_embeddings.weight"]
    if eight_bits:
        scale = np.float32(np.abs(word).max() / 127)
        codes = new.constant(np.round(word / scale).astype(np.int8))
        table = new.add("DequantizeLinear", codes, new.constant(scale))
    else:
        table = new.constant(word)
    long = lambda *values: new.constant(np.array(values, dtype=np.int64))

    def linear(x, name):
        product = new.add("MatMul", x, new.constant(np.ascontiguousarray(tensors[f"{name}.weight"].T)))
        return new.add("Add", product, new.constant(tensors[f"{name}.bias"]))

    def norm(x, name):
        return new.add("LayerNormalization", x, new.constant(tensors[f"{name}.weight"]), new.constant(tensors[f"{name}.bias"]), axis=-1, epsilon=1e-12)

    def heads(x):
        return new.add("Transpose", new.add("Reshape", x, long(0, 0, HEADS, HIDDEN // HEADS)), perm=[0, 2, 1, 3])

    length = new.add("Gather", new.add("Shape", "input_ids"), long(1), axis=0)
    places = new.add("Slice", new.constant(tensors["embeddings.position_embeddings.weight"]), long(0), length, long(0))
    x = new.add("Add", new.add("Gather", table, "input_ids"), places)
    x = new.add("Add", x, new.add("Gather", new.constant(tensors["embeddings.token_type_embeddings.weight"]), "token_type_ids"))
    x = norm(x, "embeddings.LayerNorm")
    query, key, value = [heads(linear(x, f"{layer}attention.self.{part}")) for part in ["query", "key", "value"]]
    scores = new.add("MatMul", query, new.add("Transpose", key, perm=[0, 1, 3, 2]))
    scores = new.add("Mul", scores, new.constant(np.float32(1 / math.sqrt(HIDDEN // HEADS))))
    mask = new.add("Cast", new.add("Unsqueeze", "attention_mask", long(1, 2)), to=TensorProto.FLOAT)
    mask = new.add("Mul", new.add("Sub", new.constant(np.float32(1)), mask), new.constant(np.float32(-1e9)))
    mixed = new.add("MatMul", new.add("Softmax", new.add("Add", scores, mask), axis=-1), value)
    mixed = new.add("Reshape", new.add("Transpose", mixed, perm=[0, 2, 1, 3]), long(0, 0, HIDDEN))
    x = norm(new.add("Add", x, linear(mixed, f"{layer}attention.output.dense")), f"{layer}attention.output.LayerNorm")
    inner = linear(x, f"{layer}intermediate.dense")
    erf = new.add("Erf", new.add("Mul", inner, new.constant(np.float32(1 / math.sqrt(2)))))
    inner = new.add("Mul", new.add("Mul", inner, new.constant(np.float32(0.5))), new.add("Add", erf, new.constant(np.float32(1))))
    x = norm(new.add("Add", x, linear(inner, f"{layer}output.dense")), f"{layer}output.LayerNorm")
    output, shape = "last_hidden_state", ["batch", "tokens", HIDDEN]
    if classifier:
        first = new.add("Squeeze", new.add("Slice", x, long(0), long(1), long(1)), long(1))
        x = new.add("MatMul", first, new.constant(normal(HIDDEN, 1)))
        output, shape = "logits", ["batch", 1]
    new.nodes.append(helper.make_node("Identity", [x], [output]))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ["input_ids", "attention_mask", "token_type_ids"]
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    model = helper.make_model(
        helper.make_graph(new.nodes, "tiny", inputs, outputs, new.constants), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()


def tables():
    """Two tables of Model2Vec, and the mean vectors of the texts."""
    rows = normal(len(WORDS), 8)
    mapping = np.array([at % 40 for at in range(len(WORDS))], dtype=np.int64)
    factors = RANDOM.uniform(0.5, 2, len(WORDS)).astype(np.float32)
    plain = {text: unit(rows[ids(text)].astype(np.float64).mean(0)) for text in TEXTS}
    mapped = {
        text: unit((rows[mapping[ids(text)]] * factors[ids(text)][:, None]).astype(np.float64).mean(0)) for text in TEXTS
    }
    files = {
        "table.safetensors": safetensors.numpy.save({"embeddings": rows}),
        "mapped.safetensors": safetensors.numpy.save({"embeddings": rows[:40], "mapping": mapping, "weights": factors}),
    }
    return files, {"table": plain, "mapped": mapped}


def main():
    tensors = weights()
    files, vectors = tables()
    files |= {
        "tokenizer.json": json.dumps(tokenizer()).encode(),
        "bert.safetensors": safetensors.numpy.save(tensors),
        "bert.onnx": graph(tensors),
        "bert-int8.onnx": graph(tensors, eight_bits=True),
        "cross-encoder.onnx": graph(tensors, classifier=True),
    }
    prefixed = [f"{prefix}{text}" for prefix in ["query: ", "passage: "] for text in TEXTS[:2]]
    fixture = {
        "config": {
            "model_type": "bert", "architectures": ["BertModel"], "hidden_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": HEADS,
            "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
            "vocab_size": len(WORDS),
        },
        "vectors": vectors | {"bert": {text: pooled(tensors, text) for text in TEXTS + prefixed}},
        "files": {name: content.hex() for name, content in files.items()},
    }
    with open(sys.argv[1], "w") as out:
        json.dump(fixture, out, indent=0)
        out.write("\n")


main()
