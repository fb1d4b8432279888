// Colours for source code: comments, strings, numbers and the words that most languages keep for themselves. It knows no grammar, so it
// can be wrong where a language is unusual; the text stays the same.

const KEYWORDS = new Set(("abstract as async await begin break case catch class const continue crate def default defer delete do else elsif end "
  + "enum except export extends extern false final finally fn for from func function go guard if impl implements import in instanceof "
  + "interface is lambda let loop match mod module move mut namespace new nil none null object of override package pass private protected "
  + "protocol pub public raise ref require return self static struct super switch template this throw throws trait true try type typedef "
  + "typename typeof union unless unsafe use using val var virtual void when where while with yield").split(" "));

/** How a comment begins, by language. Others have none, or none that a line alone shows. */
const COMMENTS = {
  "//": "c cpp csharp dart fsharp go groovy java javascript jsx kotlin objective_c php protobuf rust scala scss solidity swift tsx typescript vue zig",
  "#": "bash cmake dockerfile elixir gdscript graphql hcl ini julia makefile nix perl powershell python r ruby shell terraform toml yaml",
  "--": "ada elm haskell lua sql vhdl",
  ";": "clojure lisp scheme",
  "%": "erlang latex matlab prolog",
};

/** Languages in which single quotes hold one character, and may stand alone before a lifetime or a type parameter. */
const SINGLE_CHARACTER = new Set("c cpp csharp fsharp go haskell java kotlin objective_c rust scala swift zig".split(" "));

/** Languages with strings between three quotes, which can go on over lines. */
const TRIPLE = new Set("csharp dart elixir groovy java julia kotlin python scala swift".split(" "));

/**
 * Returns a function that divides a line of a language into parts with their classes; prose stays whole. It takes the lines in their
 * order, since a comment or a string can go on over several.
 */
export function colouring(language) {
  const comment = Object.entries(COMMENTS).find(([, names]) => names.split(" ").includes(language))?.[0];
  if (!comment) return (line) => [[line, null]];
  const escaped = comment.replace(/[/\-;%#]/g, "\\$&");
  const quoted = SINGLE_CHARACTER.has(language) ? "'(?:[^'\\\\]|\\\\[^']{1,8})'" : "'(?:[^'\\\\]|\\\\.)*'";
  const long = [TRIPLE.has(language) ? "\"\"\"|'''" : null, comment === "//" || language === "sql" ? "/\\*" : null].filter(Boolean).join("|") || "(?!)";
  const tokens = new RegExp(`(?<comment>${escaped}.*)|(?<long>${long})|(?<string>"(?:[^"\\\\]|\\\\.)*"|${quoted})|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_]\\w*)`, "g");
  let open = null;
  return (line) => {
    const parts = [];
    let end = 0;
    /** A part that ends at a place, or for a long one with what closes it, in this line or a later one. */
    const put = (from, to, kind, close = null) => {
      const at = close ? line.indexOf(close, to) : -1;
      open = close && at < 0 ? close : null;
      const after = open ? line.length : close ? at + close.length : to;
      parts.push([line.slice(end, from), null], [line.slice(from, after), kind ?? (close === "*/" ? "comment" : "string")]);
      tokens.lastIndex = end = after;
    };
    tokens.lastIndex = 0;
    if (open) put(0, 0, null, open);
    for (let found = tokens.exec(line); found; found = tokens.exec(line)) {
      const { comment: rest, long: begun, string, number, word } = found.groups;
      const kind = rest ? "comment" : string ? "string" : number ? "number" : KEYWORDS.has(word) ? "keyword" : null;
      if (kind || begun) put(found.index, tokens.lastIndex, kind, begun === "/*" ? "*/" : begun);
    }
    parts.push([line.slice(end), null]);
    return parts;
  };
}

const PROSE = new Set("asciidoc epub html latex markdown opendocument org pdf restructuredtext text wikitext word".split(" "));

/** True for text that is read, not run. Without a language that depends on its collection. */
export const isProse = (language, collection) => language ? PROSE.has(language) : collection !== "code";
