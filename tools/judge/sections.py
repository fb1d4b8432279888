"""Reads documentation as sections: (package, page, title, heading, text).

HTML pages, manual pages, POD, reStructuredText, DICT files and source files of unpacked packages.
"""

import gzip
import html
import random
import re
from dataclasses import dataclass
from pathlib import Path

import lxml.html


@dataclass
class Section:
    package: str
    page: str
    title: str
    heading: str
    text: str
    kind: str = "docs"


SPACE = re.compile(r"\s+")
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "dt"}
BLOCKS = {"p", "li", "pre", "td", "dd", "blockquote"}
SKIPPED = ("genindex", "search", "py-modindex", "all.html", "/src/", "index-")


def clean(text):
    return SPACE.sub(" ", text).replace("¶", "").strip()


def of_html(package, path):
    try:
        tree = lxml.html.parse(str(path)).getroot()
        if tree is None:
            return
        title = clean(tree.findtext(".//title") or "")
        title = re.split(r" [—|·-] |—", title)[0]
        for junk in tree.xpath("//script|//style|//nav|//header|//footer"):
            junk.drop_tree()
    except Exception:
        return
    heading, parts = title, []
    for node in tree.iter():
        if not isinstance(node.tag, str):
            continue
        if node.tag in HEADINGS:
            if parts:
                yield Section(package, str(path), title, heading, " ".join(parts))
            heading, parts = clean(node.text_content()), []
        elif node.tag in BLOCKS and not any(child.tag in BLOCKS for child in node.iterdescendants()):
            text = node.text_content().strip() if node.tag == "pre" else clean(node.text_content())
            if text:
                parts.append(text)
    if parts:
        yield Section(package, str(path), title, heading, " ".join(parts))


ROFF = re.compile(r"\\s[-+]?\d|\\\*\(..|\\\||\\f[A-Z]|\\f\([A-Z]{2}|\\&|\\c$|\\,|\\/")


def of_manual(package, path):
    with gzip.open(path, "rt", errors="replace") as file:
        lines = file.read().split("\n")
    title = path.name.split(".")[0]
    heading, parts = "", []
    for line in lines:
        line = ROFF.sub("", line).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace('\\(bu', '')
        if line.startswith((".SH", ".SS", ".TP", ".Sh")):
            if parts and heading:
                yield Section(package, str(path), title, heading, clean(" ".join(parts)))
            if line.startswith(".TP"):
                parts = []
            else:
                heading, parts = line[3:].strip().strip('"').capitalize(), []
        elif line.startswith((".B ", ".I ", ".BR", ".IR", ".BI", ".RB", ".RI", ".IB")):
            parts.append(line.split(" ", 1)[-1].replace('"', ""))
        elif line and not line.startswith((".", "'")):
            parts.append(line)
    if parts and heading:
        yield Section(package, str(path), title, heading, clean(" ".join(parts)))


def of_pod(package, path):
    text = path.read_text(errors="replace")
    text = re.sub(r"[A-Z]<+\s?([^<>]*)\s?>+", r"\1", text)
    title = path.stem
    parts = re.split(r"\n=(?:head\d|item) ([^\n]+)\n", text)
    for heading, body in zip(parts[1::2], parts[2::2]):
        body = re.sub(r"\n=\w+[^\n]*", " ", body)
        yield Section(package, str(path), title, clean(heading), clean(body))


