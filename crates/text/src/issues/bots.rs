//! Recognises the accounts of programs.

/// Programs that write under a plain account, or whose name some sources give without its `[bot]`: of continuous
/// integration, coverage, dependency updates, contributor agreements and review queues. Lower case.
const WELL_KNOWN: &[&str] = &[
    "allcontributors", "amplabjenkins", "appveyor", "asfgit", "bors", "bors-servo", "cla-assistant", "claassistant",
    "codecov", "codecov-commenter", "codecov-io", "coderabbitai", "copilot", "coveralls", "dependabot",
    "dependabot-preview", "easycla", "gemini-code-assist", "github-actions", "googlebot", "greenkeeper",
    "greenkeeperio-bot", "hadoop-yetus", "homu", "houndci-bot", "linux-foundation-easycla", "lgtm-com", "mergify",
    "msftbot", "netlify", "pre-commit-ci", "pyup-bot", "renovate", "rfcbot", "rust-highfive", "rust-log-analyzer",
    "rust-timer", "rustbot", "snyk-bot", "sonarcloud", "sonarqubecloud", "sparkqa", "stale", "travis-ci", "vercel",
    "welcome-bot",
];

/// Returns `true` if the account `login` belongs to a program: by GitHub's ending `[bot]` or beginning `app/`, by
/// GitLab's names of access tokens (`project_12_bot_1f`, `group_3_bot`), by an ending such as `-bot`, or because it is
/// well known.
pub(super) fn is_bot(login: &str) -> bool {
    let login = login.to_lowercase();
    login.ends_with("[bot]")
        || login.starts_with("app/")
        || ["-bot", "_bot", "-robot", "-ci-bot"].iter().any(|end| login.ends_with(end))
        || is_access_token(&login)
        || WELL_KNOWN.contains(&login.as_str())
}

/// `project_12_bot_1f`, `group_3_bot1`, `service_account_group_7_3c`.
fn is_access_token(login: &str) -> bool {
    let numbered = |rest: &str| {
        let after = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        after.len() < rest.len() && after.starts_with("_bot")
    };
    login.starts_with("service_account_group_")
        || ["project_", "group_"].iter().any(|start| login.strip_prefix(start).is_some_and(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_differ_from_people() {
        for login in [
            "dependabot[bot]", "Renovate[bot]", "app/dependabot", "github-actions", "codecov-io", "CLAassistant",
            "rust-log-analyzer", "k8s-ci-robot", "gitlab-bot", "project_12_bot_1f09", "group_3_bot1",
        ] {
            assert!(is_bot(login), "{login}");
        }
        for login in
            ["talbot", "abbott", "robotnik", "ada", "", "bot-fan", "project_manager", "group_12_people", "Žofie"]
        {
            assert!(!is_bot(login), "{login}");
        }
    }
}
