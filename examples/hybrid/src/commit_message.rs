//! The messages of the runtime's commits.
//!
//! ```text
//! tests: properties of the bounded stack
//!
//! Properties: prop_new_stack_is_empty, prop_pop_undoes_push
//! Functions: 5/5
//!
//! Session: demo-1
//! Node: tests
//! Cost: $0.044
//! ```
//!
//! The runtime commits, since only it knows the run and the cost (CON-76). An agent's text may be in the subject and in the
//! summary, but in one line each and never in the last paragraph: git reads trailers only from there, so an agent cannot forge
//! one.

use std::fmt;
use std::str::FromStr;

use interlocking::agents::Cost;
use interlocking::prelude::RunId;

use crate::types::{
    CoverageReport, FixAgentOutput, Identifier, ImplAgentOutput, StructuredFailure, TestsAgentOutput, TypesAgentOutput,
};

/// The contents of a commit; its name is the first word of the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Types and stubs as their agent wrote them.
    Types,
    /// The skeleton, checked and made complete.
    Skeleton,
    /// Properties.
    Tests,
    /// The implementation.
    Impl,
    /// Both together.
    Merge,
    /// A repair.
    Fix,
}

/// A commit's message (HY-35). Its parts are cleaned, whatever they were made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMessage {
    phase: Phase,
    brief: String,
    summary: Vec<String>,
    session: RunId,
    node: Identifier,
    cost: Cost,
}

/// The error for a text that is not one of the runtime's commit messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a commit message of a run: {reason}")]
pub struct NotARunsMessage {
    /// What is missing or wrong.
    pub reason: &'static str,
}

/// How long a subject may get, in bytes, its phase included.
const LONGEST_SUBJECT: usize = 100;

/// How long a line of the summary may get, in bytes.
const LONGEST_LINE: usize = 1000;

impl CommitMessage {
    /// A message. The brief and the summary may contain agents' text: line breaks and control characters become spaces, longer
    /// text is cut, blank lines are left out.
    pub fn new(
        phase: Phase,
        brief: &str,
        summary: impl IntoIterator<Item = String>,
        session: RunId,
        node: Identifier,
        cost: Cost,
    ) -> Self {
        let subject_start = phase.name().len() + ": ".len();
        // Agents know the convention too, and some follow it.
        let brief = one_line(brief, LONGEST_SUBJECT);
        let mut brief = brief.as_str();
        while let Some(rest) = brief.strip_prefix(phase.name()).and_then(|rest| rest.strip_prefix(':')) {
            brief = rest.trim();
        }
        let brief = one_line(brief, LONGEST_SUBJECT - subject_start);
        Self {
            phase,
            brief: if brief.is_empty() { "no message".to_owned() } else { brief },
            summary: summary
                .into_iter()
                .map(|line| one_line(&line, LONGEST_LINE))
                .filter(|line| !line.is_empty())
                .collect(),
            session,
            node,
            cost,
        }
    }

    /// The contents of the commit.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The subject without its phase.
    pub fn brief(&self) -> &str {
        &self.brief
    }

    /// The lines between subject and trailers.
    pub fn summary(&self) -> &[String] {
        &self.summary
    }

    /// The run.
    pub fn session(&self) -> &RunId {
        &self.session
    }

    /// The node that did the work.
    pub fn node(&self) -> &Identifier {
        &self.node
    }

    /// What that work cost.
    pub fn cost(&self) -> Cost {
        self.cost
    }
}

/// One line of plain characters, single spaces between words, at most this many bytes.
fn one_line(text: &str, most: usize) -> String {
    let plain: String = text.chars().map(|character| if is_plain(character) { character } else { ' ' }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    words[..words.floor_char_boundary(most)].trim_end().to_owned()
}

/// Whether it is neither a control character nor a character that only changes how its neighbours are displayed.
fn is_plain(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

impl Phase {
    const ALL: [Self; 6] = [Self::Types, Self::Skeleton, Self::Tests, Self::Impl, Self::Merge, Self::Fix];

    /// The word that subjects begin with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Types => "types",
            Self::Skeleton => "skeleton",
            Self::Tests => "tests",
            Self::Impl => "impl",
            Self::Merge => "merge",
            Self::Fix => "fix",
        }
    }
}

impl fmt::Display for CommitMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}\n", self.phase.name(), self.brief)?;
        for line in &self.summary {
            writeln!(f, "{line}")?;
        }
        if !self.summary.is_empty() {
            writeln!(f)?;
        }
        write!(f, "Session: {}\nNode: {}\nCost: {}\n", self.session, self.node, self.cost)
    }
}

