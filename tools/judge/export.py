"""Writes a trained judge for `cargo xtask distill judge`, with its calibration, and pairs with their log odds for the tests.

    python export.py STATE TOKENIZER OUTPUT

The calibration is what the log odds add to those of the scores: the slope of a logistic regression of relevance on the output and the
normalized score of the first 16 entries of a search (Platt 1999), over families left out (`evaluate.py report`), and the offset at which an
average entry is left as it is. A regression on held-out groups alone gives 0.70, more than twice as much: their wrong passages are easier than those
that a search returns.
"""

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from model import Judge
from train import Pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--slope", type=float, default=0.30)
    parser.add_argument("--offset", type=float, default=0.35)
    arguments = parser.parse_args()
    state = torch.load(arguments.state)
    judge = Judge(len(state["layers"]))
    judge.load_state_dict(state["judge"])
    judge.eval()
    pairs = Pairs(arguments.tokenizer)
    slope, offset = arguments.slope, arguments.offset
    written = []
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
