//! Reports in JUnit's XML, which nextest, pytest and most other harnesses can write.
//!
//! Code under test decides much of a report's contents, and can write the whole file. So the size of a report is bounded, an
//! entity that XML does not predefine is refused rather than expanded, a test that is reported twice has failed if it failed
//! once, and a report that contradicts itself or the exit code gives no verdict.

use super::junit_failure::failure;
use super::{KnownTests, WHOLE_SUITE, add_unreported, bare_failure, beginning_of, no_verdict, without_duplicates};
use crate::execution::{Ending, Finished};
use crate::failure::FailureType;
use crate::outcome::TestOutcome;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// The largest report that is read, in bytes.
pub(crate) const LARGEST_REPORT: usize = 16 * 1024 * 1024;

/// The most tests that a report may have.
const MOST_TESTS: usize = 100_000;

/// The deepest nesting of elements in a report: suites contain suites, but not many.
const DEEPEST: usize = 32;

/// The longest text of each stream of a test that is kept, in bytes.
const LONGEST_OUTPUT: usize = 64 * 1024;

/// The longest part of a report that an error quotes, in bytes.
const LONGEST_QUOTE: usize = 200;

/// One test of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Case {
    /// The test's class or module, and its name.
    pub(super) name: String,
    pub(super) kind: CaseKind,
    /// The failure's `type` and `message` attributes, and its text.
    pub(super) failure_kind: String,
    pub(super) message: String,
    pub(super) text: String,
    pub(super) output: String,
    pub(super) errors: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CaseKind {
    #[default]
    Passed,
    Skipped,
    /// The test itself failed.
    Failed,
    /// Something around the test failed.
    Broken,
}

/// Gives each test the verdict that a report has for it (TC-09). `report` is `None` if the command left no report.
///
/// A known test that is missing from the report counts as failed. If the report is invalid, all known tests do, or the suite if
/// none is known.
pub(crate) fn read(finished: &Finished, report: Option<&str>, known: KnownTests<'_>) -> TestOutcome {
    let timed_out = finished.ending == Ending::TimedOut;
    let cases = match report {
        Some(text) => cases(text),
        None => return no_verdict(finished, known, "the command left no report that could be read"),
    };
    let cases = match cases {
        Ok(cases) => cases,
        Err(error) => return no_verdict(finished, known, &error),
    };
    let mut outcome = TestOutcome { timed_out, ..TestOutcome::default() };
    for case in cases {
        match case.kind {
            CaseKind::Passed => outcome.passed.push(case.name),
            CaseKind::Skipped => outcome.ignored.push(case.name),
            CaseKind::Failed | CaseKind::Broken => outcome.failed.push(failure(case, known.test_path)),
        }
    }
    without_duplicates(&mut outcome);
    add_unreported(&mut outcome, known);
    if finished.ending != Ending::Exited(0) && outcome.failed.is_empty() {
        let message = "the test command failed, but no test of its report did";
        outcome.failed.push(bare_failure(WHOLE_SUITE, FailureType::ParseError, message));
    }
    outcome
}

/// An open suite: the numbers that it states, and those found in it so far (tests, failures, errors).
#[derive(Debug, Default)]
struct Suite {
    name: String,
    tests: Option<usize>,
    failures: Option<usize>,
    errors: Option<usize>,
    found: [usize; 3],
}

/// The part of a test that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Failure,
    Output,
    Errors,
    Other,
}

