//! The namespace of a call on the evidence graph: always exactly one.

use super::EvidenceGraph;
use crate::Error;

impl EvidenceGraph<'_> {
    /// Returns the namespace of a call: the one named, or else the index's own. `allowed`: the namespaces the caller
    /// may read; `None`: all.
    ///
    /// # Errors
    /// A missing or unreadable namespace, which give the same error, or no namespace named and no own one.
    pub(crate) fn namespace(&self, named: Option<&str>, allowed: Option<&[String]>) -> Result<String, Error> {
        let mut names = self.index.namespace_names()?;
        names.retain(|name| allowed.is_none_or(|allowed| allowed.contains(name)));
        let wanted = match (named, self.index.own_namespace(), names.as_slice()) {
            (Some(named), _, _) => Some(named),
            (None, Some(own), _) if names.iter().any(|name| name == own) => Some(own),
            (None, _, [only]) => Some(only.as_str()),
            _ => None,
        };
        match wanted.filter(|wanted| names.iter().any(|name| name == wanted)) {
            Some(wanted) => Ok(wanted.to_owned()),
            None => {
                let value = named.map_or_else(|| "none".to_owned(), |named| format!("{named:?}"));
                Err(Error::argument("namespace", value, format!("one of {}", names.join(", "))))
            }
        }
    }
}