def of_rst(package, path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", errors="replace") as file:
        lines = file.read().split("\n")
    heading, parts, title = "", [], ""
    for line, under in zip(lines, lines[1:] + [""]):
        if len(under) > 3 and set(under) <= set("=-~^*") and line.strip() and len(under) >= len(line.strip()):
            if parts and heading:
                yield Section(package, str(path), title, heading, clean(" ".join(parts)))
            heading, parts = clean(line), []
            title = title or heading
        elif not (len(line) > 3 and set(line) <= set("=-~^*")) and not line.startswith(".. "):
            parts.append(line)
    if parts and heading:
        yield Section(package, str(path), title, heading, clean(" ".join(parts)))


def of_mallard(package, path):
    text = path.read_text(errors="replace")
    title = re.search(r"<title>([^<]+)</title>", text)
    body = html.unescape(clean(re.sub(r"<[^>]+>", " ", re.sub(r"<info>.*?</info>", "", text, flags=re.S))))
    if title:
        yield Section(package, str(path), "", html.unescape(title.group(1)), body)


def of_wordnet(package, path):
    with (gzip.open(path, "rt") if path.suffix == ".gz" else open(path)) as file:
        for line in file:
            if "|" not in line or line.startswith("  "):
                continue
            facts, gloss = line.split("|", 1)
            words = [word.replace("_", " ") for word in facts.split()[4 : 4 + 2 * int(facts.split()[3], 16) : 2]]
            yield Section(package, str(path) + line[:8], "", words[0], gloss.strip(), "gloss")


DOC = re.compile(r'^([ \t]*)((?:async )?def|class) (\w+)[^\n]*:\n\s*[rR]?"""(.+?)"""\n', re.S | re.M)


def of_python(package, path):
    text = path.read_text(errors="replace")
    for match in DOC.finditer(text):
        indent, _, name, doc = match.groups()
        rest = text[match.start() :].split("\n")
        body = [rest[0]]
        for line in rest[1:120]:
            if line.strip() and not line.startswith(indent + " ") and not line.startswith(indent + "\t") and line.strip() != ")":
                if not line.startswith(indent + ")"):
                    break
            body.append(line)
        code = "\n".join(body)
        yield Section(package, str(path), name, doc.strip(), code, "code")


RUST = re.compile(r"((?:^[ \t]*///[^\n]*\n)+)((?:^[ \t]*#\[[^\n]*\n)*)(^[ \t]*pub (?:const |async |unsafe )*(?:fn|struct|enum|trait) (\w+).*?)(?=^\s*(?:///|\}\s*$|#\[))", re.S | re.M)


def of_rust(package, path):
    text = path.read_text(errors="replace")
    if len(text) > 300_000:
        return
    for doc, _, body, name in RUST.findall(text):
        said = "\n".join(line.strip()[3:].strip() for line in doc.strip().split("\n"))
        yield Section(package, str(path), name, said, doc + body, "code")


JS = re.compile(r"/\*\*\n((?:\s*\*[^\n]*\n)+?)\s*\*/\n((?:export |static |async |public )*(?:function\*? |const |class )?(\w+)[^\n]*\{?\n(?:[ \t]+[^\n]*\n|\n)*)")


def of_javascript(package, path):
    text = path.read_text(errors="replace")
    if len(text) > 500_000:
        return
    for doc, body, name in JS.findall(text):
        said = "\n".join(line.strip().lstrip("*").strip() for line in doc.strip().split("\n"))
        yield Section(package, str(path), name, said, f"/**\n{doc}*/\n{body}", "code")


def sections(directory, seed=0, most=4000):
    """Yields at most `most` usable sections of one package, in an order that depends on the seed."""
    package = directory.name
    files = [path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
    files.sort()
    random.Random(seed).shuffle(files)
    found = 0
    for path in files:
        name = str(path)
        if path.suffix == ".html" and any(part in name for part in SKIPPED) or re.search(r"/man/[a-z]{2}(_[A-Z]+)?(\.[A-Z0-9-]+)?/", name):
            continue
        if re.search(r"/help/(?!C/)", name):
            continue
        if path.stat().st_size > 3_000_000:
            reader = None
        elif path.suffix in (".html", ".htm"):
            reader = of_html
        elif re.search(r"/man\d/.*\.gz$", name):
            reader = of_manual
        elif path.suffix == ".pod":
            reader = of_pod
        elif name.endswith((".rst.gz", ".rst")):
            reader = of_rst
        elif path.suffix == ".page":
            reader = of_mallard
        elif path.suffix == ".py":
            reader = of_python
        elif path.suffix == ".rs":
            reader = of_rust
        elif path.suffix in (".js", ".ts", ".mjs"):
            reader = of_javascript
        else:
            reader = None
        if re.search(r"/wordnet/data\.", name):
            reader = of_wordnet
        if reader is None:
            continue
        try:
            for section in reader(package, path):
                if len(section.text) < 60 and section.kind != "gloss":
                    continue
                if len(section.heading) < 3 or not re.search("[a-z]{3}", section.heading):
                    continue
                found += 1
                yield section
                if found >= most:
                    return
        except (OSError, ValueError, RecursionError):
            continue
