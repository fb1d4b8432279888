"""The answers of an index as the library gives them, field by field."""

# Written by `cargo xtask site --write`. What Python adds is in answers.py.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ._convert import Convertible

__all__ = [
    "Copy",
    "Count",
    "Coverage",
    "CutReport",
    "EmbeddingCacheStatus",
    "EmbeddingProgress",
    "EvidencePart",
    "EvidenceSummary",
    "Excerpt",
    "FileCommit",
    "FurtherPassage",
    "GrepAnswer",
    "GrepFile",
    "GrepLine",
    "Hit",
    "Imported",
    "IndexReport",
    "Judged",
    "LinkedDocument",
    "ModelKey",
    "ModelSummary",
    "NameReference",
    "Nearest",
    "Occurrences",
    "PoolEntry",
    "Reading",
    "Referrer",
    "RefreshReport",
    "Related",
    "RelatedPassage",
    "SimilarPassage",
    "Sizes",
    "SourceReport",
    "SourceStatus",
    "Status",
    "UnreadDocument",
]


@dataclass(frozen=True)
class Answer(Convertible):
    """The result of a search, with its cut and the reason for it."""

    query: str
    """The query as it was searched."""
    query_id: str | None
    """The identifier of the recorded search, for `tamis feedback`; None if it was not recorded."""
    language_hint: str | None
    """The language that was preferred, by canonical name; None without a hint."""
    mode_used: str
    """The retrievers that took part: `hybrid`, `lexical` or `semantic`."""
    fallback_reason: str | None
    """The reason why the mode or the model differs from the requested one."""
    pending_model: str | None
    """The better models that do not cover all searched passages yet, with their coverage. The command and the server
    embed the rest in the background, a program by a refresh that waits for every model; until then another model takes
    part. None if there is none."""
    warnings: list[str]
    """Problems that did not prevent an answer, such as a variant or a shared namespace that was left out."""
    model: str | None
    """The model of the semantic retriever."""
    results: list[Hit]
    """The relevant entries, best first, shortened to the limit. Each is shown by its best passage, with its other
    relevant ones below. With the option `passages`, every relevant passage is a result."""
    cut: CutReport
    """The number of relevant entries, and the reason. Rules that are defined on passages count passages."""
    summary: str
    """The answer in one sentence: how many entries look relevant, with their probabilities, and what ends the list."""
    nearest: list[Nearest]
    """The entries just below the line, best first: at most five, or eight where nothing is relevant. Empty if the cut
    left nothing out, if a limit leaves out relevant ones, or with the option `strict`."""
    missing_words: list[str]
    """The words of the query that no searched passage has, as written; at most 20."""
    timings_ms: dict[str, float]
    """Milliseconds by stage, and `total`; empty for a caller who may not read every namespace."""
    index: IndexReport
    """The searched part of the index."""
    missing_namespaces: list[str] = field(default_factory=list)
    """The namespaces that could not be searched, because the server that holds them is away; left out if empty."""
    partial: bool = False
    """True if some of the namespaces asked for could not be searched; left out otherwise."""
    pool: list[PoolEntry] | None = None
    """The whole pool in ranking order; only if an explanation was requested."""
    readings: list[Reading] = field(default_factory=list)
    """The misspelt words of the query, and the words of the index that they were searched as; left out if empty."""


@dataclass(frozen=True)
class Copy(Convertible):
    """A near-copy of a passage, in another document."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path of the document."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""


@dataclass(frozen=True)
class Count(Convertible):
    """The number of documents and passages with a property."""

    name: str
    """The collection, language or role; empty without one."""
    documents: int
    """Documents with it, or with a passage that has it."""
    passages: int
    """Passages."""


@dataclass(frozen=True)
class Coverage(Convertible):
    """The number of passages that a model's vectors cover."""

    passages: int
    """Passages that pass the filter."""
    embedded: int
    """Those with a vector."""


@dataclass(frozen=True)
class CutReport(Convertible):
    """The decided cut."""

    method: str
    """The method: a cut's name, or `gate` if nothing in the corpus stood out."""
    keep: int
    """The number of relevant candidates: entries, or passages if the method is defined on those (see the diagnostic
    `counted`). `results` holds the first of them."""
    threshold: float | None
    """The value at or above which (for distances: at or below which) candidates are kept, if the method has one."""
    reason: str
    """A short clause in plain words that completes "Kept 4 of 150: …"."""
    candidates: int
    """Candidates in the pool."""
    dropped: int
    """Candidates that the cut left out."""
    dropped_non_finite: int
    """Candidates left out because a score was not a finite number."""
    diagnostics: dict[str, Any]
    """The method's own numbers."""


