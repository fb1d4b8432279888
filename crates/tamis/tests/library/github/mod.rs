//! The import from GitHub, with a `gh` that asks the test.

#![cfg(unix)]

mod failing;
mod gh;
mod reading;

use crate::support::Tree;
use gh::{FakeGh, World, comment, issue, pull, remark, review};
use std::collections::BTreeMap;
use tamis::import::{GithubImport, GithubReport};
use tamis::{Error, Index, Observer};

/// A repository with a little of everything; two entries on a page.
fn world() -> World {
    let mut closed = issue(2, "Valve sticks in the cold", 20, 220);
    closed["state"] = "closed".into();
    World {
        issues: vec![
            issue(1, "Boiler whistles", 10, 210),
            closed,
            pull(3, "Oil the valve", 30, 230),
            issue(4, "Gauge shows nothing", 40, 240),
            issue(5, "Crank turns backwards", 50, 250),
        ],
        comments: vec![
            comment(71, 1, 110, "A loose washer was the reason; a new one ended the whistling."),
            comment(72, 2, 120, "Graphite grease helps below zero degrees."),
            comment(73, 3, 130, "Thank you for the oil."),
        ],
        remarks: vec![remark(81, 3, 140, "This line leaks oil."), remark(82, 3, 141, "So does this one.")],
        reviews: BTreeMap::from([(3, vec![review(91, 3, 150, "Works on the test bench.")])]),
        root: "repos/ada/engine".into(),
        page: 2,
        pages: 100,
        ..World::default()
    }
}

/// GitHub and an index.
struct Bench {
    gh: FakeGh,
    tree: Tree,
}

impl Bench {
    fn new(world: World) -> Self {
        Bench { gh: FakeGh::start(world), tree: Tree::new(&[]) }
    }

    /// With an index that is open.
    fn opened(world: World) -> (Self, Index) {
        let bench = Bench::new(world);
        let index = bench.open();
        (bench, index)
    }

    /// With an index into which it was imported.
    fn imported(world: World) -> (Self, Index, GithubReport) {
        let (bench, index) = Bench::opened(world);
        let report = bench.import(&index);
        (bench, index, report)
    }

    fn open(&self) -> Index {
        self.tree.open(&[])
    }

    fn request(&self) -> GithubImport {
        let request = GithubImport::new("ada/engine".parse().expect("a repository"));
        GithubImport { program: Some(self.gh.program()), ..request }
    }

    fn import(&self, index: &Index) -> GithubReport {
        try_import(index, &self.request(), &()).expect("imported")
    }

    fn error(&self, index: &Index) -> String {
        try_import(index, &self.request(), &()).expect_err("refused").to_string()
    }
}

fn try_import(index: &Index, request: &GithubImport, observer: &dyn Observer) -> Result<GithubReport, Error> {
    index.imports().github(request, observer)
}

/// All that the index holds of the repository: each issue by its path, as printed.
fn held(index: &Index) -> BTreeMap<String, String> {
    let documents = index.contents().documents(index.namespace()).expect("listed");
    let whole = |path: String| {
        let passages = index.contents().document_passages(index.namespace(), &path).expect("read");
        let text = passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n");
        (path, text)
    };
    documents.into_iter().map(|document| whole(document.path)).collect()
}
