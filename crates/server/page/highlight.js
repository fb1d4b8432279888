// Colours for source code: comments, strings, numbers and the words that a language keeps for itself. It knows no grammar, so it can be
// wrong where a language is unusual; the text stays the same.

/** The words that a language keeps for itself. Languages that share most of them stand together. */
const KEYWORDS = {
  "c": "auto bool break case char const continue default do double else enum extern false float for goto if inline int long register return "
    + "short signed sizeof static struct switch true typedef union unsigned void volatile while",
  "cpp objectivec objectivecpp": "alignas auto bool break case catch char class const const_cast constexpr continue co_await co_return co_yield decltype "
    + "default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable "
    + "namespace new noexcept nullptr operator override private protected public register reinterpret_cast requires return short signed sizeof "
    + "static static_cast struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
  "csharp": "abstract as async await base bool break byte case catch char class const continue decimal default delegate do double else enum event "
    + "explicit extern false finally fixed float for foreach get goto if implicit in init int interface internal is lock long namespace new null "
    + "object operator out override params private protected public readonly record ref return sealed set short static string struct switch this "
    + "throw true try typeof using var virtual void volatile when where while yield",
  "dart": "abstract as async await break case catch class const continue default do dynamic else enum export extends extension factory false final "
    + "finally for get if implements import in is late library mixin new null on operator required return set static super switch this throw true "
    + "try typedef var void while with yield",
  "elixir": "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end false fn for if import in nil not "
    + "or quote raise receive require rescue true try unless unquote use when with",
  "fsharp": "and as begin class do done downto elif else end exception false finally for fun function if in inherit inline interface internal let "
    + "match member module mutable namespace new not null of open or override private public rec return static struct then to true try type use "
    + "val when while with yield",
  "go": "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return "
    + "select struct switch true type var",
  "groovy java": "abstract assert boolean break byte case catch char class const continue def default do double else enum extends false final finally "
    + "float for if implements import instanceof int interface long native new non null package permits private protected public record return "
    + "sealed short static super switch synchronized this throw throws transient true try var void volatile while yield",
  "haskell": "as case class data default deriving do else forall foreign hiding if import in infix infixl infixr instance let module newtype of "
    + "qualified then type where",
  "javascript jsx": "async await break case catch class const continue debugger default delete do else export extends false finally for from function get "
    + "if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield",
  "julia": "abstract baremodule begin break catch const continue do else elseif end export false finally for function global if import in let local "
    + "macro module mutable nothing primitive quote return struct true try type using where while",
  "kotlin": "abstract as break by class companion const constructor continue crossinline data do else enum false final finally for fun if import in "
    + "infix init inline inner interface internal is lateinit null object open operator out override package private protected public reified "
    + "return sealed super suspend tailrec this throw true try typealias val var vararg when where while",
  "lua": "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
  "perl": "and cmp die do else elsif eq for foreach ge given gt if last le local lt my ne next no not or our package redo return sub undef unless until "
    + "use when while",
  "php": "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends false "
    + "final finally fn for foreach function global if implements include instanceof interface isset match namespace new null or print private "
    + "protected public readonly require require_once return static switch throw trait true try unset use var while yield",
  "python gdscript": "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match "
    + "None nonlocal not or pass raise return True try while with yield",
  "r": "break else FALSE for function if in Inf NA NaN next NULL repeat return TRUE while",
  "ruby": "alias and begin break case class def defined do else elsif end ensure extend false for if in include module next nil not or private "
    + "protected public raise redo require require_relative rescue retry return self super then true undef unless until when while yield",
  "rust": "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self "
    + "static struct super trait true type union unsafe use where while",
  "scala": "abstract case catch class def derives do else enum export extends extension false final finally for given if implicit import inline lazy match new "
    + "null object opaque override package private protected return sealed super then this throw trait transparent true try type using val var while "
    + "with yield",
  "shell bash": "case do done elif else esac exit export fi for function if in local readonly return select set shift then trap unset until while",
  "solidity": "address bool break bytes constant constructor continue contract delete do else emit enum error event external fallback false for function if "
    + "immutable import indexed interface internal is library mapping memory modifier new override payable pragma private public pure require "
    + "return returns revert storage string struct true try uint uint256 unchecked using view virtual while",
  "sql": "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists false "
    + "foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary "
    + "references replace returning right rollback select set table then transaction true union unique update using values view when where with",
  "swift": "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false "
    + "fileprivate final for func guard if import in indirect init inout internal is lazy let mutating nil open operator override private protocol "
    + "public repeat required rethrows return self Self some static struct subscript super switch throw throws true try typealias unowned var weak "
    + "where while",
  "typescript tsx": "abstract any as asserts async await bigint boolean break case catch class const continue declare default delete do else enum export "
    + "extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number "
    + "object of override private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof "
    + "undefined unknown var void while yield",
  "zig": "and anytype break catch comptime const continue defer else enum errdefer error export extern false fn for if inline null orelse or packed pub "
    + "return struct switch test true try undefined union unreachable usingnamespace var while",
  "json jsonl toml yaml ini hcl terraform nix": "true false null",
};

