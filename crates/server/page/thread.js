// An issue as a thread: what is known of it, and each text as a block of its own with its author and date.

import { element, prose } from "./elements.js";
import { moment } from "./labels.js";

const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d UTC`;
const HEAD = /^(Issue|Pull request) #(\d+) · (.+)$/;
const SAID = new RegExp(String.raw`^## (\d+)\. (.+) (commented|remarked|approved|requested changes|reviewed)(?: on (.+?))?(?:, (${TIME}))?$`);

/** The facts that the line about an issue can hold, each with what it looks like, in their order. */
const FACTS = [
  ["state", /^(?:open|closed|merged)(?: \(.+\))?$/],
  ["locked", /^locked$/],
  ["author", /^by (.+)$/],
  ["at", new RegExp(`^${TIME}$`)],
  ["ended", new RegExp(`^(?:merged|closed) ${TIME}$`)],
  ["labels", /^labels: (.+)$/],
  ["milestone", /^milestone: (.+)$/],
  ["url", /^https?:\/\/\S+$/],
];

/**
 * Reads the text of an issue as the index renders it: a title, a line about it, its body, and each comment under a numbered heading.
 * Returns null for a text of another form, and for one whose headings are ambiguous because somebody quotes such a heading.
 */
export function readThread(text) {
  const all = text.replace(/\n$/, "").split("\n");
  const head = all[2]?.match(HEAD);
  const facts = head ? factsOf(head[3].split(" · ")) : null;
  if (!facts || !all[0].startsWith("# ") || all[1] !== "") return null;
  const parts = [{ author: facts.author, at: facts.at, said: "wrote", first: 5 }];
  for (let at = 3; at < all.length; at += 1) {
    const said = all[at].match(SAID);
    if (!said || all[at - 1] !== "" || (all[at + 1] ?? "") !== "") continue;
    if (Number(said[1]) !== parts.length) return null;
    parts.at(-1).end = at - 1;
    parts.push({ author: said[2], said: said[4] ? `${said[3]} on ${said[4]}` : said[3], at: said[5], first: at + 3 });
  }
  parts.at(-1).end = all.length;
  return {
    title: all[0].slice(2), kind: head[1], number: head[2], facts,
    parts: parts.map(({ end, ...part }) => ({ ...part, text: all.slice(part.first - 1, end).join("\n").trimEnd() })),
  };
}

/** The facts by name. What a label or a milestone has after a separator of its own belongs to it. */
function factsOf(pieces) {
  const facts = {};
  let next = 0;
  let open = null;
  for (const piece of pieces) {
    const at = FACTS.findIndex(([, form], place) => place >= next && form.test(piece));
    if (at < 0 && open === null) return null;
    if (at < 0) {
      facts[open] += ` · ${piece}`;
      continue;
    }
    const [name, form] = FACTS[at];
    facts[name] = piece.match(form)[1] ?? piece;
    open = ["author", "labels", "milestone"].includes(name) ? name : null;
    next = at + 1;
  }
  return facts.state ? facts : null;
}

const written = (text) => text?.replace(new RegExp(TIME), (time) => `${moment(stamp(time))} UTC`);
const stamp = (time) => time.replace(" UTC", "Z").replace(" ", "T");

/** What is known of an issue as a whole. */
export function aboutThread({ kind, number, facts }) {
  const author = facts.author && `by ${facts.author}`, milestone = facts.milestone && `milestone ${facts.milestone}`;
  const quiet = [`${kind} #${number}`, author, written(facts.at), written(facts.ended), facts.locked, milestone];
  return [
    element("p", { class: "chips" },
      element("span", { class: `chip state-${facts.state.split(" ")[0]}` }, facts.state),
      (facts.labels?.split(", ") ?? []).map((label) => element("span", { class: "chip" }, label))),
    element("p", { class: "place" }, quiet.filter(Boolean).join(" · "),
      facts.url ? [" · ", element("a", { href: facts.url, rel: "noreferrer" }, "in its tracker")] : null),
  ];
}

/** The texts of a thread, in their order, with the lines of the hit marked. */
export function threadParts({ parts }, query, hit) {
  return element("ol", { class: "thread" }, parts.map((part) => element("li", {},
    element("h2", {}, element("span", { class: "author" }, part.author ?? "somebody"), ` ${part.said} `,
      part.at ? element("time", { class: "place", datetime: stamp(part.at) }, written(part.at)) : null),
    part.text ? prose(part.text, query, part.first, hit) : element("p", { class: "place" }, "No text."))));
}