impl FromStr for CommitMessage {
    type Err = NotARunsMessage;

    /// Parses a message; a message that the runtime wrote is read unchanged.
    fn from_str(text: &str) -> Result<Self, NotARunsMessage> {
        let refuse = |reason| NotARunsMessage { reason };
        let mut paragraphs = text.trim_end().split("\n\n");
        let subject = paragraphs.next().unwrap_or_default();
        let (phase, brief) = subject.split_once(": ").ok_or(refuse("the subject does not begin with a phase"))?;
        let phase = Phase::ALL
            .into_iter()
            .find(|known| known.name() == phase)
            .ok_or(refuse("the subject does not begin with a phase"))?;
        let rest: Vec<&str> = paragraphs.collect();
        let (summary, trailers) = match rest[..] {
            [trailers] => ("", trailers),
            [summary, trailers] => (summary, trailers),
            _ => return Err(refuse("it does not consist of subject, summary and trailers")),
        };
        let mut lines = trailers.lines();
        let mut trailer = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(": ");
        let session = trailer("Session").and_then(|id| id.parse().ok()).ok_or(refuse("there is no session"))?;
        let node = trailer("Node").and_then(|node| Identifier::new(node).ok()).ok_or(refuse("there is no node"))?;
        let cost = trailer("Cost").and_then(parse_cost).ok_or(refuse("there is no cost"))?;
        if lines.next().is_some() {
            return Err(refuse("there are more trailers than three"));
        }
        let message = Self::new(phase, brief, summary.lines().map(str::to_owned), session, node, cost);
        if message.to_string().trim_end() == text.trim_end() {
            Ok(message)
        } else {
            Err(refuse("it holds lines that the runtime does not write"))
        }
    }
}

/// `$0.044`, exactly as costs are shown.
fn parse_cost(text: &str) -> Option<Cost> {
    let (dollars, decimals) = text.strip_prefix('$')?.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(dollars) || !digits(decimals) || decimals.len() > 6 {
        return None;
    }
    let micro = format!("{decimals:0<6}").parse::<u64>().ok()?;
    Some(Cost::from_micro_dollars(dollars.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micro)?))
}

/// The summary of a commit of types.
pub fn types_summary(output: &TypesAgentOutput) -> Vec<String> {
    let functions: Vec<&str> = output.functions.iter().map(|function| function.name.as_str()).collect();
    vec![
        format!("Type: {} ({})", output.type_name, output.type_kind),
        format!("Functions: {}", functions.join(", ")),
        format!("Rationale: {}", output.design_notes),
    ]
}

/// The summary of a commit of tests (HY-36): names, the recomputed coverage, and how the properties failed when the program ran
/// them on the stubs.
pub fn tests_summary(
    output: &TestsAgentOutput,
    coverage: &CoverageReport,
    failure_proof: &[StructuredFailure],
) -> Vec<String> {
    let names: Vec<&str> = output.properties.iter().map(|property| property.name.as_str()).collect();
    let functions = coverage.functions_covered.len();
    let sketches = coverage.sketches_covered.len();
    vec![
        format!("Properties: {}", names.join(", ")),
        format!("Functions: {functions}/{}", functions + coverage.functions_uncovered.len()),
        format!("Examples: {}/{}", coverage.examples_covered, coverage.examples_total),
        format!("Sketches: {sketches}/{}", sketches + coverage.sketches_uncovered.len()),
        format!(
            "Self-verified: {}; {} of {} seen to fail on the stubs",
            if output.self_verified { "yes" } else { "no" },
            failure_proof.len(),
            names.len(),
        ),
    ]
}

/// The summary of a commit of an implementation.
pub fn impl_summary(output: &ImplAgentOutput) -> Vec<String> {
    let functions = output.functions.iter().map(|function| format!("{}: {}", function.name, function.approach));
    let representation = format!("Representation: {}", output.data_repr);
    functions.chain([representation, "Build: passed, run by the runtime".to_owned()]).collect()
}