@dataclass(frozen=True)
class EmbeddingCacheStatus(Convertible):
    """The state of the user's cache of vectors."""

    path: str
    """Its file."""
    vectors: int
    """The number of vectors of all models and all indexes."""
    bytes: int
    """Their size in bytes."""
    most_bytes: int
    """Their maximum size in bytes."""
    last_run: dict[str, int]
    """The number of texts that the last embedding run of this index took from the cache, by model."""


@dataclass(frozen=True)
class EmbeddingProgress(Convertible):
    """The state of embedding in the background."""

    model: str
    """The model."""
    embedded: int
    """The number of passages that it has embedded."""
    passages: int
    """The number of all passages."""
    seconds_left: int | None = None
    """About how many seconds the rest takes, once that can be told."""


@dataclass(frozen=True)
class EvidencePart(Convertible):
    """One piece of the evidence on an entry."""

    name: str
    """What it is, such as `coverage`, the share of the query's words by their weight, or `on_demand`, the similarity
    under the better model."""
    value: float
    """Its value."""
    log_odds: float
    """What it adds to the log odds."""


@dataclass(frozen=True)
class EvidenceSummary(Convertible):
    """The evidence of a namespace, or of one task, in numbers."""

    namespace: str
    """The namespace."""
    tasks: int
    """Tasks."""
    works: int
    """Publications."""
    pages: int
    """Pages; for one task those with a fragment of it."""
    fragments: int
    """Fragments; for one task those with an edge to one of its claims."""
    claims: int
    """Claims."""
    supporting: int
    """Edges by which a fragment supports a claim."""
    refuting: int
    """Edges by which a fragment refutes a claim."""
    neutral: int
    """Edges by which a fragment does neither, or is not judged yet."""
    top_domains: list[Count]
    """The ten domains with most fragments, each with its pages as documents and its fragments as passages."""


@dataclass(frozen=True)
class Excerpt(Convertible):
    """Some lines of a document."""

    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path under its root."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    id: str | None
    """Identifier of the passage, where one was asked for."""
    symbol: str | None
    """Qualified name of the symbol, where a passage was asked for that has one."""
    text: str
    """The lines as they are indexed."""


@dataclass(frozen=True)
class FileCommit(Convertible):
    """A commit that touched a file."""

    path: str
    """Its path in the index, `commit:` and the first digits of its identifier."""
    title: str
    """The first line of its message."""
    author: str | None
    """Its author."""
    dated_at: str | None
    """Its time."""


@dataclass(frozen=True)
class FurtherPassage(Convertible):
    """Another relevant passage of a result."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    title: str | None
    """Title of the document, or the path of headings above the passage."""
    symbol: str | None
    """Qualified name of the symbol."""
    kind: str
    """What it is: `function`, `comment`, `section`, …"""
    author: str | None
    """Its author or speaker, if there is a single one."""
    dated_at: str | None
    """The date it was written (RFC 3339)."""
    score: float
    """The value that ranked it."""
    snippet: str
    """The line that answers best."""


@dataclass(frozen=True)
class GrepAnswer(Convertible):
    """The places of a text, and their exact number."""

    matches: int
    """Number of matches; a line can have several."""
    lines: int
    """Number of lines with a match."""
    files: int
    """Number of files with a match."""
    searched: int
    """Number of files that were looked at."""
    complete: bool
    """False if the search ended before all files were looked at; the totals are those of the others."""
    results: list[GrepFile]
    """The files with a match, by namespace and path."""
    unlisted: int
    """Number of matching lines that are not listed."""
    notes: list[str]
    """Remarks on files that were not looked at, and on an early end."""


@dataclass(frozen=True)
class GrepFile(Convertible):
    """A file with a match."""

    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path under the root, with forward slashes."""
    language: str | None
    """Canonical name of the language."""
    matches: int
    """Number of matches."""
    lines: int
    """Number of lines with a match."""
    hits: list[GrepLine]
    """The matching lines and those around them, in order."""


@dataclass(frozen=True)
class GrepLine(Convertible):
    """A line of a file."""

    line: int
    """Its number, from 1."""
    column: int | None
    """The byte of the first match in it, from 1; None for a line of context."""
    text: str
    """The line, or a part of it."""
    shortened: bool = False
    """True if `text` is only a part."""