/// The tests of a report, or why the text is no valid report.
pub(super) fn cases(text: &str) -> Result<Vec<Case>, String> {
    if text.len() > LARGEST_REPORT {
        return Err(too_much(LARGEST_REPORT, "bytes"));
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut reading = Reading::default();
    loop {
        let at = reader.buffer_position();
        let not_xml = |reason: String| not_xml(&reason, at);
        let event = reader.read_event().map_err(|error| not_xml(error.to_string()))?;
        match event {
            Event::Start(element) => reading.open(&element, at)?,
            Event::End(_) => reading.close()?,
            Event::Text(text) => reading.add(&text.xml10_content()),
            Event::CData(text) => reading.add(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(|error| not_xml(error.to_string()))?;
                let name = reference.xml10_content();
                match character.map(String::from).or_else(|| predefined(&name).map(str::to_owned)) {
                    Some(text) => reading.add(&text),
                    None => return Err(not_xml(format!("there is no entity `{name}`"))),
                }
            }
            // It can define entities; no harness does that.
            Event::DocType(_) => {
                return Err(format!("the report declares a document type at byte {at}; reports have none"));
            }
            Event::Eof if reading.open.is_empty() && reading.has_begun => return Ok(reading.cases),
            Event::Eof => return Err(not_xml("it ends early".to_owned())),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

fn predefined(entity: &str) -> Option<&'static str> {
    Some(match entity {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "apos" => "'",
        "quot" => "\"",
        _ => return None,
    })
}

#[derive(Debug, Default)]
struct Reading {
    cases: Vec<Case>,
    has_begun: bool,
    /// The open elements, outermost first.
    open: Vec<Open>,
}

#[derive(Debug)]
enum Open {
    Root,
    Suite(Suite),
    Case(Case),
    Part(Part),
}

impl Reading {
    fn open(&mut self, element: &BytesStart<'_>, at: u64) -> Result<(), String> {
        if self.open.len() >= DEEPEST {
            return Err(too_much(DEEPEST, "elements within each other"));
        }
        let local = element.local_name();
        let name: &str = local.as_ref();
        let attribute = |wanted: &str| attribute(element, wanted, at);
        let opened = match (self.open.last_mut(), name) {
            (None, _) if self.has_begun => {
                return Err(not_xml("something follows its outermost element", at));
            }
            (None, "testsuites") => Open::Root,
            (None | Some(Open::Root | Open::Suite(_)), "testsuite") => {
                let count = |wanted| -> Result<Option<usize>, String> {
                    Ok(attribute(wanted)?.and_then(|number| number.trim().parse().ok()))
                };
                Open::Suite(Suite {
                    name: attribute("name")?.unwrap_or_default(),
                    tests: count("tests")?,
                    failures: count("failures")?,
                    errors: count("errors")?,
                    found: [0; 3],
                })
            }
            (None, root) => {
                return Err(format!(
                    "the report is not JUnit's: its outermost element is `{}`, not `testsuites` or `testsuite`",
                    quoted(root)
                ));
            }
            (Some(Open::Root | Open::Suite(_)), "testcase") => {
                let name = attribute("name")?
                    .filter(|name| !name.is_empty())
                    .ok_or_else(|| format!("the report has a test without a name at byte {at}"))?;
                let class = attribute("classname")?.filter(|class| !class.is_empty());
                Open::Case(Case {
                    name: class.map_or_else(|| name.clone(), |class| format!("{class}::{name}")),
                    ..Case::default()
                })
            }
            (Some(Open::Case(case)), "failure" | "error") => {
                let kind = if name == "error" { CaseKind::Broken } else { CaseKind::Failed };
                let is_first = !matches!(case.kind, CaseKind::Failed | CaseKind::Broken);
                case.kind = kind;
                if is_first {
                    case.failure_kind = attribute("type")?.unwrap_or_default();
                    case.message = attribute("message")?.unwrap_or_default();
                }
                Open::Part(if is_first { Part::Failure } else { Part::Other })
            }
            (Some(Open::Case(case)), "skipped") => {
                if case.kind == CaseKind::Passed {
                    case.kind = CaseKind::Skipped;
                }
                Open::Part(Part::Other)
            }
            (Some(Open::Case(_)), "system-out") => Open::Part(Part::Output),
            (Some(Open::Case(_)), "system-err") => Open::Part(Part::Errors),
            _ => Open::Part(Part::Other),
        };
        if let Open::Part(Part::Failure | Part::Other) = opened
            && matches!(self.open.last(), Some(Open::Case(_)))
        {
            match name {
                "failure" => self.count(1),
                "error" => self.count(2),
                _ => {}
            }
        }
        self.has_begun = true;
        self.open.push(opened);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        match self.open.pop() {
            Some(Open::Case(case)) => {
                if self.cases.len() == MOST_TESTS {
                    return Err(too_much(MOST_TESTS, "tests"));
                }
                self.count(0);
                self.cases.push(case);
                Ok(())
            }
            Some(Open::Suite(suite)) => suite.check(),
            _ => Ok(()),
        }
    }

    /// Counts a test (0), a failure (1) or an error (2) in every open suite.
    fn count(&mut self, which: usize) {
        for open in &mut self.open {
            if let Open::Suite(suite) = open {
                suite.found[which] += 1;
            }
        }
    }

    /// Adds text to the open part of a test.
    fn add(&mut self, text: &str) {
        let [.., Open::Case(case), Open::Part(part)] = self.open.as_mut_slice() else { return };
        let whole = match part {
            Part::Failure => &mut case.text,
            Part::Output => &mut case.output,
            Part::Errors => &mut case.errors,
            Part::Other => return,
        };
        let room = LONGEST_OUTPUT.saturating_sub(whole.len());
        whole.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

impl Suite {
    /// Checks that the suite contains as much as it states. It may contain more: a test that first failed and then broke is
    /// counted once, but reported twice.
    fn check(self) -> Result<(), String> {
        let said = [(self.tests, "are there"), (self.failures, "failed"), (self.errors, "broke")];
        for ((said, what), reported) in said.into_iter().zip(self.found) {
            if let Some(said) = said.filter(|said| *said > reported) {
                let suite = quoted(&self.name);
                return Err(format!(
                    "the suite `{suite}` says that {said} of its tests {what}, but reports {reported}"
                ));
            }
        }
        Ok(())
    }
}

fn not_xml(reason: &str, at: u64) -> String {
    format!("the report is no XML: {}, at byte {at}", quoted(reason))
}

fn too_much(most: usize, of: &str) -> String {
    format!("the report has more than {most} {of}")
}

/// Words of a report, or about it, as an error quotes them: code under test decides how long they are.
fn quoted(words: &str) -> String {
    let beginning = beginning_of(words, LONGEST_QUOTE);
    if beginning.len() < words.len() { format!("{beginning}…") } else { words.to_owned() }
}

fn attribute(element: &BytesStart<'_>, wanted: &str, at: u64) -> Result<Option<String>, String> {
    let not_xml = |reason: String| not_xml(&reason, at);
    let found = element.try_get_attribute(wanted).map_err(|error| not_xml(error.to_string()))?;
    let value = found.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0));
    Ok(value.transpose().map_err(|error| not_xml(error.to_string()))?.map(|value| value.into_owned()))
}
