"""Trains the judge on groups made by mine.py.

    python train.py CHECKPOINT TOKENIZER DATA OUTPUT --minutes 90 [--layers 0,1,2,3,4,5] [--resume STATE]

The loss is that of the right passage among its group (softmax), and of each passage by itself (so that the output is a log odds).
Writes OUTPUT/state.pt every few minutes, and the figures on held-out groups.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from model import Judge

QUERY_TOKENS, TOKENS = 48, 128


class Pairs:
    def __init__(self, tokenizer):
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.start, self.end = (self.tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))

    def encode(self, pairs, limit=TOKENS):
        queries = [e.ids[:QUERY_TOKENS] for e in self.tokenizer.encode_batch([q for q, _ in pairs], add_special_tokens=False)]
        texts = [e.ids for e in self.tokenizer.encode_batch([t[:2500] for _, t in pairs], add_special_tokens=False)]
        rows = [[self.start, *q, self.end, *t[: limit - 3 - len(q)], self.end] for q, t in zip(queries, texts)]
        width = max(map(len, rows))
        ids, types, mask = (torch.zeros(len(rows), width, dtype=torch.long) for _ in range(3))
        for at, (row, query) in enumerate(zip(rows, queries)):
            ids[at, : len(row)] = torch.tensor(row)
            types[at, len(query) + 2 : len(row)] = 1
            mask[at, : len(row)] = 1
        return ids, types, mask.float()


def loss_of(logits, labels, groups):
    """Softmax within each group with a right passage; cross-entropy of each passage."""
    alone = F.binary_cross_entropy_with_logits(logits, labels, weight=torch.where(labels > 0, 2.0, 1.0))
    among, start, count = 0.0, 0, 0
    for size in groups:
        if labels[start] > 0:
            among = among - F.log_softmax(logits[start : start + size], 0)[0]
            count += 1
        start += size
    return alone + 0.5 * among / max(count, 1)


def auroc(scores, labels):
    order = sorted(range(len(scores)), key=lambda at: scores[at])
    ranks = sum(place + 1 for place, at in enumerate(order) if labels[at])
    good = sum(labels)
    return (ranks - good * (good + 1) / 2) / max(1, good * (len(labels) - good))


@torch.no_grad()
def check(judge, pairs, groups):
    judge.eval()
    first, total, by_kind = 0, 0, {}
    answered, unanswered = [], []
    for group in groups:
        logits = judge(*pairs.encode([(group["query"], text) for text in group["texts"]])).tolist()
        if group["kind"] == "squad":
            answered.append(logits[0])
        if group["kind"] == "near":
            unanswered.append(logits[0])
            continue
        right = int(logits[0] == max(logits))
        first, total = first + right, total + 1
        seen = by_kind.setdefault(group["kind"], [0, 0])
        seen[0] += right
        seen[1] += 1
    judge.train()
    scores, labels = answered + unanswered, [1] * len(answered) + [0] * len(unanswered)
    kinds = {kind: round(a / b, 3) for kind, (a, b) in sorted(by_kind.items())}
    return {"right first": round(first / max(total, 1), 4), "answered over near": round(auroc(scores, labels), 4), **kinds}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--layers", default="0,1,2,3,4,5")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--check-minutes", type=float, default=12)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=150, help="steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", type=Path)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    draw = random.Random(arguments.seed)
    kept = [int(layer) for layer in arguments.layers.split(",")]
    judge = Judge.of_minilm(arguments.checkpoint, kept)
    if arguments.resume:
        judge.load_state_dict(torch.load(arguments.resume)["judge"])
    head = list(judge.classifier.parameters())
    rest = [p for name, p in judge.named_parameters() if p.requires_grad and not name.startswith("classifier")]
    optimizer = torch.optim.AdamW([{"params": rest}, {"params": head, "factor": 5.0}], lr=arguments.rate, weight_decay=0.01)
    read = lambda name: [json.loads(line) for line in open(arguments.data / name)]
    train, held = read("train.jsonl"), read("held.jsonl")
    random.Random(0).shuffle(held)
    near = [g for g in held if g["kind"] in ("near", "squad")][:400]
    held = [g for g in held if g["kind"] not in ("near", "squad")][:400] + near
    pairs = Pairs(arguments.tokenizer)
    arguments.output.mkdir(parents=True, exist_ok=True)

    if arguments.resume:
        print("before:", json.dumps(check(judge, pairs, held)), flush=True)
    start, last, step, seen, mean = time.time(), time.time(), 0, 0, None
    judge.train()
    done = False
    while not done:
        draw.shuffle(train)
        # Groups of like length go together, a hundred batches at a time.
        block = arguments.groups * 100
        for at in range(0, len(train), block):
            part = sorted(train[at : at + block], key=lambda g: sum(min(len(t), 600) for t in g["texts"]) + len(g["query"]))
            batches = [part[i : i + arguments.groups] for i in range(0, len(part), arguments.groups)]
            draw.shuffle(batches)
            for batch in batches:
                elapsed = (time.time() - start) / (60 * arguments.minutes)
                if elapsed >= 1:
                    done = True
                    break
                rate = arguments.rate * min(1.0, (step + 1) / arguments.warm_up) * max(0.02, 1 - elapsed)
                for group in optimizer.param_groups:
                    group["lr"] = rate * group.get("factor", 1.0)
                listed = [(group["query"], text) for group in batch for text in group["texts"]]
                labels = torch.tensor([float(at == 0 and group["label"]) for group in batch for at in range(len(group["texts"]))])
                logits = judge(*pairs.encode(listed))
                loss = loss_of(logits, labels, [len(group["texts"]) for group in batch])
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(rest + head, 1.0)
                optimizer.step()
                step, seen = step + 1, seen + len(listed)
                mean = loss.item() if mean is None else 0.99 * mean + 0.01 * loss.item()
                if step % 50 == 0:
                    print(f"{time.strftime('%H:%M:%S')} step {step}, {seen} pairs, {seen / (time.time() - start):.1f} a second, loss {mean:.4f}", flush=True)
                if time.time() - last > 60 * arguments.check_minutes:
                    last = time.time()
                    torch.save({"judge": judge.state_dict(), "layers": kept, "pairs": seen}, arguments.output / "state.pt")
                    print(json.dumps(check(judge, pairs, held)), flush=True)
            if done:
                break
    torch.save({"judge": judge.state_dict(), "layers": kept, "pairs": seen}, arguments.output / "state.pt")
    print(json.dumps(check(judge, pairs, held)), flush=True)


if __name__ == "__main__":
    main()
