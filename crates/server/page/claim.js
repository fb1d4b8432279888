// Evidence as documents: a claim between what supports and what refutes it, and a fragment with the claims that it bears on.

import * as api from "./api.js";
import { element } from "./elements.js";

/** The stances of a fragment on a claim: the name in the graph, and the heading over the fragments and over the claims. */
const STANCES = [
  ["supports", "Supported by", "Supports"], ["refutes", "Refuted by", "Refutes"],
  ["neutral", "Neither way", "Says neither"], ["origin", "Taken from", "Source of"],
];

const CLAIMS_OF_FRAGMENT = "SELECT c.id, c.text, c.task_id, e.relation, e.nli_edge_confidence AS confidence FROM edges e "
  + "JOIN claims c ON c.id = e.target_id WHERE e.target_type = 'claim' AND e.source_type = 'fragment' AND 'f' || e.source_id = :fragment "
  + "ORDER BY confidence DESC, c.id LIMIT 200";
const SOURCE_OF_FRAGMENT = "SELECT f.heading, p.title AS page_title, p.domain, w.authors, w.year, w.venue FROM fragments f "
  + "JOIN pages p ON p.id = f.page_id LEFT JOIN works w ON w.id = p.work_id WHERE 'f' || f.id = :fragment";

/** The address of a claim or a fragment on this page. */
export function evidenceAddress(kind, id, namespace) {
  return `/?${new URLSearchParams({ view: "document", at: `${namespace ? `${namespace}:` : ""}${kind}:${id}` })}`;
}

/** The identifier of a path such as `claim:c1`; null for other documents. */
export function evidencePath(path) {
  const [, kind, id] = path.match(/^(claim|fragment):(.+)$/s) ?? [];
  return kind ? { kind, id } : null;
}

/** What surrounds a claim or a fragment in the graph of its namespace. */
export async function surroundings({ kind, id }, namespace) {
  return kind === "claim" ? claim(id, namespace) : fragment(id, namespace);
}

async function claim(id, namespace) {
  const parameters = [`claim_id=${id}`];
  const [chain, origins, summary] = (await Promise.all(["v_evidence_chain", "v_claim_origins", "v_claim_evidence_summary"].map((view) =>
    api.viewRows(view, { namespace, parameters })))).map(api.records);
  const from = new Set(origins.map((origin) => origin.fragment_id));
  const further = origins.filter((origin) => !chain.some((edge) => edge.fragment_id === origin.fragment_id));
  const all = [...chain, ...further.map((origin) => ({ ...origin, relation: "origin" }))];
  const [known] = summary;
  const facts = !known ? [] : [
    `task ${known.task_id}`,
    known.confidence === null ? null : `${Math.round(known.confidence * 100)}% sure by its author`,
    `${Math.round(known.support_share * 100)}% supported`,
  ];
  return [
    element("p", { class: "place" }, facts.filter(Boolean).join(" · ")),
    stances(all, 1, (edge) => piece("fragment", edge.fragment_id, edge.fragment_text, namespace, [
      confidence(edge.nli_edge_confidence),
      edge.relation !== "origin" && from.has(edge.fragment_id) ? "the claim was taken from here" : null,
      ...source(edge),
    ])),
  ];
}

async function fragment(id, namespace) {
  // The letter keeps an identifier of digits from being read as a number.
  const parameters = [`fragment=f${id}`];
  const [claims, sources] = (await Promise.all([CLAIMS_OF_FRAGMENT, SOURCE_OF_FRAGMENT].map((statement) =>
    api.sql(statement, { namespace, parameters })))).map(api.records);
  return [
    element("p", { class: "place" }, sources.flatMap(source).filter(Boolean).join(" · ")),
    stances(claims, 2, (edge) => piece("claim", edge.id, edge.text, namespace, [confidence(edge.confidence), `task ${edge.task_id}`])),
  ];
}

/** A column for each stance; those for and against stay, also without entries. */
function stances(edges, heading, drawn) {
  const columns = STANCES.map((stance) => [stance, edges.filter((edge) => edge.relation === stance[0])])
    .filter(([[relation], found]) => found.length > 0 || relation === "supports" || relation === "refutes");
  return element("div", { class: "columns" }, columns.map(([stance, found]) => element("section", { class: `stance ${stance[0]}` },
    element("h2", {}, `${stance[heading]} (${found.length})`),
    found.length > 0 ? element("ul", {}, found.map(drawn)) : element("p", { class: "place" }, heading === 1 ? "No fragment." : "No claim."))));
}

function piece(kind, id, text, namespace, facts) {
  return element("li", {},
    element("a", { href: evidenceAddress(kind, id, namespace) }, text),
    element("p", { class: "place" }, facts.filter(Boolean).join(" · ")));
}

const confidence = (share) => share === null || share === undefined ? null : `${Math.round(share * 100)}% sure`;

/** Where a fragment is from. */
function source(row) {
  return [row.heading, row.page_title, authors(row.authors), row.year, row.venue, row.domain];
}

/** The authors of a work, which are a JSON array. */
function authors(text) {
  try {
    return JSON.parse(text ?? "[]").join(", ");
  } catch {
    return text;
  }
}
