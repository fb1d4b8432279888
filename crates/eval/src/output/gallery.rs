//! The gallery in docs/plots.md: each kind of plot as a file of its own, made from the evaluation that the tests use.

use std::fs;
use std::path::Path;

use super::html::STYLE;
use crate::metric::Metric;
use crate::{Options, evaluate, example, plot};

/// Units of the drawing in a pixel of the gallery.
const FINER: f64 = 2.5;

/// The plot as a file: with the colours and the font that the page of a report has.
fn file(svg: &str) -> String {
    let colours = STYLE.split("\nbody ").next().expect("the colours come first").replace(":root", "svg");
    let style =
        format!("<style>{colours}\nsvg {{ background: var(--page); font-family: system-ui, sans-serif; }}</style>");
    let end = svg.find('>').expect("an element");
    let view = svg[..end].split('"').find(|part| part.starts_with("0 0 ")).expect("a view box");
    let [width, height] =
        [2, 3].map(|at| view.split(' ').nth(at).and_then(|size| size.parse::<f64>().ok()).expect("a size"));
    let size = format!(" width=\"{}\" height=\"{}\"", width / FINER, height / FINER);
    format!("{}{size}>\n{style}{}", &svg[..end], &svg[end + 1..])
}

#[test]
fn the_gallery_has_every_plot_as_it_is_drawn_now() {
    let report = evaluate(&example::collections(), &Options::default()).expect("an evaluation");
    let collection = &report.collections[0];
    let method = &collection.methods[0];
    let plots = [
        ("differences", plot::differences(&report, Metric::RelativeF1).expect("two methods")),
        ("budget", plot::budget(collection, Metric::Recall, false)),
        ("curves", plot::curves(collection, &collection.samples[0])),
        ("kept", plot::kept(collection, method)),
        ("reliability", plot::reliability(method)),
        ("roc", plot::roc(method)),
    ];
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("plots.md")).expect("docs/plots.md");
    for (name, svg) in &plots {
        let path = docs.join(format!("images/plots/{name}.svg"));
        let made = file(svg);
        if std::env::var_os("TAMIS_PAGES_WRITE").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, &made).expect("written");
        }
        let same = fs::read_to_string(&path).is_ok_and(|committed| committed == made);
        assert!(same, "docs/images/plots/{name}.svg is out of date; write it: cargo xtask site --write");
        assert!(page.contains(&format!("](images/plots/{name}.svg)")), "docs/plots.md lacks {name}");
    }
    assert_eq!(page.matches("](images/plots/").count(), plots.len());
}
