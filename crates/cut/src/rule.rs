//! The seam: what every cut method is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::admission::{Admission, RawScores};
use crate::cut::Cut;
use crate::method::Method;
use crate::parse::RuleError;
use crate::pool::Pool;
use crate::value::Value;

/// Which of a hybrid search's lists a rule is made for. A rule works on any pool; this says which one its constants
/// were chosen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The fused score that orders the candidates. Never a reciprocal-rank score, which says nothing of relevance.
    Score,
    /// The cosine similarity to the query (distance = 1 − similarity), as adjusted by reranking.
    Similarity,
    /// 0.7 · similarity + 0.3 · r/(1+r), with r the raw BM25 value.
    Weighted,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Score => "score",
            Scale::Similarity => "similarity",
            Scale::Weighted => "weighted",
        })
    }
}

/// The parameters of a rule, by name. Every method implements it from the one declaration of its parameters.
pub trait Settings {
    /// The method's description: name, summary, parameters.
    fn method(&self) -> &'static Method;

    /// The value of each parameter, in the order of the description.
    fn settings(&self) -> Vec<(&'static str, Value)>;

    /// Whether every parameter is within its range; for structs that were filled in by hand or by a configuration
    /// file. A rule with values out of range does not panic, but its answer means little.
    ///
    /// # Errors
    /// [`RuleError::OutOfRange`] or [`RuleError::OutOfOrder`], naming the parameter, the value and what is allowed.
    fn check(&self) -> Result<(), RuleError>;

    /// A copy behind the trait.
    fn boxed(&self) -> Box<dyn Rule>;
}

/// A configured cut method: a pure function from a pool to a cut.
///
/// ```
/// use tamis_cut::{Pool, Rule, TopScore};
///
/// let pool = Pool::scores([0.8, 0.5, 0.41, 0.39])?;
/// let cut = TopScore::default().cut(&pool);
/// assert_eq!((cut.keep, cut.threshold), (3, Some(0.4)));
/// # Ok::<(), tamis_cut::PoolError>(())
/// ```
pub trait Rule: Settings + fmt::Debug + Send + Sync {
    /// Decides how many of the pool's candidates to keep. Never panics, and gives equal pools equal answers.
    fn cut(&self, pool: &Pool) -> Cut;

    /// Whether [`Pool::size`] makes a difference to it as it is set. Counting tokens takes time that other rules save.
    fn reads_sizes(&self) -> bool {
        false
    }

    /// Whether it asks for the similarity that each candidate's language needs ([`RawScores::threshold`]). Finding it takes time
    /// that other rules save.
    fn reads_thresholds(&self) -> bool {
        false
    }

    /// Whether it holds the candidates of some sources to tables of their own ([`Pool::with_source_tables`]). Finding those
    /// takes time that other rules save.
    fn reads_sources(&self) -> bool {
        false
    }

    /// Whether it is defined on distances that age has moved. Others can be given such, and are not unless that is asked for.
    fn is_of_aged_distances(&self) -> bool {
        false
    }

    /// Whether it admits a candidate by that one's own raw scores, before anything is fused or reranked; `None` for a rule
    /// that looks at the list. A pool that was admitted to says so with [`Pool::with_admitted`], and then all who were
    /// admitted are kept.
    fn admits(&self, candidate: &RawScores) -> Option<Admission> {
        let _ = candidate;
        None
    }

    /// The method's name, as [`parse`](crate::parse()) takes it.
    fn name(&self) -> &'static str {
        self.method().name
    }

    /// Which list of a hybrid search the method is made for.
    fn scale(&self) -> Scale {
        self.method().scale
    }
}

impl Clone for Box<dyn Rule> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// The rule as text that [`parse`](crate::parse()) reads back: `METHOD:PARAM=VALUE,…` with every parameter.
impl fmt::Display for dyn Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (index, (name, value)) in self.settings().iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}
