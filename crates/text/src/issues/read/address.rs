//! The repository and number of an issue, from its address on a tracker.

/// The words between a repository and a number.
const KINDS: [&str; 4] = ["issues", "pull", "pulls", "merge_requests"];

/// `OWNER/REPO` (`GROUP/SUBGROUP/PROJECT` on GitLab) of the address of an issue, a comment or a repository of an API.
pub(super) fn repository(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let path = rest.split_once('/')?.1;
    let parts: Vec<&str> = path.split(['/', '#', '?']).collect();
    if let Some(at) = parts.iter().position(|part| *part == "repos")
        && (at == 0 || parts.first() == Some(&"api"))
        && let [owner, name, ..] = parts.get(at + 1..)?
    {
        return full(&[owner, name]);
    }
    let end = parts.iter().position(|part| *part == "-" || KINDS.contains(part))?;
    full(parts.get(..end)?)
}

fn full(parts: &[&str]) -> Option<String> {
    (parts.len() >= 2 && parts.iter().all(|part| !part.is_empty())).then(|| parts.join("/"))
}

/// The number of the issue or pull request that an address belongs to.
pub(super) fn number(address: &str) -> Option<u64> {
    let mut parts = address.split(['/', '#', '?']).skip_while(|part| !KINDS.contains(part));
    parts.next()?;
    parts.next()?.parse().ok().filter(|number| *number > 0)
}

/// Returns `true` if an address is that of a pull request or merge request.
pub(super) fn is_pull(address: &str) -> bool {
    address.split('/').any(|part| KINDS.get(1..).is_some_and(|pulls| pulls.contains(&part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_repository_and_number() {
        for (address, whose, which) in [
            ("https://github.com/ada/engine/issues/12", Some("ada/engine"), Some(12)),
            ("https://github.com/ada/engine/pull/7#discussion_r99", Some("ada/engine"), Some(7)),
            ("https://api.github.com/repos/ada/engine/issues/12", Some("ada/engine"), Some(12)),
            ("https://api.github.com/repos/ada/engine", Some("ada/engine"), None),
            ("https://git.example.org/api/v3/repos/ada/engine/pulls/3", Some("ada/engine"), Some(3)),
            ("https://gitlab.com/math/tools/engine/-/issues/4", Some("math/tools/engine"), Some(4)),
            ("https://gitlab.example.org/ada/engine/merge_requests/5", Some("ada/engine"), Some(5)),
            ("https://github.com/ada", None, None),
            ("https://github.com/issues/0", None, None),
            ("no address", None, None),
        ] {
            assert_eq!((repository(address).as_deref(), number(address)), (whose, which), "{address}");
        }
        assert!(is_pull("https://github.com/ada/engine/pull/7") && !is_pull("https://github.com/ada/pulley/issues/7"));
    }
}
