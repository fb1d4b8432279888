//! The report as one HTML page: tables and plots, without scripts or outside resources.

use super::Table;
use crate::metrics::Metric;
use crate::plot;
use crate::plot::escape;
use crate::report::{CollectionReport, MethodReport, Report};

pub const STYLE: &str = include_str!("page.css");

impl Report {
    /// The page. It is self-contained, follows the reader's choice of light or dark, and escapes all text from the data.
    pub fn html(&self) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Evaluation of cuts</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>Evaluation of cuts</h1>\n<p>{}</p>\n",
            code(&escape(&self.preface()))
        );
        for (at, table) in self.tables().iter().enumerate() {
            page.push_str(&format!("<h2>{}</h2>\n{}", escape(&table.title), rows(table)));
            let plot = (at == 1).then(|| plot::differences(self, Metric::RelativeF1)).flatten();
            if let Some(plot) = plot {
                page.push_str(&figure("wide", &plot));
                page.push_str(KEY);
            }
        }
        for collection in &self.collections {
            section(collection, &mut page);
        }
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }
}

const KEY: &str = "<p class=\"key\"><span class=\"given\">●</span> methods given \
    <span class=\"reference\">●</span> reference methods</p>\n";

fn section(collection: &CollectionReport, page: &mut String) {
    let model = collection.model.as_ref().map_or(String::new(), |model| format!(" <small>{}</small>", escape(model)));
    page.push_str(&format!("<section>\n<h2>{}{model}</h2>\n", escape(&collection.name)));

    let lengths = collection.methods.iter().any(|method| method.figures.contains_key(&Metric::CharactersKept));
    let costs = [false, true].into_iter().filter(|characters| lengths || !characters);
    let costs = costs.flat_map(|characters| [Metric::Precision, Metric::Recall].map(|metric| (metric, characters)));
    let budgets = costs.filter(|_| !collection.budget.is_empty());
    plots(
        page,
        "<h3>Precision and recall against budget</h3>\n<p>The line keeps the same number for every query. A method \
         above it spends its budget better than any fixed number.</p>",
        budgets.map(|(metric, characters)| figure("", &plot::budget(collection, metric, characters))),
    );
    plots(
        page,
        "<h3>Scores and cuts of a few queries</h3>\n<p>Queries drawn at random among those with something found. \
         <span class=\"relevant\">●</span> marks relevant documents; below, a bar covers the documents each method \
         keeps, and a ring marks an empty answer.</p>",
        collection.samples.iter().map(|sample| {
            let query = &collection.queries[sample.query];
            let caption = format!("Query {}: {} relevant, {} found", query.id, query.relevant, query.relevant_in_pool);
            let caption = escape(&plot::clipped(&caption, 90));
            figure("", &format!("<figcaption>{caption}</figcaption>\n{}", plot::curves(collection, sample)))
        }),
    );
    let methods = || collection.methods.iter();
    let shown = |method: &&MethodReport| !method.reference || method.name == crate::FIXED_FITTED;
    plots(
        page,
        "<h3>Kept against relevant</h3>\n<p>Larger dots are more frequent; on the line, as many are kept as are \
         relevant. Rings are queries without a relevant document.</p>",
        methods().filter(shown).map(|method| figure("small", &plot::kept_share(collection, method))),
    );
    plots(
        page,
        "<h3>Reliability of the probabilities</h3>\n<p>A dot is a bin of equal width, larger where it has more \
         candidates. On the diagonal the probabilities are right; below it they are too high.</p>",
        methods().filter(|it| !it.reliability.is_empty()).map(|method| figure("middle", &plot::reliability(method))),
    );
    plots(
        page,
        "<h3>Separating queries with an answer from those without</h3>\n<p>By the evidence of each method, or its \
         highest probability.</p>",
        methods().filter(|method| !method.roc.is_empty()).map(|method| figure("middle", &plot::roc(method))),
    );
    page.push_str("</section>\n");
}

/// Adds plots below their heading, unless there are none.
fn plots(page: &mut String, head: &str, figures: impl Iterator<Item = String>) {
    let figures: String = figures.collect();
    if !figures.is_empty() {
        page.push_str(&format!("{head}\n<div class=\"plots\">\n{figures}</div>\n"));
    }
}

fn figure(class: &str, svg: &str) -> String {
    format!("<figure class=\"{class}\">\n{svg}</figure>\n")
}

fn rows(table: &Table) -> String {
    let mut html = String::new();
    if !table.note.is_empty() {
        html.push_str(&format!("<p>{}</p>\n", escape(&table.note)));
    }
    html.push_str("<div class=\"table\"><table>\n<thead><tr>");
    for (column, head) in table.header.iter().enumerate() {
        let class = if column == 0 { " class=\"name\"" } else { "" };
        html.push_str(&format!("<th{class}>{}</th>", escape(head)));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (at, row) in table.rows.iter().enumerate() {
        let class = if table.given > 0 && at >= table.given { " class=\"reference\"" } else { "" };
        html.push_str(&format!("<tr{class}>"));
        for (column, cell) in row.iter().enumerate() {
            match column {
                0 => html.push_str(&format!("<th class=\"name\">{}</th>", escape(cell))),
                _ => html.push_str(&format!("<td>{}</td>", escape(cell))),
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}

/// Marks text between backquotes as code.
fn code(escaped: &str) -> String {
    let parts = escaped.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Options, evaluate, example};

    #[test]
    fn a_page_has_every_plot_and_nothing_from_elsewhere() {
        let page = evaluate(&example::collections(), &Options::default()).unwrap().html();
        for title in
            ["Share of best F1", "Precision and recall", "Scores and cuts", "Kept against", "Reliability", "AUROC"]
        {
            assert!(page.contains(title), "{title}");
        }
        let plots = page.matches("<svg ").count();
        // One of differences; of each collection four of budgets, four curves, three of kept, one of reliability, one ROC.
        assert_eq!(plots, 1 + 2 * 13);
        assert_eq!(plots, page.matches("</svg>").count());
        for foreign in ["<script", "<link", "<img", "url(", "@import", "http-equiv"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    }

    #[test]
    fn names_from_data_are_text() {
        let mut collections = example::collections();
        let nasty = "<script>alert('x')</script>\"&";
        collections[0].name = nasty.into();
        collections[0].model = Some(nasty.into());
        for collection in &mut collections {
            collection.methods[0].name = nasty.into();
            for (at, query) in collection.queries.iter_mut().enumerate() {
                query.id = format!("{nasty}{at}");
            }
        }
        let options = Options { baseline: nasty.into(), ..Options::default() };
        let report = evaluate(&collections, &options).unwrap();
        let page = report.html();
        assert!(!page.contains("<script") && !page.contains("alert('"), "an element came from data");
        assert!(page.contains("&lt;script&gt;"));
        assert!(!report.markdown().contains("| <script"));
    }

    #[test]
    fn a_collection_where_nothing_can_be_answered_still_has_a_page() {
        let mut collections = example::collections();
        for query in &mut collections[0].queries {
            query.judged.clear();
            query.documents.truncate(0);
        }
        for decision in collections[0].methods.iter_mut().flat_map(|method| &mut method.decisions) {
            *decision = crate::Decision::default();
        }
        let report = evaluate(&collections[..1], &Options::default()).unwrap();
        assert!(report.collections[0].budget.is_empty() && report.collections[0].samples.is_empty());
        assert!(report.html().contains("Kept against relevant"));
        assert!(report.markdown().contains("| first |"));
    }
}
