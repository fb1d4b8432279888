//! Derives the time of the next request from an answer: GitHub's two rate limits, and temporary failures of the server.
//!
//! The primary limit counts requests by the hour and names the time of its reset. The secondary limit depends on the pattern of
//! requests and answers 403 or 429, with a `Retry-After` or a message. Without a time, GitHub asks for at least a minute, and
//! longer each time. See "Rate limits for the REST API" in GitHub's documentation.

use super::transport::Response;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use std::time::Duration;

/// The shortest wait at the secondary limit if the server names none.
const SECONDARY: Duration = Duration::from_secs(60);

/// The wait before the first repetition of a failed request.
const FIRST: Duration = Duration::from_secs(1);

/// The longest wait before a repetition of a failed request.
const LONGEST: Duration = Duration::from_secs(60);

/// The verdict on an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The answer is final.
    Answer,
    /// The requests of this hour are used up. Ask again after this time.
    Primary(Duration),
    /// Requests come too fast. Ask again after at least this time, if the server names one.
    Secondary(Option<Duration>),
    /// The server failed, perhaps temporarily.
    Failed,
}

/// Judges an answer received at `now`.
pub(super) fn judge(response: &Response, now: Timestamp) -> Verdict {
    match response.status {
        403 | 429 => {
            let asked = response.number("retry-after").and_then(seconds);
            let used_up = response.number("x-ratelimit-remaining") == Some(0);
            let message = response.message().to_ascii_lowercase();
            let secondary = message.contains("secondary rate limit") || message.contains("abuse detection");
            match (asked, used_up && !secondary) {
                (Some(asked), _) => Verdict::Secondary(Some(asked)),
                (None, true) => Verdict::Primary(until_reset(response, now).unwrap_or(SECONDARY)),
                (None, false) if secondary || response.status == 429 => Verdict::Secondary(None),
                (None, false) => Verdict::Answer,
            }
        }
        408 | 500.. => Verdict::Failed,
        _ => Verdict::Answer,
    }
}

/// Returns the wait after a good answer that used the hour's last request.
pub(super) fn used_up(response: &Response, now: Timestamp) -> Option<Duration> {
    (response.number("x-ratelimit-remaining") == Some(0)).then(|| until_reset(response, now)).flatten()
}

/// Returns the time until the primary limit resets, plus a second. It uses the server's own clock if the answer has a date.
fn until_reset(response: &Response, now: Timestamp) -> Option<Duration> {
    let reset = response.number("x-ratelimit-reset")?;
    let now = date(response).unwrap_or(now).as_second();
    seconds(reset.saturating_sub(now).max(0).saturating_add(1))
}

/// Returns the time of the answer by the server's clock.
pub(super) fn date(response: &Response) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(response.header("date")?).ok()
}

fn seconds(seconds: i64) -> Option<Duration> {
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// Returns the wait at the secondary limit: the time that the server asks for, or at least a minute. It doubles with each limit
/// in a row, and `chance` (`0..1`) adds up to a quarter.
pub(super) fn secondary_wait(asked: Option<Duration>, before: u32, chance: f64) -> Duration {
    let doubled = |span: Duration| span.saturating_mul(2_u32.saturating_pow(before.min(16)));
    let span = match (asked, before) {
        (Some(asked), 0) => asked,
        (Some(asked), _) => asked.max(doubled(SECONDARY)),
        (None, _) => doubled(SECONDARY),
    };
    span.mul_f64(1.0 + chance / 4.0)
}

/// Returns the wait before a failed request is repeated: a doubling span, of which `chance` (`0..1`) picks a point in the upper
/// half.
pub(super) fn failure_wait(before: u32, chance: f64) -> Duration {
    FIRST.saturating_mul(2_u32.saturating_pow(before.min(16))).min(LONGEST).mul_f64(0.5 + chance / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ureq::http::HeaderMap;
    use ureq::http::header::{HeaderName, HeaderValue};

    /// 2025-06-01 12:00:00 UTC.
    const NOW: i64 = 1_748_779_200;

    fn response(status: u16, headers: &[(&str, &str)], message: &str) -> Response {
        let headers = headers.iter().map(|(name, value)| {
            (name.parse::<HeaderName>().expect("a name"), HeaderValue::from_str(value).expect("a value"))
        });
        let body = serde_json::json!({ "message": message }).to_string().into_bytes();
        Response { status, headers: headers.collect::<HeaderMap>(), body }
    }

    fn judged(status: u16, headers: &[(&str, &str)], message: &str) -> Verdict {
        judge(&response(status, headers, message), Timestamp::from_second(NOW).expect("a time"))
    }

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn limits_and_failures_are_judged_and_waits_grow() {
        let reset = (NOW + 600).to_string();
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
        for status in [403, 429] {
            assert_eq!(judged(status, &used_up, "API rate limit exceeded"), Verdict::Primary(secs(601)));
        }
        // Our clock is ten minutes slow.
        let date = [used_up[0], used_up[1], ("date", "Sun, 01 Jun 2025 12:09:00 GMT")];
        assert_eq!(judged(403, &date, ""), Verdict::Primary(secs(61)));
        let past = [used_up[0], ("x-ratelimit-reset", "1")];
        assert_eq!(judged(403, &past, ""), Verdict::Primary(secs(1)));
        assert_eq!(judged(403, &used_up[..1], ""), Verdict::Primary(secs(60)));

        assert_eq!(judged(403, &[("retry-after", "90")], ""), Verdict::Secondary(Some(secs(90))));
        assert_eq!(judged(429, &[("retry-after", "5")], ""), Verdict::Secondary(Some(secs(5))));
        let said = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
        assert_eq!(judged(403, &[("x-ratelimit-remaining", "41")], said), Verdict::Secondary(None));
        assert_eq!(judged(403, &[], "You have triggered an abuse detection mechanism"), Verdict::Secondary(None));
        assert_eq!(judged(429, &[], ""), Verdict::Secondary(None));
        assert_eq!(judged(403, &[], "Resource not accessible by integration"), Verdict::Answer);
        assert_eq!(judged(403, &[("retry-after", "-1")], ""), Verdict::Answer);

        for status in [408, 500, 502, 503, 504] {
            assert_eq!(judged(status, &[], ""), Verdict::Failed);
        }
        for status in [200, 304, 301, 401, 404, 410, 422, 451] {
            assert_eq!(judged(status, &[("x-ratelimit-remaining", "0")], ""), Verdict::Answer);
        }

        let minutes = |before, chance| secondary_wait(None, before, chance).as_secs_f64() / 60.0;
        assert_eq!([minutes(0, 0.0), minutes(1, 0.0), minutes(2, 0.0)], [1.0, 2.0, 4.0]);
        assert_eq!(minutes(0, 1.0), 1.25);
        assert_eq!(secondary_wait(Some(secs(5)), 0, 0.0), secs(5));
        assert_eq!(secondary_wait(Some(secs(5)), 1, 0.0), secs(120));
        assert_eq!([failure_wait(0, 1.0), failure_wait(3, 1.0), failure_wait(9, 1.0)], [secs(1), secs(8), secs(60)]);
        assert_eq!(failure_wait(1, 0.0), secs(1));
        assert!(secondary_wait(None, u32::MAX, 1.0) > failure_wait(u32::MAX, 1.0));
    }
}
