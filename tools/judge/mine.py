"""Makes training groups for the judge: a query, the passage that answers it, and passages that do not.

    python mine.py PACKAGES SQUAD OUTPUT [--code DIRECTORY...] [--groups N]

PACKAGES holds one unpacked documentation package a directory. SQUAD is a directory with questions on paragraphs in BEIR's layout,
whose `metadata` says if a paragraph answers. Groups of a tenth of the packages and a third of the articles are held out.
"""

import argparse
import hashlib
import json
import random
import re
from pathlib import Path

import numpy
import scipy.sparse

from sections import clean, sections

STOP = set(
    "a an the of to in on for and or is are was were be been by with as at from that this these those it its if then than not no do does "
    "did how what which who when where why can could will would should may might must i you we they he she my your our their have has had "
    "there here also into about such so any all each other more most some only when while between".split()
)
WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{2,}|\d+")
SENTENCE = re.compile(r"(?<=[.!?]) +(?=[A-Z])")


def words(text):
    return [word.lower().rstrip("s") for word in WORD.findall(text)]


def english(text):
    found = re.findall(r"[a-z']+", text.lower())
    return len(found) < 12 or sum(word in STOP for word in found) > 0.2 * len(found)


def held_out(name):
    return name != "wordnet-base" and int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10 == 0


def window(text, draw, least=50, most=150):
    parts = text.split(" ") if "\n" not in text else None
    if parts is None:
        lines = text.split("\n")
        return "\n".join(lines[: draw.randint(15, 50)])
    size = draw.randint(least, most)
    start = draw.randint(0, max(0, min(len(parts) - size, 40))) if len(parts) > size and draw.random() < 0.3 else 0
    return " ".join(parts[start : start + size])


def keywords(text):
    kept = [word for word in re.findall(r"[\w.+#-]+", text) if word.lower() not in STOP]
    return " ".join(kept[:9]).lower()


def typo(text, draw):
    if len(text) < 12 or draw.random() > 0.04:
        return text
    at = draw.randrange(1, len(text) - 2)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


BARE = "get set use make find add remove create change run check read write open close install configure build start stop show list print".split()
QUESTIONS = [
    (re.compile(r"^(?:If you (?:want|need|wish) to|In order to|To) ([a-z]+ [^,.;:]{8,70}),"), ["how do I {}", "how to {}", "{}"]),
    (re.compile(r"^([A-Z][\w .-]{2,40}?) (?:is|are) (?:an?|the) [a-z]"), ["what is {}", "what does {} mean", "{}"]),
    (re.compile(r"^([A-Z][\w .-]{2,40}?) (?:is|are) used (?:to|for) "), ["what is {} used for", "what is {} for"]),
    (re.compile(r"^You can ([a-z]+ [^,.;:]{10,70}?) (?:by|with|using) "), ["how can I {}", "how do you {}"]),
    (re.compile(r"^([A-Z][^,.;:]{10,60}?) because "), ["why {}"]),
    (re.compile(r"^When ([a-z][^,.;:]{10,60}?),"), ["what happens when {}"]),
]


def questions(sentences, draw):
    for sentence in sentences:
        for pattern, forms in QUESTIONS:
            match = pattern.match(sentence)
            if match:
                what = match.group(1)
                what = what[0].lower() + what[1:] if not what[:2].isupper() else what
                mark = draw.choice(["", "", "?"])
                yield draw.choice(forms).format(what) + mark


