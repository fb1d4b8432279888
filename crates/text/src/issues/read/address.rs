//! The repository and number of an issue, from its address on a tracker.

use std::fmt;

/// The words between a repository and a number.
const KINDS: [&str; 4] = ["issues", "pull", "pulls", "merge_requests"];

/// The software of a tracker, which its addresses may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Software {
    Gitlab,
    /// Gitea or Forgejo.
    Gitea,
}

/// A repository as its addresses name it. Every host has repositories of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The host, in lower case; `None` where only the name is known.
    pub host: Option<String>,
    /// `OWNER/REPO` (`GROUP/SUBGROUP/PROJECT` on GitLab).
    pub name: String,
    /// `None`: nothing shows it.
    pub software: Option<Software>,
}

impl Repository {
    /// Returns a repository on an unknown host.
    pub fn named(name: String) -> Repository {
        Repository { host: None, name, software: None }
    }

    /// Returns `true` if both are one repository, as far as they are known.
    pub fn is(&self, other: &Repository) -> bool {
        let is_elsewhere = self.host.as_ref().zip(other.host.as_ref()).is_some_and(|(host, other)| host != other);
        self.name.eq_ignore_ascii_case(&other.name) && !is_elsewhere
    }

    /// Takes over what another record knows of it besides the name.
    pub fn learn(&mut self, other: Repository) {
        self.host = self.host.take().or(other.host);
        self.software = self.software.or(other.software);
    }

    /// Returns the name of the tracker: `github:OWNER/REPO`, or `github:HOST/OWNER/REPO` on another host than github.com. `is_gitlab`:
    /// the format is GitLab's.
    pub fn tracker(&self, is_gitlab: bool) -> String {
        let (software, home) = match self.software {
            _ if is_gitlab => ("gitlab", "gitlab.com"),
            Some(Software::Gitlab) => ("gitlab", "gitlab.com"),
            Some(Software::Gitea) => ("gitea", ""),
            None => ("github", GITHUB),
        };
        match &self.host {
            Some(host) if host != home => format!("{software}:{host}/{}", self.name),
            _ => format!("{software}:{}", self.name),
        }
    }
}

const GITHUB: &str = "github.com";

impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) if host != GITHUB => write!(formatter, "{host}/{}", self.name),
            _ => formatter.write_str(&self.name),
        }
    }
}

/// The repository of the address of an issue, a comment or a repository of an API.
pub(super) fn repository(address: &str) -> Option<Repository> {
    let (_, rest) = address.split_once("://")?;
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let parts: Vec<&str> = path.split(['/', '#', '?']).collect();
    let is_gitlab = parts.contains(&"-") || host.contains("gitlab");
    let is_gitea = parts.starts_with(&["api", "v1"]) || ["gitea", "forgejo"].iter().any(|name| host.contains(name));
    let software = match is_gitlab {
        true => Some(Software::Gitlab),
        false => (is_gitea || host == "codeberg.org").then_some(Software::Gitea),
    };
    let of = |host: &str, parts: &[&str]| {
        let host = host.strip_prefix("www.").unwrap_or(host);
        Some(Repository { host: Some(host.to_owned()), name: full(parts)?, software })
    };
    if let Some(at) = parts.iter().position(|part| *part == "repos")
        && (host.starts_with("api.") || parts.first() == Some(&"api"))
        && let [owner, name, ..] = parts.get(at + 1..)?
    {
        // An API with a host of its own.
        let host = if at == 0 { host.strip_prefix("api.").unwrap_or(&host) } else { &host };
        return of(host, &[owner, name]);
    }
    // An owner or a repository may be called like a kind, but nothing stands before both of them.
    let bare = || (2..parts.len()).find(|&at| KINDS.contains(&parts[at]));
    let divided = (2..parts.len()).find(|&at| parts[at] == "-");
    let end = divided.or_else(|| numbered(&parts).map(|(at, _)| at)).or_else(bare)?;
    of(&host, parts.get(..end)?)
}

