//! The `cfg` conditions of a platform.

use anyhow::{Context, Result, ensure};
use std::collections::HashSet;
use std::process::Command;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The `cfg` values of a platform, as the compiler prints them.
#[derive(Debug, Clone)]
pub struct Conditions {
    flags: HashSet<String>,
    values: HashSet<(String, String)>,
}

impl Conditions {
    /// Asks the compiler, which needs no standard library of the platform for this.
    pub fn of(platform: &str) -> Result<Conditions> {
        let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let output = Command::new(&compiler)
            .args(["--print", "cfg", "--target", platform])
            .output()
            .with_context(|| format!("{compiler} cannot be started"))?;
        ensure!(
            output.status.success(),
            "{compiler} does not know {platform}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(Conditions::parse(&String::from_utf8(output.stdout)?))
    }

    fn parse(text: &str) -> Conditions {
        let (mut flags, mut values) = (HashSet::new(), HashSet::new());
        for line in text.lines() {
            match line.split_once('=') {
                Some((key, value)) => values.insert((key.to_owned(), value.trim_matches('"').to_owned())),
                None => flags.insert(line.to_owned()),
            };
        }
        Conditions { flags, values }
    }

    /// Returns the same conditions for a build with or without tests.
    pub fn with_test(&self, tests: bool) -> Conditions {
        let mut conditions = self.clone();
        if tests {
            conditions.flags.insert("test".into());
        } else {
            conditions.flags.remove("test");
        }
        conditions
    }

    /// Returns true when an item with these attributes is compiled.
    pub fn keep(&self, attributes: &[Attribute]) -> bool {
        self.metas(attributes).iter().all(|meta| match meta {
            Meta::List(list) if list.path.is_ident("cfg") => {
                list.parse_args::<Meta>().map_or(true, |condition| self.hold(&condition))
            }
            _ => true,
        })
    }

    /// Returns the file that `#[path]` names.
    pub fn path(&self, attributes: &[Attribute]) -> Option<String> {
        self.metas(attributes).into_iter().find_map(|meta| match meta {
            Meta::NameValue(value) if value.path.is_ident("path") => text(&value.value),
            _ => None,
        })
    }

    /// Returns the attributes, including those of every `cfg_attr` that holds.
    fn metas(&self, attributes: &[Attribute]) -> Vec<Meta> {
        let mut metas = Vec::new();
        for attribute in attributes {
            match &attribute.meta {
                Meta::List(list) if list.path.is_ident("cfg_attr") => {
                    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                    let mut parts = parser.parse2(list.tokens.clone()).unwrap_or_default().into_iter();
                    if parts.next().is_some_and(|condition| self.hold(&condition)) {
                        metas.extend(parts);
                    }
                }
                meta => metas.push(meta.clone()),
            }
        }
        metas
    }

    /// Returns true when a condition holds. Features count as on.
    fn hold(&self, condition: &Meta) -> bool {
        match condition {
            Meta::Path(path) => path.get_ident().is_some_and(|name| self.flags.contains(&name.to_string())),
            Meta::NameValue(value) => {
                let Some(name) = value.path.get_ident() else { return true };
                let wanted = text(&value.value).unwrap_or_default();
                name == "feature" || self.values.contains(&(name.to_string(), wanted))
            }
            Meta::List(list) => {
                let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                let mut parts = parser.parse2(list.tokens.clone()).unwrap_or_default().into_iter();
                if list.path.is_ident("not") {
                    !parts.all(|part| self.hold(&part))
                } else if list.path.is_ident("any") {
                    parts.any(|part| self.hold(&part))
                } else {
                    parts.all(|part| self.hold(&part))
                }
            }
        }
    }
}

fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_the_platform() {
        let windows = Conditions::parse("windows\ntarget_os=\"windows\"\ntarget_arch=\"x86_64\"\n");
        let keeps = |text: &str| {
            let item: syn::ItemFn = syn::parse_str(&format!("{text} fn f() {{}}")).expect("a function");
            windows.keep(&item.attrs)
        };
        assert!(keeps("#[cfg(windows)]"));
        assert!(!keeps("#[cfg(unix)]"));
        assert!(keeps("#[cfg(not(unix))] #[inline]"));
        assert!(!keeps("#[cfg(target_os = \"linux\")]"));
        assert!(keeps("#[cfg(any(target_os = \"linux\", all(windows, target_arch = \"x86_64\")))]"));
        assert!(!keeps("#[cfg(test)]"));
        assert!(!keeps("#[cfg_attr(windows, cfg(unix))]"));
        assert!(keeps("#[cfg_attr(unix, cfg(unix))]"));
    }
}