def of_docs(section, draw):
    """Yields (query, passage) of a section."""
    title, heading, text = section.title, section.heading, section.text
    sentences = [part for part in SENTENCE.split(text) if 30 < len(part) < 300]
    forms = []
    asked = list(questions(sentences, draw))
    for query in asked[:2]:
        forms.append((query, text, "question"))
    name = re.sub(r"^[\d.]+ *", "", heading)
    if heading.rstrip().endswith("?"):
        forms.append((name, text, "question"))
    elif len(name.split()) >= 2:
        joined = f"{title} {name}" if title and draw.random() < 0.5 and title.lower() not in name.lower() else name
        shape = draw.random()
        if shape < 0.3:
            forms.append((joined, text, "heading"))
        elif shape < 0.6:
            forms.append((keywords(joined), text, "keywords"))
        elif name.split()[0].lower().rstrip("ing") in BARE or name.split()[0].endswith("ing"):
            verb = name.split()[0].lower()
            rest = " ".join(name.split()[1:])
            base = verb[:-3] if verb.endswith("ing") else verb
            forms.append((f"how to {base} {rest}", text, "question"))
    if len(sentences) >= 3 and draw.random() < 0.6:
        at = draw.randrange(len(sentences))
        rest = " ".join(sentences[:at] + sentences[at + 1 :])
        sentence = sentences[at]
        if draw.random() < 0.35:
            sentence = keywords(sentence)
        forms.append((sentence, rest if draw.random() < 0.85 else text, "sentence"))
    if len(sentences) >= 6 and draw.random() < 0.35:
        cut = draw.randint(2, 3)
        forms.append((" ".join(sentences[:cut]), " ".join(sentences[cut:]), "topic"))
    for query, passage, kind in forms:
        head = ""
        shape = draw.random()
        if kind in ("heading", "keywords"):
            head = title if shape < 0.5 else ""
            if shape > 0.75:
                head = heading
        elif shape < 0.6:
            head = f"{title} {heading}".strip() if draw.random() < 0.5 else title
        body = window(passage, draw)
        if len(body) > 50 and len(query) > 5:
            yield query, f"{head}\n{body}" if head else body, kind


def of_code(section, draw):
    doc = clean(section.heading.split("\n\n")[0])
    first = SENTENCE.split(doc)[0].rstrip(".")
    first = re.sub(r":\w+:|[`*\[\]]|\([^)]*\)", "", first).strip()
    if not 15 < len(first) < 160 or not re.search(r"[a-z]{3} [a-z]{2}", first) or not english(first):
        return
    code = section.text
    if draw.random() < 0.65:
        code = re.sub(r'[rR]?"""(.+?)"""\n?', "", code, count=1, flags=re.S)
        code = re.sub(r"^[ \t]*///[^\n]*\n", "", code, flags=re.M)
        code = re.sub(r"^/\*\*.*?\*/\n", "", code, count=1, flags=re.S)
    if len(code.strip()) < 40:
        return
    shape = draw.random()
    verb, _, rest = first.partition(" ")
    if shape < 0.45:
        query = first
    elif shape < 0.7:
        query = keywords(first)
        if draw.random() < 0.3:
            query = {".py": "python", ".rs": "rust"}.get(Path(section.page).suffix, "javascript") + " " + query
    else:
        base = verb.lower()
        base = base[:-1] if base.endswith("s") and not base.endswith("ss") else base
        base = {"return": draw.choice(["get", "return", "find"]), "create": draw.choice(["create", "make"])}.get(base, base)
        query = draw.choice(["how to {} {}", "how do I {} {}", "function that can {} {}", "{} {}", "where does it {} {}"]).format(base, rest)
    yield query, window(code.strip("\n"), draw), "code"


def of_gloss(section, draw):
    meaning = section.text.split(";")[0].strip("() ")
    if len(meaning) < 25:
        return
    word = section.heading
    if draw.random() < 0.6:
        yield draw.choice(["what is {}", "{}", "define {}", "meaning of {}"]).format(word), f"{word}: {section.text}", "gloss"
    else:
        yield meaning, f"{word}: {'; '.join(section.text.split(';')[1:])}" if ";" in section.text else word, "gloss"


class Bm25:
    """BM25 over all passages, to find those that look like an answer."""

    def __init__(self, texts, k1=1.2, b=0.75):
        ids, rows, columns, values = {}, [], [], []
        lengths = numpy.zeros(len(texts))
        for row, text in enumerate(texts):
            counts = {}
            for word in words(text):
                if word not in STOP:
                    counts[word] = counts.get(word, 0) + 1
            lengths[row] = sum(counts.values())
            for word, count in counts.items():
                columns.append(ids.setdefault(word, len(ids)))
                rows.append(row)
                values.append(count)
        self.ids = ids
        rows, columns, values = map(numpy.array, (rows, columns, values))
        norm = k1 * (1 - b + b * lengths / lengths.mean())
        frequency = numpy.bincount(columns, minlength=len(ids))
        idf = numpy.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        weights = idf[columns] * values * (k1 + 1) / (values + norm[rows])
        self.matrix = scipy.sparse.csr_matrix((weights.astype(numpy.float32), (columns, rows)), shape=(len(ids), len(texts)))

    def top(self, queries, count):
        for start in range(0, len(queries), 256):
            batch = queries[start : start + 256]
            rows, columns = [], []
            for row, query in enumerate(batch):
                for word in set(words(query)):
                    if word in self.ids:
                        rows.append(row)
                        columns.append(self.ids[word])
            asked = scipy.sparse.csr_matrix((numpy.ones(len(rows), numpy.float32), (rows, columns)), shape=(len(batch), len(self.ids)))
            scores = (asked @ self.matrix).toarray()
            best = numpy.argpartition(-scores, count, axis=1)[:, :count]
            for row in range(len(batch)):
                order = best[row][numpy.argsort(-scores[row][best[row]])]
                yield [int(at) for at in order if scores[row][at] > 0]