@dataclass(frozen=True)
class Hit(Convertible):
    """One result."""

    rank: int
    """Place in the answer, from 1."""
    id: str
    """The passage's identifier, which `tamis get` takes."""
    collection: str
    """The kind of text: `code`, `docs`, …"""
    namespace: str
    """The repository or project it belongs to."""
    shared: bool
    """True if that is a namespace shared by the same owner, and not the one searched first."""
    path: str
    """Path of the document under the root, with forward slashes."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    title: str | None
    """Title of the document, or the path of headings above the passage."""
    symbol: str | None
    """Qualified name of the symbol."""
    kind: str
    """Kind of passage: `function`, `type`, `section`, …"""
    url: str | None
    """Address of an issue, where the import gave one."""
    language: str | None
    """Canonical name of the language."""
    author: str | None
    """The author or speaker of an issue, a comment or a turn of a conversation."""
    dated_at: str | None
    """Date (RFC 3339): the passage's own, or else its document's, such as a file's last commit."""
    bm25: float | None
    """Raw BM25 of the query in the passage; 0 if no term of the query occurs."""
    similarity: float | None
    """Raw cosine similarity of query and passage, in [-1, 1]."""
    score: float
    """The value that ranked it."""
    judged: float | None
    """The probability that it answers the query by the reranker's reading alone, as if half of all passages did; None
    if the reranker did not read it."""
    judged_relevant: bool | None
    """True if people said of it, for this question, that it answers; False if they said that it does not; None if they
    said nothing."""
    probability: float | None
    """The probability that it answers the query by all evidence, if the cut gives one."""
    snippet: str
    """The lines of the passage that answer best."""
    snippet_line: int
    """Line of the document on which the snippet starts, from 1."""
    entry: str
    """The entry that the passage belongs to, which a person counts as one result: namespace and path of its document;
    for a file of many notes also heading and time."""
    passages: list[FurtherPassage]
    """The other relevant passages of the entry, best first; empty if each passage is a result."""
    copies: list[Copy]
    """Near-copies of these passages in other documents, best first. They are not results themselves."""
    attributes: dict[str, list[str]] = field(default_factory=dict)
    """Metadata of the document, by name: an issue's `state`, `type` and `label`s, a note's `topic`. Left out if
    empty."""


@dataclass(frozen=True)
class Imported(Convertible):
    """The documents from one origin in one collection of a namespace."""

    origin: str
    """Their origin: `github:OWNER/REPO`, or the name of a dump or of a log."""
    namespace: str
    """The namespace."""
    collection: str
    """The collection: `issues`, `wiki`, `sessions`, `commits` or `evidence`."""
    documents: int
    """The number of issues, pages, sessions, commits, or fragments and claims."""
    passages: int
    """The number of their passages."""
    updated: str | None
    """The latest change to any of them, if known."""


@dataclass(frozen=True)
class IndexReport(Convertible):
    """The index that was searched."""

    passages: int
    """The number of passages that match the filters."""
    embedded: int
    """The number of those that have a vector of the model used."""
    namespaces: list[str]
    """The namespaces searched, one's own first."""
    stale: int | None
    """Files known to differ from the index; `None` if that was not checked, or the caller may not read every
    namespace."""


@dataclass(frozen=True)
class Judged(Convertible):
    """A recorded judgement."""

    passage: str
    """The passage's identifier."""
    place: tuple[str, int] | None
    """Its location: path of the document and first line; `None` if it is no longer in the index."""
    title: str | None
    """Its symbol, or else the heading right above it; `None` if it has none or is no longer in the index."""
    relevance: Literal["relevant", "not_relevant", "unjudged"]
    """Its relevance to the query."""
    rank: int | None
    """Its rank among the search's candidates, from 1; `None`: outside the pool, so that no cut could have kept it."""


@dataclass(frozen=True)
class LinkedDocument(Convertible):
    """A document that links to another, or that another links to."""

    namespace: str
    """Its namespace."""
    path: str
    """Its path under the root."""
    title: str | None
    """Its title."""
    lines: list[int]
    """The lines of the document that links, ascending."""


@dataclass(frozen=True)
class ModelKey(Convertible):
    """The key of an embedding model."""

    id: str
    """Its name, with its version and anything else that changes its vectors."""
    dimension: int
    """The length of its vectors."""


