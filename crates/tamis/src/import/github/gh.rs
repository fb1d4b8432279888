//! Runs `gh api`, once for each page, and reads its answer. It is only ever asked to read (`--method GET`).
//!
//! Pages are not left to `gh api --paginate`, which counts them: an entry that is updated meanwhile would push another one past
//! the page boundary. The headers of a page (`--include`) say if there is another one, and when GitHub's limit ends.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{GithubImport, Stopped};
use crate::error::GithubError;
use crate::progress::Observer;
use crate::server_message::shortened;
use crate::subprocess::{End, Limit};
use crate::{Error, subprocess};

/// The largest answer read. A page has a hundred entries of at most 65,536 characters each.
const LARGEST: usize = 64 << 20;

/// The longest time that a page may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The wait at a limit that names none: GitHub asks for at least a minute.
const WAIT: SignedDuration = SignedDuration::from_secs(60);

/// The exit status of `gh` when it is not logged in.
const NOT_LOGGED_IN: i32 = 4;

/// The lines quoted of `gh`'s error output.
const LINES: usize = 3;

/// The version of the API that the import was written for.
const VERSION: &str = "X-GitHub-Api-Version: 2022-11-28";

/// The reason for a missing answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The import ends here, and the next one goes on.
    Early(Stopped),
    /// The import failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

impl From<GithubError> for Stop {
    fn from(error: GithubError) -> Self {
        Stop::Failed(error.into())
    }
}

/// The answer to a request, as far as callers distinguish it.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A page of a list.
    Page(Page),
    /// GitHub ends the list here, though there is more (422).
    TooFar,
    /// The object is missing: it never existed, or was deleted (404, 410). With the status and the words of `gh`.
    Missing(u16, String),
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) entries: Vec<Value>,
    /// True if there is another page.
    pub(crate) more: bool,
    /// The time of GitHub's answer.
    pub(crate) date: Timestamp,
}

/// Asks one host for one page after another.
pub(crate) struct Gh<'a> {
    program: PathBuf,
    host: &'a str,
    observer: &'a dyn Observer,
    /// The number of pages asked for.
    pub(crate) requests: u64,
}

impl<'a> Gh<'a> {
    pub(crate) fn new(request: &'a GithubImport, observer: &'a dyn Observer) -> Result<Self, GithubError> {
        let host = request.host.as_str();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        if !host.starts_with(|first: char| first.is_ascii_alphanumeric()) || !host.bytes().all(allowed) {
            return Err(GithubError::Host { given: host.to_owned() });
        }
        let program = request.program.clone().or_else(|| subprocess::program("gh")).ok_or(GithubError::NoGh)?;
        Ok(Gh { program, host, observer, requests: 0 })
    }

    /// Requests a page of a list. `path` has only characters that may stand in an address.
    pub(crate) fn page(&mut self, path: &str) -> Result<Answer, Stop> {
        let stopped = || self.observer.cancelled();
        if stopped() {
            return Err(Stop::Early(Stopped::Interrupted));
        }
        self.requests += 1;
        let mut output = Vec::new();
        let limit = Limit { until: Instant::now() + TIMEOUT, stopped: &stopped };
        let ended = subprocess::run(&mut self.command(path), LARGEST, &limit, |piece| {
            output.extend_from_slice(piece);
            ControlFlow::Continue(())
        });
        let name = path.split('?').next().unwrap_or_default();
        let failed = |said: String| GithubError::Failed { path: name.to_owned(), said };
        let ended = ended.map_err(|error| failed(format!("gh cannot be started ({error})")))?;
        if ended.code != Some(0) && stopped() {
            return Err(Stop::Early(Stopped::Interrupted));
        }
        match ended.end {
            End::All => {}
            End::Late => return Err(failed(format!("no answer in {} seconds", TIMEOUT.as_secs())).into()),
            End::TooMuch => return Err(failed(format!("the answer is larger than {} MB", LARGEST >> 20)).into()),
            End::Enough | End::Broken => return Err(failed("the answer breaks off".to_owned()).into()),
        }
        let login = |said: String| GithubError::Login { host: self.host.to_owned(), said };
        if ended.code == Some(NOT_LOGGED_IN) {
            return Err(login(String::new()).into());
        }
        let said = quoted(&ended.complaint);
        let Some(head) = Head::parse(&output) else { return Err(failed(said).into()) };
        match head.status {
            200 if ended.code == Some(0) => Ok(Answer::Page(head.page(name)?)),
            401 => Err(login(format!(": {said}")).into()),
            404 | 410 => Ok(Answer::Missing(head.status, said)),
            422 => Ok(Answer::TooFar),
            _ => Err(match head.limited(&said) {
                Some(until) => Stop::Early(Stopped::RateLimit { until }),
                None => failed(said).into(),
            }),
        }
    }

    fn command(&self, path: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["api", "--method", "GET", "--include", "--hostname", self.host, "--header", VERSION, path]);
        command.envs([("GH_PROMPT_DISABLED", "1"), ("GH_NO_UPDATE_NOTIFIER", "1"), ("NO_COLOR", "1")]);
        // Each of these would put something else into the answer.
        for name in ["CLICOLOR_FORCE", "GH_FORCE_TTY", "GH_DEBUG", "DEBUG"] {
            command.env_remove(name);
        }
        command
    }
}

/// An answer with its headers, as `gh api --include` prints it.
struct Head<'a> {
    status: u16,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a [u8],
}