def alike(one, other):
    one, other = set(words(one)), set(words(other))
    return len(one & other) > 0.6 * max(1, min(len(one), len(other)))


def of_packages(directories, code, draw, most):
    """Yields (query, passage, kind, package, page)."""
    for directory in directories + code:
        for section in sections(directory, most=most):
            maker = {"code": of_code, "gloss": of_gloss}.get(section.kind, of_docs)
            if section.kind == "docs" and not english(section.text):
                continue
            for query, passage, kind in maker(section, draw):
                package = directory.name if directory not in code else f"code:{Path(section.page).relative_to(directory).parts[0]}"
                yield typo(query, draw), passage, kind, package, section.page


def of_squad(directory, draw):
    corpus = {}
    for line in open(directory / "corpus.jsonl"):
        document = json.loads(line)
        corpus[document["_id"]] = document
    for line in open(directory / "queries.jsonl"):
        query = json.loads(line)
        about = query["metadata"]
        document = corpus[about["context"]]
        head = document["title"] + "\n" if draw.random() < 0.6 else ""
        text = query["text"] if draw.random() < 0.7 else query["text"].lower().rstrip("?")
        kind = "squad" if about["answerable"] else "near"
        yield text, head + document["text"], kind, "squad:" + document["title"], about["context"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path)
    parser.add_argument("squad", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--code", type=Path, nargs="*", default=[])
    parser.add_argument("--most", type=int, default=900)
    parser.add_argument("--negatives", type=int, default=3)
    arguments = parser.parse_args()
    draw = random.Random(1)
    directories = sorted(path for path in arguments.packages.iterdir() if path.is_dir())
    pairs = list(of_packages(directories, [], draw, arguments.most))
    for directory in arguments.code:
        found = list(of_packages([], [directory], draw, 30_000))
        draw.shuffle(found)
        pairs += found[: arguments.most * 7]
    pairs += list(of_squad(arguments.squad, draw))
    print(len(pairs), "pairs", flush=True)
    texts = [pair[1] for pair in pairs]
    pages = {}
    for at, pair in enumerate(pairs):
        pages.setdefault(pair[4], []).append(at)
    order = list(range(len(pairs)))
    draw.shuffle(order)
    tops = Bm25(texts).top([pairs[at][0] for at in order], 40)
    counts = {}
    with open(arguments.output / "train.jsonl", "w") as train, open(arguments.output / "held.jsonl", "w") as held:
        for at, top in zip(order, tops):
            query, passage, kind, package, page = pairs[at]
            wrong = []

            def take(candidates, count):
                for other in candidates:
                    if count == 0:
                        return
                    text = texts[other]
                    same = pairs[other][4] == page and kind in ("squad", "near")
                    if same or any(alike(text, taken) for taken in wrong) or alike(text, passage) or alike(query, text) and kind not in ("squad", "near", "gloss"):
                        continue
                    if len(query) > 25 and query.lower() in text.lower():
                        continue
                    wrong.append(text)
                    count -= 1

            near = [other for other in pages[page] if other != at]
            draw.shuffle(near)
            hard = top[:25]
            if kind not in ("squad", "near"):
                take(near, 1 if draw.random() < 0.7 else 0)
            draw.shuffle(hard)
            take(hard, arguments.negatives - len(wrong) - (1 if draw.random() < 0.3 else 0))
            take(draw.sample(order, 5), arguments.negatives - len(wrong))
            group = {"query": query, "texts": [passage, *wrong], "label": int(kind != "near"), "kind": kind, "package": package}
            is_held = held_out(package) or package.startswith("squad:") and int(hashlib.sha256(package.encode()).hexdigest(), 16) % 3 == 0
            counts[kind, is_held] = counts.get((kind, is_held), 0) + 1
            (held if is_held else train).write(json.dumps(group) + "\n")
    for (kind, is_held), count in sorted(counts.items()):
        print(kind, "held out" if is_held else "to learn", count)


if __name__ == "__main__":
    main()