@dataclass(frozen=True)
class ModelSummary(Convertible):
    """A model in a `Summary`."""

    model: ModelKey
    """The model."""
    coverage: Coverage
    """Its coverage."""
    vectors: int
    """Vectors stored, including those without a passage."""
    file_seq: int | None
    """The change number of its vector file, if it is usable."""


@dataclass(frozen=True)
class NameReference(Convertible):
    """A name that a passage refers to."""

    name: str
    """The name, without qualifiers."""
    kind: str
    """The kind of reference: `call`, `type` or `implementation`."""
    lines: list[int]
    """The lines of the document with the reference, ascending."""
    definitions: list[RelatedPassage]
    """The possible definitions. More than one if nothing distinguishes them."""
    is_guess: bool
    """True if nothing but the name speaks for them: the type of the value before it is unknown."""


@dataclass(frozen=True)
class Nearest(Convertible):
    """An entry below the line, by its best passage."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path of the document under the root, with forward slashes."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    title: str | None
    """Title of the document, or the path of headings above the passage; the text of a note."""
    symbol: str | None
    """Qualified name of the symbol."""
    kind: str
    """Kind of passage: `function`, `type`, `section`, …"""
    probability: float | None
    """The probability that it answers the query by all evidence, if the cut gives one."""
    judged_relevant: bool | None
    """True if people said of it, for this question, that it answers; False if they said that it does not; None if they
    said nothing."""


@dataclass(frozen=True)
class Occurrences(Convertible):
    """The occurrences of a name as a whole word in the files of the tree, counted exactly."""

    names: list[str]
    """The names that were counted, without qualifiers."""
    matches: int
    """Number of occurrences; a line can have several."""
    lines: int
    """Number of lines with one."""
    files: int
    """Number of files with one."""
    own_lines: int
    """Lines of the passage itself."""
    resolved_lines: int
    """Lines that use it, as far as names tell."""
    unresolved_lines: int
    """Lines with the word that could not be resolved: imports, comments, strings, macros, or something else of that
    name."""


@dataclass(frozen=True)
class PoolEntry(Convertible):
    """One candidate of the pool, for explanations: an entry with the figures of its best passage, or a passage if
    passages are counted."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    kept: bool
    """True if the cut kept it."""
    rank: int | None
    """Its place in the answer, from 1; None if the answer does not show it. Age and diversity change the order."""
    namespace: str
    """The repository or project it belongs to."""
    distance_factor: float
    """The factor of language and age on its distance; 1: no effect."""
    age_days: float | None
    """Age in days, if age affects candidates and the date is known."""
    decay: float
    """The decay factor of a memory's age, in (0, 1]; 1: no decay. The result's score is `score` times this factor,
    unless the cut reads decayed values: then `score` already includes it."""
    path: str
    """Path of the document."""
    start_line: int
    """First line of the passage."""
    title: str | None
    """Title of the document, or the path of headings above the passage."""
    symbol: str | None
    """Qualified name of the symbol."""
    kind: str
    """Kind of passage: `function`, `type`, `section`, …"""
    collection: str
    """The kind of text: `code`, `docs`, …"""
    language: str | None
    """Canonical name of the language."""
    dated_at: str | None
    """Date (RFC 3339): the passage's own, or else its document's, such as a file's last commit."""
    attributes: dict[str, list[str]]
    """Attributes of the document, such as the state and the labels of an issue."""
    passages: int
    """Number of the entry's passages in the pool."""
    copies: int
    """Number of near-copies of these in other documents."""
    role: str
    """Role of the text: `main`, `test`, `vendored`, `changelog`, …"""
    bm25: float | None
    """Raw BM25."""
    similarity: float | None
    """Raw similarity."""
    coverage: float | None
    """Share of the query's IDF mass that the passage matches, in [0, 1]."""
    score: float
    """The value that ranked it."""
    exact: str | None
    """What it is, if it comes first because it is exactly what the query asks for: `definition` of a name, `constant`
    of a name, `message` that the query repeats, `mention` of that message in a text, or `file` that the query names."""
    added: float
    """The part of the score that the other passages of its file and the file's name gave; negative where other files
    gained more."""
    judged: float | None
    """The probability that it answers the query by the reranker's reading alone, as if half of all passages did; None
    if the reranker did not read it."""
    probability: float | None
    """The probability that it answers the query by all evidence, if the cut gives one."""
    judged_relevant: bool | None
    """True if people said of it, for this question, that it answers; False if they said that it does not; None if they
    said nothing."""
    evidence: list[EvidencePart]
    """What each piece of evidence adds to its odds among the entries of the list; empty where the evidence was not
    weighed. Whether the list holds an answer at all is in the diagnostics of the cut (`answer`)."""


