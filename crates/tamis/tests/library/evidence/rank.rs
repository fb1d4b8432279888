//! Ranks and matches, for those who may not read a namespace and where there is nothing. What they find is a transcript.

use crate::evidence::graph::subjects;
use tamis::evidence::{EvidenceTarget, RankRequest, VectorSearchRequest};

#[test]
fn a_namespace_that_may_not_be_read_is_none_and_nothing_is_compared_where_nothing_is() {
    let (_tree, index) = subjects().claim("c1", "t1", "Folic acid makes strokes rarer.").index(&[]);
    let none =
        RankRequest { asker: tamis::search::Asker::with_rights(Some(vec!["other".into()])), ..RankRequest::new("c1") };
    let error = index.evidence().rank(&none).expect_err("refused").to_string();
    assert!(error.starts_with("namespace"), "{error}");
    let search = VectorSearchRequest::new("x");
    let both = VectorSearchRequest { cut: Some("auto".to_owned()), min_similarity: Some(0.5), ..search };
    let error = index.evidence().vector_search(&both).expect_err("refused").to_string();
    assert!(error.contains("left out where a cut (auto) decides"), "{error}");

    let (_tree, empty) = crate::evidence::graph::Graph::default().claim("c", "t", "A claim alone.").index(&[]);
    let fragments = VectorSearchRequest { target: EvidenceTarget::Fragments, ..VectorSearchRequest::new("folic acid") };
    let nothing = empty.evidence().vector_search(&fragments).expect("searched");
    assert_eq!((nothing.total_searched, nothing.cut.reason.as_str()), (0, "there is nothing to compare"));
}
