//! The registry of cut methods: one file and one line each.

use crate::cut::Value;
use crate::method::Method;
use crate::parse::RuleError;
use crate::rule::Rule;

/// Makes a rule from settings by name.
type Build = fn(&[(&str, Value)]) -> Result<Box<dyn Rule>, RuleError>;

/// A method with its builder.
#[derive(Clone, Copy)]
pub(crate) struct Registered {
    pub(crate) method: &'static Method,
    pub(crate) build: Build,
}

/// Declares the module of each method, exports its rule (named first) and other public items, and lists it.
macro_rules! methods {
    ($($module:ident::{$rule:ident $(, $item:ident)*};)*) => {
        $(
            mod $module;
            pub use $module::{$rule $(, $item)*};
        )*

        /// Every method, in the order of the documentation.
        pub static METHODS: &[&Method] = &[$(&$rule::METHOD),*];

        const REGISTERED: &[Registered] = &[$(Registered {
            method: &$rule::METHOD,
            build: |settings| Ok(Box::new($rule::with_settings(settings)?)),
        }),*];
    };
}

methods! {
    auto::{Auto, Basis, Relevance};
    background::{BackgroundShare};
    max_gap::{MaxGap};
    language::{LanguageThreshold};
    top_score::{TopScore, SourceTable};
    kneedle::{Kneedle, Knees, Pick};
    autocut::{Autocut};
    adaptive_k::{AdaptiveK};
    otsu::{Otsu};
    elbow::{Elbow};
    relative::{Relative};
    percentile::{Percentile};
    fixed::{Fixed};
}

/// Every method with its builder.
pub(crate) fn registered() -> impl Iterator<Item = Registered> {
    REGISTERED.iter().copied()
}

/// The method of that name.
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|method| method.name == name)
}