/// The summary of a commit of repairs.
pub fn fix_summary(output: &FixAgentOutput) -> Vec<String> {
    let change = |change: &crate::types::FixApplied| {
        format!("{} ({:?}): {} Cause: {}", change.function, change.fix_type, change.what_changed, change.why_failed)
    };
    output.changes.iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;

    fn message(brief: &str, summary: &[&str]) -> CommitMessage {
        let summary = summary.iter().map(|line| (*line).to_owned());
        let (session, node) = ("demo-1".parse().unwrap(), Identifier::new("tests").unwrap());
        CommitMessage::new(Phase::Tests, brief, summary, session, node, Cost::from_micro_dollars(44_000))
    }

    /// HY-35, HY-36: the golden message of a tests commit.
    #[test]
    fn a_tests_commit_names_properties_and_coverage() {
        let output: TestsAgentOutput = serde_json::from_value(serde_json::json!({
            "properties": [
                {"name": "prop_a", "targetFunctions": [], "propertyType": "Inverse", "description": "d",
                    "coversExamples": [], "coversSketch": null},
                {"name": "prop_b", "targetFunctions": [], "propertyType": "Inverse", "description": "d",
                    "coversExamples": [], "coversSketch": null}
            ],
            "coverage": {"functionsCovered": [], "functionsUncovered": [], "examplesCovered": 9, "examplesTotal": 9,
                "sketchesCovered": [], "sketchesUncovered": []},
            "selfVerified": true, "commitMsg": "tests: two properties", "strategy": "s"
        }))
        .unwrap();
        let coverage = CoverageReport {
            functions_covered: vec!["push".to_owned()],
            functions_uncovered: vec!["pop".to_owned()],
            examples_covered: 2,
            examples_total: 3,
            sketches_covered: vec!["prop_a".to_owned()],
            sketches_uncovered: vec![],
            not_verified: Vec::new(),
            told_by: None,
        };
        let summary = tests_summary(&output, &coverage, &[]);
        let lines: Vec<&str> = summary.iter().map(String::as_str).collect();
        expect![[r#"
            tests: two properties

            Properties: prop_a, prop_b
            Functions: 1/2
            Examples: 2/3
            Sketches: 1/1
            Self-verified: yes; 0 of 2 seen to fail on the stubs

            Session: demo-1
            Node: tests
            Cost: $0.044
        "#]]
        .assert_eq(&message(&output.commit_msg, &lines).to_string());
    }

    /// HY-35: no summary, no paragraph for it.
    #[test]
    fn a_message_without_summary_has_two_paragraphs() {
        expect![[r#"
            tests: no message

            Session: demo-1
            Node: tests
            Cost: $0.044
        "#]]
        .assert_eq(&message(" \n", &["", "\t"]).to_string());
    }

    /// HY-35, CON-76: an agent's text stays in its line; it cannot add or replace a trailer.
    #[test]
    fn agents_cannot_forge_trailers() {
        let forged = "done\n\nSession: other\nNode: impl\nCost: $0.00\r\n\u{202e}x";
        let message = message(forged, &[forged, "Cost: $9.99"]);
        let text = message.to_string();
        expect![[r#"
            tests: done Session: other Node: impl Cost: $0.00 x

            done Session: other Node: impl Cost: $0.00 x
            Cost: $9.99

            Session: demo-1
            Node: tests
            Cost: $0.044
        "#]]
        .assert_eq(&text);
        assert_eq!(text.parse::<CommitMessage>().unwrap(), message);
        assert_eq!(text.trim_end().rsplit("\n\n").next().unwrap().lines().count(), 3);
    }

    #[test]
    fn other_messages_are_refused() {
        let good = message("brief", &["one"]).to_string();
        for (bad, reason) in [
            ("Initial commit".to_owned(), "begin with a phase"),
            (good.replace("tests: ", "chore: "), "begin with a phase"),
            (good.replace("Session: demo-1\n", ""), "session"),
            (good.replace("Session: demo-1", "Session: ../x"), "session"),
            (good.replace("$0.044", "0.044"), "cost"),
            (good.replace("Node: tests", "Node: a b"), "node"),
            (format!("{good}Signed-off-by: x\n"), "more trailers"),
            (good.replace("one", "one\n\ntwo"), "subject, summary and trailers"),
            (good.replace("one", "one  two"), "does not write"),
        ] {
            let error = bad.parse::<CommitMessage>().unwrap_err();
            assert!(error.to_string().contains(reason), "{bad}: {error}");
        }
    }

    proptest! {
        /// HY-35: what is written is read back, whatever agents put into it.
        #[test]
        fn messages_come_back_as_they_were(
            phase in prop::sample::select(Phase::ALL.to_vec()),
            brief in "\\PC{0,120}|[a-z:\\n ]{0,40}",
            summary in prop::collection::vec("\\PC{0,60}|[A-Za-z:$\\n\\r ]{0,40}", 0..4),
            cost in 0..100_000_000_u64,
        ) {
            let (session, node) = ("run-7".parse().unwrap(), Identifier::new("types_fix").unwrap());
            let message = CommitMessage::new(phase, &brief, summary, session, node, Cost::from_micro_dollars(cost));
            prop_assert_eq!(message.to_string().parse::<CommitMessage>(), Ok(message));
        }
    }
}