@dataclass(frozen=True)
class Reading(Convertible):
    """A word of the query that was read as another one."""

    word: str
    """The word as written, which no searched passage has."""
    read_as: str
    """The word that is spelled almost like it, which was searched instead."""


@dataclass(frozen=True)
class Referrer(Convertible):
    """A passage that refers to another."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path of the document under the root, with forward slashes."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    symbol: str | None
    """Qualified name of the symbol."""
    title: str | None
    """Title of the document, or the path of headings above the passage."""
    kind: str
    """Its kind: `function`, `type`, `section`, …"""
    language: str | None
    """Canonical name of the language."""
    name: str
    """The name it uses, without qualifiers."""
    lines: list[int]
    """The lines of its document that use it, ascending."""
    definitions: int
    """The number of definitions that the name can mean there, including this one; 1: this one alone, 0: not
    resolved."""
    is_guess: bool
    """True if nothing but the name speaks for it: the type of the value before it is unknown."""
    resolved: bool
    """False if the name stands there as a word and could not be resolved."""


@dataclass(frozen=True)
class RefreshReport(Convertible):
    """The result of a run."""

    added: int
    """New files."""
    changed: int
    """Files whose content changed."""
    moved: int
    """Files that moved."""
    removed: int
    """Files that were removed."""
    unchanged: int
    """Unchanged files."""
    passages: int
    """Passages that were written."""
    embedded: dict[str, int]
    """Number of texts embedded, by model."""
    cached: dict[str, int]
    """Number of texts with vectors from the user's cache, by model."""
    uncached: str | None
    """The reason why the user's cache of vectors was not used, if it was not."""
    pending: dict[str, int]
    """Number of passages still without a vector, by model."""
    skipped: dict[str, int]
    """Number of files left out, by kind."""
    unreadable: list[str]
    """Files and directories that could not be read, with the reason."""
    undated: list[str]
    """The reasons why documents lack the date of a commit, so that the dates of their files count."""
    interrupted: bool
    """True if the run was stopped early. The next one continues."""
    timings_ms: dict[str, float]
    """Milliseconds by stage."""
    left_out: dict[str, str] = field(default_factory=dict)
    """The first of these files by their places, each with the reason as a sentence."""
    remarks: list[str] = field(default_factory=list)
    """Remarks for people on faults that they can fix: ignore files that do not apply, names that cannot be indexed."""
    sources: list[SourceReport] = field(default_factory=list)
    """The same by source; empty in an index of one tree."""
    unread: list[UnreadDocument] = field(default_factory=list)
    """Documents read in this run that have no readable text, such as an encrypted PDF."""
    unusable: dict[str, str] = field(default_factory=dict)
    """Unusable models, each with the reason. Their passages stay pending."""


@dataclass(frozen=True)
class Related(Convertible):
    """The passages related to one passage."""

    passage: RelatedPassage
    """The passage."""
    model: str | None
    """The model whose vectors were compared; None if none were."""
    similar: list[SimilarPassage]
    """Similar passages, best first, as many as the configured cut keeps. Tests and similar roles rank lower than their
    similarity. Other pieces of the same symbol are left out."""
    cut: CutReport | None
    """The number of similar passages, and the reason for it; None if no vectors were compared."""
    references: list[NameReference]
    """The names that it refers to and that are defined in the index, in the order of its text. If there are too many,
    the least certain ones are left out."""
    referenced_by: list[Referrer]
    """Passages that refer to it: nearest files first, tests last."""
    links: list[LinkedDocument]
    """The documents that its document links to, for a document of prose."""
    linked_from: list[LinkedDocument]
    """The documents that link to its document."""
    commits: list[FileCommit]
    """The last commits that touched its document, newest first, where commits were imported."""
    occurrences: Occurrences | None
    """How often its name occurs as a word in the files of the tree; None unless references were asked for, and for a
    passage without a name."""
    notes: list[str]
    """The entries left out, and the reasons."""


