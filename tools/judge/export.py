"""Writes a trained judge for `cargo xtask distill judge`, with its calibration, and pairs with their log odds for the tests.

    python export.py STATE TOKENIZER DATA OUTPUT

The calibration is a logistic regression of relevance on the output (Platt 1999), on held-out groups in which right and wrong passages
weigh the same, so that 0 says nothing.
"""

import argparse
import json
import random
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file

from model import Judge
from train import Pairs


def calibrate(logits, labels):
    """Slope and offset by Newton's method, with both classes weighing the same."""
    x = numpy.stack([logits, numpy.ones_like(logits)], 1)
    weight = numpy.where(labels > 0, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    beta = numpy.array([1.0, 0.0])
    for _ in range(50):
        p = 1 / (1 + numpy.exp(-x @ beta))
        gradient = x.T @ (weight * (labels - p))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x
        beta = beta + numpy.linalg.solve(hessian + 1e-6 * numpy.eye(2), gradient)
    return beta


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--groups", type=int, default=600)
    arguments = parser.parse_args()
    state = torch.load(arguments.state)
    judge = Judge(len(state["layers"]))
    judge.load_state_dict(state["judge"])
    judge.eval()
    pairs = Pairs(arguments.tokenizer)
    groups = [json.loads(line) for line in open(arguments.data / "held.jsonl")]
    random.Random(0).shuffle(groups)
    logits, labels, written = [], [], []
    with torch.no_grad():
        for group in groups[: arguments.groups]:
            listed = [(group["query"], text) for text in group["texts"]]
            found = judge(*pairs.encode(listed)).tolist()
            logits += found
            labels += [float(at == 0 and group["label"]) for at in range(len(found))]
    slope, offset = calibrate(numpy.array(logits), numpy.array(labels))
    # Invented here, so that the tests hold no text of others.
    queries = ["how hot must the oven be", "retry a failed request", "what is a lighthouse for", "parse a date from a string"]
    texts = [
        "Ovens\nHeat the oven to 220 degrees before baking bread.",
        "def retry(call, times):\n    for _ in range(times):\n        try:\n            return call()\n        except IOError:\n            pass\n",
        "A lighthouse warns ships of rocks and shows them the way into the harbour. Its lens turns once in ten seconds.",
        "pub fn parse_date(text: &str) -> Option<Date> {\n    let mut parts = text.split('-');\n    Date::of(parts.next()?, parts.next()?, parts.next()?)\n}",
        "Ships wait for the tide.",
    ]
    with torch.no_grad():
        for query in queries:
            for text in texts:
                logit = judge(*pairs.encode([(query, text)])).item()
                written.append({"query": query, "passage": text, "log_odds": round(slope * logit + offset, 4)})
    weights = {name: value.detach().contiguous() for name, value in judge.names().items() if "word_embeddings" not in name}
    weights["classifier.weight"] = judge.classifier.weight.detach()
    weights["classifier.bias"] = judge.classifier.bias.detach()
    weights["calibration.slope"] = torch.tensor([slope], dtype=torch.float32)
    weights["calibration.offset"] = torch.tensor([offset], dtype=torch.float32)
    arguments.output.mkdir(parents=True, exist_ok=True)
    save_file(weights, arguments.output / "judge.safetensors")
    (arguments.output / "reference.json").write_text(json.dumps(written, indent=1) + "\n")
    print(f"slope {slope:.3f}, offset {offset:.3f}, {len(judge.layers)} layers, {state['pairs']} pairs")


if __name__ == "__main__":
    main()