/** What other languages have at least. */
const COMMON = "break case class const continue do else end false for function if import in let new null return then this true type var while";

const keywordsOf = (language) => new Set((Object.entries(KEYWORDS).find(([names]) => names.split(" ").includes(language))?.[1] ?? COMMON).split(" "));

/** Languages whose words mean the same in capitals. */
const ANY_CASE = new Set("sql ada vhdl powershell cmake".split(" "));

/** How a comment begins, by language. Others have none, or none that a line alone shows. */
const COMMENTS = {
  "//": "c cpp csharp dart fsharp go groovy java javascript jsx kotlin objectivec objectivecpp php protobuf rust scala scss solidity swift tsx typescript zig",
  "#": "bash cmake dockerfile elixir gdscript graphql hcl ini julia makefile nix perl powershell python r ruby shell terraform toml yaml",
  "--": "ada elm haskell lua sql vhdl",
  ";": "clojure common_lisp emacs_lisp racket scheme",
  "%": "erlang latex matlab prolog",
};

/** Languages in which single quotes hold one character, and may stand alone before a lifetime or a type parameter. */
const SINGLE_CHARACTER = new Set("c cpp csharp fsharp go haskell java kotlin objectivec objectivecpp rust scala swift zig".split(" "));

/** Languages with strings between three quotes, which can go on over lines. */
const TRIPLE = new Set("csharp dart elixir groovy java julia kotlin python scala swift".split(" "));

/** Languages of elements between angle brackets: pages, and templates that become pages. */
const MARKUP = new Set("astro blade eex ejs erb handlebars html jinja jsp liquid razor svelte twig vue xml".split(" "));

/**
 * Returns a function that divides a line of a language into parts with their classes; prose stays whole. It takes the lines in their
 * order, since a comment or a string can go on over several.
 */
