//! The domain of a URL.

/// Returns the host of a URL in lower case, without its port and without a leading `www.`: `example.org` for
/// `https://www.Example.org:8080/a?b`; `None` for a text without a host, such as a DOI or a path.
///
/// Only the parts of RFC 3986, section 3 up to the host are parsed, so that a URL that is malformed after its host, as many in
/// web pages are, has a domain too.
pub fn domain(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|part| part.is_ascii_alphanumeric() || matches!(part, '+' | '-' | '.'));
    // Browsers treat a backslash as a slash.
    let authority = rest.split(['/', '?', '#', '\\']).next().filter(|_| is_scheme)?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let host = host.trim_end_matches('.').to_lowercase();
    let host = host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(&host);
    let fits = !host.is_empty() && !host.contains(|part: char| part.is_whitespace() || part.is_control());
    fits.then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::domain;

    #[test]
    fn hosts_are_found_and_written_alike() {
        let cases = [
            ("https://www.Example.org:8080/a?b=https://other.net", Some("example.org")),
            ("http://example.org", Some("example.org")),
            ("https://user:secret@docs.example.org./x", Some("docs.example.org")),
            ("https://example.org?q=1@evil.net", Some("example.org")),
            ("https://example.org#www.x", Some("example.org")),
            ("https://example.org\\@evil.net", Some("example.org")),
            ("https://[2001:DB8::1]:443/", Some("2001:db8::1")),
            ("https://de.wikipedia.org/wiki/Käse kuchen", Some("de.wikipedia.org")),
            ("https://Käse.example", Some("käse.example")),
            ("https://www.com/", Some("www.com")),
            ("https://www2.example.org", Some("www2.example.org")),
            ("ftp://files.example.org/a", Some("files.example.org")),
            ("  https://example.org/  ", Some("example.org")),
            ("file:///etc/hosts", None),
            ("10.1038/nature12373", None),
            ("doi:10.1038/nature12373", None),
            ("/a/b://c", None),
            ("https://", None),
            ("https://:80/", None),
            ("https://[::1/", None),
            ("https://a b.org/", None),
            ("mailto:ada@example.org", None),
            ("", None),
        ];
        for (url, expected) in cases {
            assert_eq!(domain(url).as_deref(), expected, "{url}");
        }
    }
}