/// The repository that several addresses of one record name.
pub(super) fn repository_of<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Option<Repository> {
    let mut named = addresses.into_iter().filter_map(repository);
    let mut first = named.next()?;
    for other in named {
        first.software = first.software.or(other.software);
    }
    Some(first)
}

fn full(parts: &[&str]) -> Option<String> {
    (parts.len() >= 2 && parts.iter().all(|part| !part.is_empty())).then(|| parts.join("/"))
}

/// The place of the kind before the number, and the number.
fn numbered(parts: &[&str]) -> Option<(usize, u64)> {
    let number = |at: usize| parts[at + 1].parse().ok().filter(|number| *number > 0);
    let kinds = (0..parts.len().saturating_sub(1)).rev().filter(|&at| KINDS.contains(&parts[at]));
    kinds.filter_map(|at| Some((at, number(at)?))).next()
}

/// The number of the issue or pull request that an address belongs to.
pub(super) fn number(address: &str) -> Option<u64> {
    let parts: Vec<&str> = address.split(['/', '#', '?']).collect();
    numbered(&parts).map(|(_, number)| number)
}

/// Returns `true` if an address is that of a pull request or merge request.
pub(super) fn is_pull(address: &str) -> bool {
    let parts: Vec<&str> = address.split(['/', '#', '?']).collect();
    let is_pull = |part: &str| part != KINDS[0] && KINDS.contains(&part);
    numbered(&parts).map_or_else(|| parts.iter().any(|part| is_pull(part)), |(at, _)| is_pull(parts[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_host_repository_and_number() {
        for (address, tracker, which) in [
            ("https://github.com/ada/engine/issues/12", Some("github:ada/engine"), Some(12)),
            ("https://github.com/ada/engine/pull/7#discussion_r99", Some("github:ada/engine"), Some(7)),
            ("https://api.github.com/repos/ada/engine/issues/12", Some("github:ada/engine"), Some(12)),
            ("https://api.github.com/repos/ada/engine", Some("github:ada/engine"), None),
            ("https://GHE.corp.example/acme/widget/issues/1", Some("github:ghe.corp.example/acme/widget"), Some(1)),
            (
                "https://ghe.corp.example/api/v3/repos/acme/widget/pulls/3",
                Some("github:ghe.corp.example/acme/widget"),
                Some(3),
            ),
            ("https://api.acme.ghe.com/repos/acme/widget/issues/3", Some("github:acme.ghe.com/acme/widget"), Some(3)),
            ("https://codeberg.org/ada/engine/issues/4", Some("gitea:codeberg.org/ada/engine"), Some(4)),
            (
                "https://git.example.org/api/v1/repos/ada/engine/issues/4",
                Some("gitea:git.example.org/ada/engine"),
                Some(4),
            ),
            ("https://gitlab.com/math/tools/engine/-/issues/4", Some("gitlab:math/tools/engine"), Some(4)),
            (
                "https://gitlab.example.org/ada/engine/merge_requests/5",
                Some("gitlab:gitlab.example.org/ada/engine"),
                Some(5),
            ),
            ("https://github.com/ada/issues/issues/12#issuecomment-7", Some("github:ada/issues"), Some(12)),
            ("https://github.com/issues/pull/pull/3", Some("github:issues/pull"), Some(3)),
            ("https://api.github.com/repos/ada/issues/issues/12", Some("github:ada/issues"), Some(12)),
            ("https://gitlab.com/ada/issues/-/issues/4", Some("gitlab:ada/issues"), Some(4)),
            ("https://github.com/ada/issues", None, None),
            ("https://github.com/repos/engine/issues/2", Some("github:repos/engine"), Some(2)),
            ("https://github.com/ada", None, None),
            ("https://github.com/issues/0", None, None),
            ("no address", None, None),
        ] {
            let named = repository(address).map(|repository| repository.tracker(false));
            assert_eq!((named.as_deref(), number(address)), (tracker, which), "{address}");
        }
        assert!(!is_pull("https://github.com/ada/pull/issues/7") && is_pull("https://github.com/ada/issues/pull/7"));
        assert!(is_pull("https://github.com/ada/engine/pull/7") && !is_pull("https://github.com/ada/pulley/issues/7"));
    }
}