@dataclass(frozen=True)
class RelatedPassage(Convertible):
    """A passage by its place and name."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path of the document under the root, with forward slashes."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    symbol: str | None
    """Qualified name of the symbol."""
    title: str | None
    """Title of the document, or the path of headings above the passage."""
    kind: str
    """Its kind: `function`, `type`, `section`, …"""
    language: str | None
    """Canonical name of the language."""


@dataclass(frozen=True)
class SimilarPassage(Convertible):
    """A passage similar to another."""

    id: str
    """The passage's identifier, which `tamis get` takes."""
    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path of the document under the root, with forward slashes."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    symbol: str | None
    """Qualified name of the symbol."""
    title: str | None
    """Title of the document, or the path of headings above the passage."""
    kind: str
    """Its kind: `function`, `type`, `section`, …"""
    language: str | None
    """Canonical name of the language."""
    similarity: float
    """Cosine similarity of the two, in [-1, 1]."""


@dataclass(frozen=True)
class Sizes(Convertible):
    """Sizes in bytes."""

    database: int
    """The database with its log."""
    lexical: int
    """The lexical index."""
    vectors: int
    """The vector files."""


@dataclass(frozen=True)
class SourceReport(Convertible):
    """The result of a run for one source."""

    namespace: str
    """The name under which its documents are stored."""
    root: str
    """Its directory."""
    added: int
    """New files."""
    changed: int
    """Files whose content changed."""
    moved: int
    """Files that moved."""
    removed: int
    """Files that were removed."""
    unchanged: int
    """Unchanged files."""
    passages: int
    """Passages that were written."""
    remark: str | None
    """The reason why it was not brought up to date, and the way out."""


@dataclass(frozen=True)
class SourceStatus(Convertible):
    """The state of one repository of an index."""

    namespace: str
    """The name under which its documents are stored."""
    root: str
    """Its directory."""
    owner: str | None
    """Its owner."""
    shared: bool
    """True if its owner's other namespaces may search it."""
    documents: int
    """The number of documents with passages."""
    passages: int
    """The number of their passages."""
    stale: int
    """The number of files that differ from the index."""
    state: Literal["here", "gone", "unnamed"]
    """The state, which decides if it can be brought up to date."""
    remark: str | None
    """The reason why it cannot, and the way out."""


@dataclass(frozen=True)
class Status(Convertible):
    """The state of an index."""

    root: str
    """The root of the tree around the index."""
    directory: str
    """The directory of the index."""
    namespace: str
    """The name under which the tree's documents are stored."""
    stale: int
    """The number of files that differ from the index."""
    skipped: dict[str, int]
    """The number of files left out, by kind."""
    notes: list[tuple[str, str]]
    """Files with remarks for people on how they were read."""
    sources: list[SourceStatus]
    """The repositories of the index. An index of one tree has that tree only."""
    imported: list[Imported]
    """The imported documents, by origin."""
    embedding_cache: EmbeddingCacheStatus | None
    """The user's cache of vectors, if there is one that can be read."""
    pending: dict[str, int]
    """The number of passages that each configured model has not embedded yet; without those that lack none."""
    documents: int
    """Documents in all namespaces."""
    passages: int
    """Passages in all namespaces."""
    namespaces: list[Count]
    """By namespace."""
    collections: list[Count]
    """By collection."""
    languages: list[Count]
    """By language of the passage."""
    roles: list[Count]
    """By role of the passage."""
    models: list[ModelSummary]
    """Models and their coverage."""
    sizes: Sizes
    """Sizes on the disk in bytes."""
    last_change_ms: int | None
    """Time of the last change, in milliseconds since 1970."""
    last_publish_ms: int | None
    """Time of the last publication, in milliseconds since 1970."""
    schema_version: int
    """The version of the database's schema."""
    seq: int
    """The database's change number."""
    lexical_seq: int | None
    """The change number of the lexical index, if it is usable."""
    database: str | None = None
    """The address of the database that holds the index in place of the directory, without its password."""
    embedding: EmbeddingProgress | None = None
    """The state of embedding in the background, while a process does."""
    evidence: list[EvidenceSummary] = field(default_factory=list)
    """The evidence of each namespace that has any."""
    unread: list[UnreadDocument] = field(default_factory=list)
    """Documents without readable text, such as an encrypted PDF, with the reason."""


@dataclass(frozen=True)
class UnreadDocument(Convertible):
    """A document whose text cannot be read."""

    namespace: str
    """The repository or project it belongs to."""
    path: str
    """Path under its root."""
    reason: str
    """The reason, as a sentence."""
