"""Writes the built-in transformer as ONNX, for a comparison with the graph that tamis-embed builds itself.

    python -m venv venv && venv/bin/pip install -r tools/models/requirements.txt onnx==1.23.2
    venv/bin/python tools/models/export_onnx.py DIRECTORY

DIRECTORY gets two models in the layout that `LocalModel` reads. `int8` holds the weights as they are in `models/`, with nodes that scale
them, which the runtime computes once on loading. `f32` holds them scaled. The weights lie beside the graph, in weights.data.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper
from safetensors.numpy import load

ROOT = pathlib.Path(__file__).parents[2]
LAYERS, HEADS, HIDDEN, EPSILON = 6, 12, 384, 1e-12


class Graph:
    """Nodes, constants and the bytes of the large ones."""

    def __init__(self):
        self.nodes, self.constants, self.data, self.count = [], [], bytearray(), 0

    def node(self, operator, inputs, **attributes):
        self.count += 1
        name = f"{operator}_{self.count}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def small(self, values, kind):
        self.count += 1
        values = np.asarray(values, dtype=kind)
        self.constants.append(onnx.numpy_helper.from_array(values, f"constant_{self.count}"))
        return self.constants[-1].name

    def large(self, values):
        self.count += 1
        values = np.ascontiguousarray(values)
        self.data.extend(b"\0" * (-len(self.data) % 64))
        tensor = TensorProto(name=f"weight_{self.count}", dims=values.shape, data_location=TensorProto.EXTERNAL)
        tensor.data_type = helper.np_dtype_to_tensor_dtype(values.dtype)
        places = {"location": "weights.data", "offset": len(self.data), "length": values.nbytes}
        for key, value in places.items():
            tensor.external_data.add(key=key, value=str(value))
        self.data.extend(values.tobytes())
        self.constants.append(tensor)
        return tensor.name


def export(weights, directory, scaled):
    graph = Graph()
    node, small, large = graph.node, graph.small, graph.large

    def linear(name, value):
        codes, scales = weights[f"{name}.weight_t"], weights[f"{name}.weight_scale"]
        inputs, outputs = codes.shape
        grouped = codes.reshape(len(scales), inputs // len(scales), outputs)
        if scaled:
            matrix = large((grouped.astype(np.float32) * scales[:, None]).reshape(inputs, outputs))
        else:
            matrix = node("Cast", [large(grouped)], to=TensorProto.FLOAT)
            matrix = node("Mul", [matrix, large(scales[:, None])])
            matrix = node("Reshape", [matrix, small([inputs, outputs], np.int64)])
        return node("Add", [node("MatMul", [value, matrix]), large(weights[f"{name}.bias"])])

    def norm(name, value):
        inputs = [value, large(weights[f"{name}.weight"]), large(weights[f"{name}.bias"])]
        return node("LayerNormalization", inputs, axis=-1, epsilon=EPSILON)

    def heads(value, order):
        split = node("Reshape", [value, small([0, 0, HEADS, HIDDEN // HEADS], np.int64)])
        return node("Transpose", [split], perm=order)

    name = "embeddings.word_embeddings.weight"
    codes, scales = weights[f"{name}_codes"], weights[f"{name}_scale"]
    if scaled:
        words = node("Gather", [large(codes.astype(np.float32) * scales[:, None]), "input_ids"])
    else:
        words = node("Cast", [node("Gather", [large(codes), "input_ids"])], to=TensorProto.FLOAT)
        words = node("Mul", [words, node("Gather", [large(scales[:, None]), "input_ids"])])
    types = weights["embeddings.token_type_embeddings.weight"]
    positions = large(weights["embeddings.position_embeddings.weight"] + types[0])
    zero = small([0], np.int64)
    positions = node("Slice", [positions, zero, node("Shape", ["input_ids"], start=1, end=2), zero])
    hidden = norm("embeddings.LayerNorm", node("Add", [words, positions]))

    mask = node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    mask = node("Unsqueeze", [mask, small([1, 2], np.int64)])
    bias = node("Mul", [node("Sub", [small(1, np.float32), mask]), small(-1e4, np.float32)])
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        part = f"{name}.attention.self"
        query = heads(linear(f"{part}.query", hidden), [0, 2, 1, 3])
        key = heads(linear(f"{part}.key", hidden), [0, 2, 3, 1])
        value = heads(linear(f"{part}.value", hidden), [0, 2, 1, 3])
        scores = node("Mul", [node("MatMul", [query, key]), small((HIDDEN // HEADS) ** -0.5, np.float32)])
        scores = node("Softmax", [node("Add", [scores, bias])], axis=-1)
        context = node("Transpose", [node("MatMul", [scores, value])], perm=[0, 2, 1, 3])
        context = node("Reshape", [context, small([0, 0, HIDDEN], np.int64)])
        context = linear(f"{name}.attention.output.dense", context)
        attended = norm(f"{name}.attention.output.LayerNorm", node("Add", [context, hidden]))
        inner = linear(f"{name}.intermediate.dense", attended)
        error = node("Erf", [node("Mul", [inner, small(0.5**0.5, np.float32)])])
        inner = node("Mul", [inner, node("Add", [error, small(1, np.float32)])])
        inner = node("Mul", [inner, small(0.5, np.float32)])
        output = linear(f"{name}.output.dense", inner)
        hidden = norm(f"{name}.output.LayerNorm", node("Add", [output, attended]))
    graph.nodes.append(helper.make_node("Identity", [hidden], ["last_hidden_state"], name="last"))

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ["input_ids", "attention_mask"]
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])
    made = helper.make_graph(graph.nodes, "minilm", inputs, [output], graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "model.onnx").write_bytes(model.SerializeToString())
    (directory / "weights.data").write_bytes(graph.data)
    (directory / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer()))


def tokenizer():
    vocabulary = (ROOT / "models/static/vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {token: number for number, token in enumerate(vocabulary)}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "decoder": None,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", vocabulary["[SEP]"]],
                           "cls": ["[CLS]", vocabulary["[CLS]"]]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    }


def main():
    parts = [ROOT / f"models/minilm-{part}/minilm-l6-v2-int8.safetensors.{part}" for part in (1, 2, 3)]
    weights = load(b"".join(part.read_bytes() for part in parts))
    for name, scaled in [("int8", False), ("f32", True)]:
        export(weights, pathlib.Path(sys.argv[1]) / name, scaled)


if __name__ == "__main__":
    main()