impl<'a> Head<'a> {
    /// Reads an answer; `None` if its headers are incomplete.
    fn parse(output: &'a [u8]) -> Option<Self> {
        let mut rest = output;
        let mut line = || {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let line = str::from_utf8(rest.get(..end)?).ok()?.trim_end();
            rest = rest.get(end + 1..)?;
            Some(line)
        };
        // HTTP/2.0 200 OK
        let status = line()?.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            match line()? {
                "" => return Some(Head { status, headers, body: rest }),
                other => headers.extend(other.split_once(": ")),
            }
        }
    }

    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    fn seconds(&self, name: &str) -> Option<i64> {
        self.header(name)?.parse().ok()
    }

    /// Returns the time of the answer by GitHub's clock, which the other times are of too.
    fn date(&self) -> Timestamp {
        let date = self.header("date").and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        date.unwrap_or_else(crate::dates::present)
    }

    fn page(&self, path: &str) -> Result<Page, GithubError> {
        let wrong = |error: serde_json::Error| GithubError::Answer {
            path: path.to_owned(),
            reason: format!("no list of entries ({error})"),
        };
        Ok(Page {
            entries: serde_json::from_slice(self.body).map_err(wrong)?,
            more: self.header("link").is_some_and(|links| links.contains("rel=\"next\"")),
            date: self.date(),
        })
    }

    /// Returns the time at which GitHub takes requests again, if a limit is the reason for this answer. See "Rate limits for the
    /// REST API" in GitHub's documentation.
    fn limited(&self, said: &str) -> Option<Timestamp> {
        if !matches!(self.status, 403 | 429) {
            return None;
        }
        let asked = self.seconds("retry-after").map(SignedDuration::from_secs);
        let used_up = self.header("x-ratelimit-remaining") == Some("0");
        let said = said.to_ascii_lowercase();
        let slower = said.contains("secondary rate limit") || said.contains("abuse detection");
        let until = match (asked, used_up && !slower) {
            (Some(asked), _) => self.date().checked_add(asked).ok(),
            (None, true) => self.seconds("x-ratelimit-reset").and_then(|reset| Timestamp::from_second(reset).ok()),
            (None, false) if slower || self.status == 429 => None,
            (None, false) => return None,
        };
        Some(until.unwrap_or_else(|| self.date().saturating_add(WAIT).unwrap_or(Timestamp::MAX)))
    }
}

/// Returns the first lines of `gh`'s error output as one line.
fn quoted(complaint: &str) -> String {
    let lines = complaint.lines().map(|line| line.trim().trim_start_matches("gh: ")).filter(|line| !line.is_empty());
    match shortened(&lines.take(LINES).collect::<Vec<_>>().join("; ")) {
        said if said.is_empty() => "gh gives no answer".to_owned(),
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of 2025-06-01 12:00:00 UTC.
    fn answer(status: &str, headers: &[&str], body: &str) -> String {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        format!("HTTP/2.0 {status}\nDate: Sun, 01 Jun 2025 12:00:00 GMT\r\n{headers}\r\n{body}")
    }

    fn limited(status: &str, headers: &[&str], said: &str) -> Option<String> {
        let answer = answer(status, headers, "{}");
        Head::parse(answer.as_bytes()).expect("whole").limited(said).map(|until| until.to_string()[11..19].to_owned())
    }

    #[test]
    fn a_page_tells_its_time_and_if_there_is_another() {
        let link = r#"Link: <https://h/a?page=1>; rel="prev", <https://h/a?page=3>; rel="next""#;
        for (links, more) in [(&[link][..], true), (&[r#"link: <https://h/a>; rel="last""#], false), (&[], false)] {
            let answer = answer("200 OK", links, "[{\"number\": 1}]\n");
            let page = Head::parse(answer.as_bytes()).expect("whole").page("issues").expect("a list");
            assert_eq!((page.entries.len(), page.more), (1, more));
            assert_eq!(page.date.to_string(), "2025-06-01T12:00:00Z");
        }
        let error =
            Head::parse(answer("200 OK", &[], "{}").as_bytes()).expect("whole").page("issues").expect_err("no list");
        assert!(error.to_string().contains("issues"), "{error}");
        for text in ["", "[]", "HTTP/2.0 200 OK", "HTTP/2.0 OK\n\n", "HTTP/2.0 200 OK\nDate: x\r\n", "gh: 200\n\n"] {
            assert!(Head::parse(text.as_bytes()).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_limit_says_when_it_ends() {
        let used_up = ["X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 1748779800"];
        let slower = "You have exceeded a secondary rate limit. Please wait a few minutes (HTTP 403)";
        for (status, headers, said, until) in [
            ("403 Forbidden", &used_up[..], "API rate limit exceeded", Some("12:10:00")),
            ("429 Too Many Requests", &used_up, "", Some("12:10:00")),
            ("403 Forbidden", &used_up[..1], "", Some("12:01:00")),
            ("403 Forbidden", &["Retry-After: 90"], "", Some("12:01:30")),
            ("403 Forbidden", &["X-Ratelimit-Remaining: 41"], slower, Some("12:01:00")),
            ("429 Too Many Requests", &[], "", Some("12:01:00")),
            ("403 Forbidden", &[], "Resource not accessible by integration", None),
            ("500 Internal Server Error", &used_up, "", None),
        ] {
            assert_eq!(limited(status, headers, said).as_deref(), until, "{status} {headers:?}");
        }
    }

    #[test]
    fn the_first_lines_are_quoted_without_what_steers_a_terminal() {
        assert_eq!(quoted("gh: Not Found (HTTP 404)\n"), "Not Found (HTTP 404)");
        assert_eq!([quoted("a\n\n\u{1b}[2Jb\nc\nd\n"), quoted("\n")], ["a; [2Jb; c", "gh gives no answer"]);
    }
}
