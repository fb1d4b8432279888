//! What a run may spend, and what it has spent.

use serde::Serialize;
use std::fmt;
use tamis_embed::ChatReply;

/// The most that one run may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct JudgeBudget {
    /// Calls of the model.
    pub calls: u64,
    /// Tokens of prompts and replies together.
    pub tokens: u64,
}

impl Default for JudgeBudget {
    /// 200 calls and 500,000 tokens.
    fn default() -> Self {
        JudgeBudget { calls: 200, tokens: 500_000 }
    }
}

/// What a run has spent. Tokens are those that the endpoint counted, or else an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JudgeSpent {
    /// Calls of the model.
    pub calls: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens of the replies.
    pub reply_tokens: u64,
}

/// Why a run ended before everything was graded. Running again goes on from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeStop {
    /// The calls of the budget were made.
    Calls,
    /// The next call would exceed the tokens of the budget.
    Tokens,
    /// The observer stopped it.
    Interrupted,
}

impl fmt::Display for JudgeStop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            JudgeStop::Calls => "the calls of the budget are made",
            JudgeStop::Tokens => "the tokens of the budget do not reach for another call",
            JudgeStop::Interrupted => "interrupted",
        })
    }
}

/// Tokens that a reply is expected to have: a sentence and a score.
pub(super) const EXPECTED_REPLY: u64 = 80;

/// The tokens of a prompt, where nobody has counted them.
pub(super) fn estimated(prompt: &str) -> u64 {
    tamis_text::estimate_tokens(prompt) as u64
}

impl JudgeSpent {
    /// Whether another call fits into a budget.
    pub(super) fn check(&self, budget: JudgeBudget, prompt: &str) -> Result<(), JudgeStop> {
        if self.calls >= budget.calls {
            return Err(JudgeStop::Calls);
        }
        let after = self.prompt_tokens + self.reply_tokens + estimated(prompt) + EXPECTED_REPLY;
        if after > budget.tokens { Err(JudgeStop::Tokens) } else { Ok(()) }
    }

    /// Adds a call.
    pub(super) fn add(&mut self, prompt: &str, reply: &ChatReply) {
        self.calls += 1;
        self.prompt_tokens += reply.prompt_tokens.unwrap_or_else(|| estimated(prompt));
        self.reply_tokens += reply.reply_tokens.unwrap_or_else(|| estimated(&reply.text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_before_it_is_exceeded() {
        let reply = ChatReply { text: "so".into(), cut_off: false, prompt_tokens: Some(300), reply_tokens: Some(20) };
        let mut spent = JudgeSpent::default();
        let budget = JudgeBudget { calls: 2, tokens: 800 };
        let prompt = "one two three";
        assert_eq!(spent.check(budget, prompt), Ok(()));
        spent.add(prompt, &reply);
        assert_eq!(spent.check(budget, prompt), Ok(()));
        assert_eq!(spent.check(budget, &"word ".repeat(2000)), Err(JudgeStop::Tokens));
        spent.add(prompt, &reply);
        assert_eq!(spent.check(budget, prompt), Err(JudgeStop::Calls));
        assert_eq!(spent, JudgeSpent { calls: 2, prompt_tokens: 600, reply_tokens: 40 });
        let uncounted = ChatReply { prompt_tokens: None, reply_tokens: None, ..reply };
        spent.add(prompt, &uncounted);
        assert!(spent.prompt_tokens > 600 && spent.reply_tokens > 40, "{spent:?}");
        assert_eq!(JudgeSpent::default().check(JudgeBudget { calls: 0, tokens: 800 }, prompt), Err(JudgeStop::Calls));
    }
}