export function colouring(language) {
  if (MARKUP.has(language)) return markup();
  const comment = Object.entries(COMMENTS).find(([, names]) => names.split(" ").includes(language))?.[0];
  if (!comment) return (line) => [[line, null]];
  const keywords = keywordsOf(language);
  const isKeyword = (word) => keywords.has(ANY_CASE.has(language) ? word.toLowerCase() : word);
  const escaped = comment.replace(/[/\-;%#]/g, "\\$&");
  const quoted = SINGLE_CHARACTER.has(language) ? "'(?:[^'\\\\]|\\\\[^']{1,8})'" : "'(?:[^'\\\\]|\\\\.)*'";
  const long = [TRIPLE.has(language) ? "\"\"\"|'''" : null, comment === "//" || language === "sql" ? "/\\*" : null].filter(Boolean).join("|") || "(?!)";
  const tokens = new RegExp(`(?<comment>${escaped}.*)|(?<long>${long})|(?<string>"(?:[^"\\\\]|\\\\.)*"|${quoted})|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_]\\w*)`, "g");
  const painter = painting();
  return (line) => painter.paint(line, tokens, (found, put) => {
    const { comment: rest, long: begun, string, number, word } = found.groups;
    if (begun) return put(begun === "/*" ? "comment" : "string", begun === "/*" ? "*/" : begun);
    const kind = rest ? "comment" : string ? "string" : number ? "number" : word && isKeyword(word) ? "keyword" : null;
    if (kind) put(kind);
  });
}

/** What divides lines by tokens. A part can go on until what closes it, in this line or a later one. */
function painting() {
  let open = null;
  return { paint(line, tokens, decide) {
    const parts = [];
    let end = 0;
    const put = (from, to, kind, close = null) => {
      const at = close ? line.indexOf(close, to) : -1;
      open = close && at < 0 ? [kind, close] : null;
      const after = open ? line.length : close ? at + close.length : to;
      parts.push([line.slice(end, from), null], [line.slice(from, after), kind]);
      tokens.lastIndex = end = after;
    };
    tokens.lastIndex = 0;
    if (open) put(0, 0, ...open);
    for (let found = tokens.exec(line); found; found = tokens.exec(line)) {
      decide(found, (kind, close) => put(found.index, tokens.lastIndex, kind, close));
    }
    parts.push([line.slice(end), null]);
    return parts;
  } };
}

/** The comments of pages and of templates, by how they begin. */
const MARKUP_COMMENTS = { "<!--": "-->", "{#": "#}", "{{!--": "--}}", "<%#": "%>", "@*": "*@" };

/** Elements with their attributes, and the code of a template between braces or percent signs. Scripts within are code of their own. */
function markup() {
  const painter = painting();
  const outside = /(?<comment><!--|\{\{!--|\{#(?![a-z])|<%#|@\*)|(?<template>\{\{\{?[^}]*\}?\}\}|\{%.*?%\}|<%.*?%>)|(?<tag><\/?[A-Za-z][\w:.-]*|<!DOCTYPE|<\?xml)|(?<entity>&#?\w+;)/gi;
  const inside = /(?<string>"[^"]*"|'[^']*')|(?<template>\{\{[^}]*\}\}|\{%.*?%\}|<%.*?%>)|(?<close>\/?>|\?>)/g;
  let isInside = false, script = null;
  return (line) => {
    if (script && !/<\/script/i.test(line)) return script(line);
    script = null;
    const parts = [];
    let rest = line;
    // Each side of an angle bracket has tokens of its own.
    while (rest !== null) {
      const was = isInside;
      let cut = null;
      const painted = painter.paint(rest, was ? inside : outside, ({ groups, index, 0: text }, put) => {
        if (cut !== null) return;
        const { comment, template, tag, string, entity, close } = groups;
        if (comment) return put("comment", MARKUP_COMMENTS[comment.toLowerCase()]);
        put(template ? "number" : string || entity ? "string" : "keyword");
        if (tag || close) [isInside, cut] = [Boolean(tag), index + text.length];
      });
      if (cut === null) {
        parts.push(...painted);
        break;
      }
      let length = 0;
      for (const [text, kind] of painted) {
        if (length < cut) parts.push([text.slice(0, cut - length), kind]);
        length += text.length;
      }
      rest = rest.slice(cut);
    }
    if (/<script\b(?![^>]*\/>)[^>]*>/i.test(line) && !/<\/script/i.test(line)) script = colouring("typescript");
    return parts;
  };
}

const PROSE = new Set("asciidoc epub html latex markdown opendocument org pdf restructuredtext text wikitext word".split(" "));

/** True for text that is read, not run. Without a language that depends on its collection; the index has a page as its text, and a template as it is. */
export const isProse = (language, collection, text = "") => language ? PROSE.has(language) && !(language === "html" && /<\/?[a-z][^>\n]*>/i.test(text)) : collection !== "code";
