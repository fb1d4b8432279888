//! The page for people: the files that a browser loads, embedded in the program.
//!
//! They are plain modules without a build step. All that they show comes from the JSON API of the same server.

/// A file of the page.
pub(crate) struct Asset {
    /// Its path on the server.
    pub path: &'static str,
    pub content_type: &'static str,
    pub body: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

/// What the page may load: its own files and the API of its own server. No inline code, no other site, and no other site may frame it.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

macro_rules! asset {
    ($path:literal, $content_type:expr, $file:literal) => {
        Asset { path: $path, content_type: $content_type, body: include_str!(concat!("../page/", $file)) }
    };
}

pub(crate) static ASSETS: [Asset; 24] = [
    asset!("/", HTML, "index.html"),
    asset!("/page/style.css", STYLE, "style.css"),
    asset!("/page/icon.svg", IMAGE, "icon.svg"),
    asset!("/page/main.js", SCRIPT, "main.js"),
    asset!("/page/api.js", SCRIPT, "api.js"),
    asset!("/page/editor.js", SCRIPT, "editor.js"),
    asset!("/page/elements.js", SCRIPT, "elements.js"),
    asset!("/page/labels.js", SCRIPT, "labels.js"),
    asset!("/page/home.js", SCRIPT, "home.js"),
    asset!("/page/recent.js", SCRIPT, "recent.js"),
    asset!("/page/filters.js", SCRIPT, "filters.js"),
    asset!("/page/search.js", SCRIPT, "search.js"),
    asset!("/page/curve.js", SCRIPT, "curve.js"),
    asset!("/page/highlight.js", SCRIPT, "highlight.js"),
    asset!("/page/document.js", SCRIPT, "document.js"),
    asset!("/page/thread.js", SCRIPT, "thread.js"),
    asset!("/page/claim.js", SCRIPT, "claim.js"),
    asset!("/page/compare.js", SCRIPT, "compare.js"),
    asset!("/page/insights.js", SCRIPT, "insights.js"),
    asset!("/page/plots.js", SCRIPT, "plots.js"),
    asset!("/page/report.js", SCRIPT, "report.js"),
    asset!("/page/evidence.js", SCRIPT, "evidence.js"),
    asset!("/page/contents.js", SCRIPT, "contents.js"),
    asset!("/page/events.js", SCRIPT, "events.js"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_name_only_each_other_and_hold_no_inline_code() {
        for Asset { path, body, .. } in &ASSETS {
            for outside in ["http://", "https://", "//cdn", "@import"] {
                let own = body.replace("http://www.w3.org/2000/svg", "");
                assert!(!own.contains(outside), "{path} mentions {outside}");
            }
            for inline in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
                assert!(!body.contains(inline), "{path} has {inline}: text of the index would become markup");
            }
            if *path == "/" {
                assert!(!body.contains("style=") && !body.contains("onclick") && !body.contains("<script>"));
            }
            for import in body.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next()) {
                let known = ASSETS.iter().any(|asset| asset.path == format!("/page/{import}"));
                assert!(known, "{path} imports {import}");
            }
        }
    }
}
