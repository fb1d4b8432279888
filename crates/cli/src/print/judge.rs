//! Grades by a model, and how far it agrees with people.

use super::table::Columns;
use super::text::{count, counted, label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io;
use tamis::judge::{Agreement, CheckReport, GradedPassage, JudgePlan, JudgeReport, JudgeSpent, RemovedGrades};

/// Messages of a plan that are listed.
const LISTED: usize = 20;

/// Writes each query with the grades of its candidates, then the sums.
///
/// # Errors
/// `out` cannot be written.
pub fn graded(out: &mut dyn Page, report: &JudgeReport) -> io::Result<()> {
    for of_query in report.grades.chunk_by(|one, next| one.query_id == next.query_id) {
        let first = &of_query[0];
        writeln!(out, "{} {}", label(&first.query).bold(), format!("[query {}]", first.query_id).dimmed())?;
        let mut table = Columns::new(&[">grade", "", "/passage", "reason"]);
        for one in of_query {
            let relevance = match one.relevant {
                Some(true) => "relevant",
                Some(false) => "",
                None => "failed",
            };
            table.row([
                one.grade.map_or_else(|| "–".into(), |grade| grade.to_string()),
                relevance.to_owned(),
                format!("{}:{}", label(&one.path), one.start_line),
                label(&one.reason).into_owned(),
            ]);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    let from = report.relevant_from;
    writeln!(
        out,
        "{} of {}: {} relevant (grade {from} or above), {} not",
        counted(report.graded + report.reused, "candidate"),
        counted(report.queries, "query"),
        count(report.relevant),
        count(report.not_relevant)
    )?;
    if report.failed > 0 {
        let failed = counted(report.failed, "candidate");
        writeln!(out, "{failed} without a grade, since the reply could not be used (--retry-failed asks again)")?;
    }
    if report.gone > 0 {
        writeln!(out, "{} left out: no longer in the index", counted(report.gone, "candidate"))?;
    }
    spent(out, &report.model, &report.spent, report.reused)
}

fn spent(out: &mut dyn Page, model: &str, spent: &JudgeSpent, reused: u64) -> io::Result<()> {
    let tokens = counted(spent.prompt_tokens + spent.reply_tokens, "token");
    let before = if reused > 0 { format!("; {} graded before", count(reused)) } else { String::new() };
    writeln!(out, "{}", format!("{}: {}, {tokens}{before}", label(model), counted(spent.calls, "call")).dimmed())
}

/// Writes what would be sent: where to, how much, and the first message in full.
///
/// # Errors
/// `out` cannot be written.
pub fn planned(out: &mut dyn Page, plan: &JudgePlan) -> io::Result<()> {
    writeln!(out, "{} at {}", label(&plan.model).bold(), label(&plan.url))?;
    let before = if plan.reused > 0 { format!(", {} graded before", count(plan.reused)) } else { String::new() };
    writeln!(out, "{} of {}{before}", counted(plan.pairs, "pair"), counted(plan.queries, "query"))?;
    let within = match plan.calls > plan.budget.calls || plan.tokens > plan.budget.tokens {
        true => "; a run ends at its budget, and the next goes on",
        false => "",
    };
    writeln!(
        out,
        "to send: {}, about {} (budget: {} and {}){within}",
        counted(plan.calls, "call"),
        counted(plan.tokens, "token"),
        counted(plan.budget.calls, "call"),
        counted(plan.budget.tokens, "token")
    )?;
    let Some(first) = plan.messages.first() else { return Ok(()) };
    writeln!(out)?;
    let mut table = Columns::new(&["query", "/passage"]);
    for message in plan.messages.iter().take(LISTED) {
        let line = message.start_line.map(|line| format!(":{line}")).unwrap_or_default();
        table.row([label(&message.query).into_owned(), format!("{}{line}", label(&message.path))]);
    }
    table.write(out)?;
    if plan.messages.len() > LISTED {
        writeln!(
            out,
            "{}",
            format!(" … {} more (--json has all)", count((plan.messages.len() - LISTED) as u64)).dimmed()
        )?;
    }
    writeln!(out, "\n{}\n{}", "The first message".bold(), visible(&first.prompt).trim_end())
}

/// Writes how far a model agrees with people.
///
/// # Errors
/// `out` cannot be written.
pub fn checked(out: &mut dyn Page, report: &CheckReport) -> io::Result<()> {
    let compared = report.relevance.items;
    writeln!(out, "{} of {} that people judged", counted(compared, "graded pair"), count(report.pairs))?;
    if report.failed > 0 {
        writeln!(out, "{} without a grade, since the reply could not be used", counted(report.failed, "pair"))?;
    }
    let relevance = format!(
        "Relevant or not (people from {}, the model from {})",
        report.people_relevant_from, report.relevant_from
    );
    agreement(out, &relevance, &report.relevance, &["not relevant", "relevant"])?;
    if let Some(grades) = &report.grades {
        agreement(out, "Grades", grades, &["0", "1", "2", "3"])?;
    }
    writeln!(out)?;
    spent(out, &report.model, &report.spent, report.reused)
}

/// Writes a table of agreement with its figures: people in rows, the model in columns.
fn agreement(out: &mut dyn Page, title: &str, agreement: &Agreement, names: &[&str]) -> io::Result<()> {
    let kappa = |kappa: Option<f64>| kappa.map_or_else(|| "–".to_owned(), |kappa| format!("{kappa:.2}"));
    writeln!(out, "\n{}", title.bold())?;
    let headings: Vec<String> = names.iter().map(|name| format!(">model: {name}")).collect();
    let headings: Vec<&str> = ["people"].into_iter().chain(headings.iter().map(String::as_str)).collect();
    let mut table = Columns::new(&headings);
    for (name, row) in names.iter().zip(&agreement.table) {
        table.row([(*name).to_owned()].into_iter().chain(row.iter().map(|&cell| count(cell))));
    }
    table.write(out)?;
    writeln!(
        out,
        " Cohen's kappa {}, with quadratic weights {}; the same in {:.0}% of {}, by chance in {:.0}%",
        kappa(agreement.kappa),
        kappa(agreement.quadratic_kappa),
        100.0 * agreement.observed,
        counted(agreement.items, "pair"),
        100.0 * agreement.expected
    )
}

/// Writes the judgements made from grades as a table.
///
/// # Errors
/// `out` cannot be written.
pub fn listed(out: &mut dyn Page, graded: &[GradedPassage]) -> io::Result<()> {
    let mut table = Columns::new(&["query", "passage", ">grade", "", "model", "reason"]);
    for one in graded {
        table.row([
            one.query_id.clone(),
            one.passage.chars().take(12).collect(),
            one.grade.grade.to_string(),
            if one.relevant { "relevant".into() } else { "not".into() },
            label(&one.grade.model).into_owned(),
            label(&one.grade.reason).into_owned(),
        ]);
    }
    table.write(out)
}

/// Says what was deleted.
pub fn removed(removed: RemovedGrades) -> String {
    match removed.grades {
        0 => "there are no such grades".into(),
        grades => format!("deleted {} and {}", counted(grades, "grade"), counted(removed.judgements, "judgement")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{plain, plain_in};
    use super::*;
    use tamis::judge::{GradedCandidate, JudgeBudget, PlannedMessage};

    fn candidate(rank: usize, grade: Option<u8>, reason: &str) -> GradedCandidate {
        GradedCandidate {
            query_id: "7k2m9qrt".into(),
            query: "where are locks\u{1b}[2J taken".into(),
            rank,
            passage: "3f9a1c2b4d5e".into(),
            namespace: "shop".into(),
            path: "src/lock.rs".into(),
            start_line: 8,
            grade,
            relevant: grade.map(|grade| grade >= 2),
            reason: reason.into(),
            reused: false,
        }
    }

    fn report() -> JudgeReport {
        JudgeReport {
            model: "openai:m@localhost:1".into(),
            relevant_from: 2,
            queries: 1,
            graded: 2,
            reused: 1,
            failed: 1,
            relevant: 1,
            not_relevant: 2,
            gone: 0,
            spent: JudgeSpent { calls: 4, prompt_tokens: 1800, reply_tokens: 90 },
            stopped: None,
            grades: vec![
                candidate(1, Some(3), "It takes the lock."),
                candidate(2, Some(1), "Only related."),
                candidate(3, None, "no line \"##final score: N\" in the reply"),
            ],
        }
    }

    #[test]
    fn each_grade_has_its_reason() {
        insta::assert_snapshot!(plain(|out| graded(out, &report())), @r###"
        where are locks␛[2J taken [query 7k2m9qrt]
         grade            passage        reason
             3  relevant  src/lock.rs:8  It takes the lock.
             1            src/lock.rs:8  Only related.
             –  failed    src/lock.rs:8  no line "##final score: N" in the reply

        3 candidates of 1 query: 1 relevant (grade 2 or above), 2 not
        1 candidate without a grade, since the reply could not be used (--retry-failed asks again)
        openai:m@localhost:1: 4 calls, 1,890 tokens; 1 graded before
        "###);
    }

    #[test]
    fn a_plan_says_where_to_how_much_and_what() {
        let message = |query: &str| PlannedMessage {
            query: query.into(),
            path: "a.md".into(),
            start_line: Some(3),
            prompt: "Given a query\n".into(),
        };
        let plan = JudgePlan {
            model: "openai:m@localhost:1".into(),
            url: "http://localhost:1/v1/chat/completions".into(),
            queries: 1,
            pairs: 3,
            reused: 1,
            calls: 2,
            tokens: 1200,
            budget: JudgeBudget { calls: 1, tokens: 5000 },
            messages: vec![message("one"), message("one")],
        };
        insta::assert_snapshot!(plain(|out| planned(out, &plan)), @r"
        openai:m@localhost:1 at http://localhost:1/v1/chat/completions
        3 pairs of 1 query, 1 graded before
        to send: 2 calls, about 1,200 tokens (budget: 1 call and 5,000 tokens); a run ends at its budget, and the next goes on

         query  passage
         one    a.md:3
         one    a.md:3

        The first message
        Given a query
        ");
    }

    #[test]
    fn a_check_shows_the_counts_beside_the_kappas() {
        let report = CheckReport {
            model: "openai:m@localhost:1".into(),
            pairs: 60,
            graded: 6,
            reused: 0,
            failed: 0,
            relevant_from: 2,
            people_relevant_from: 1,
            relevance: Agreement::of(&[(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 0)], 2),
            grades: None,
            spent: JudgeSpent { calls: 6, prompt_tokens: 1800, reply_tokens: 90 },
            stopped: None,
            notes: Vec::new(),
            checked: Vec::new(),
        };
        insta::assert_snapshot!(plain(|out| checked(out, &report)), @r"
        6 graded pairs of 60 that people judged

        Relevant or not (people from 1, the model from 2)
         people        model: not relevant  model: relevant
         not relevant                    2                1
         relevant                        1                2
         Cohen's kappa 0.33, with quadratic weights 0.33; the same in 67% of 6 pairs, by chance in 50%

        openai:m@localhost:1: 6 calls, 1,890 tokens
        ");
        let narrow = plain_in(80, |out| checked(out, &report));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    }
}
