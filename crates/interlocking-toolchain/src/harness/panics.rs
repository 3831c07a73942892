//! What a failed test's captured output says about its failure.

use super::{bare_failure, bounded};
use crate::failure::{FailureType, StructuredFailure};

/// Reads how a test failed from its output.
pub(super) fn explain(name: &str, captured: &str, test_path: &str) -> StructuredFailure {
    bounded(explain_fully(name, captured, test_path))
}

fn explain_fully(name: &str, captured: &str, test_path: &str) -> StructuredFailure {
    let failure = |failure_type, message: &str| bare_failure(name, failure_type, message);
    let panics = panics(captured);
    let Some(last) = panics.last() else {
        // Without a panic, the test returned an error, or should have panicked and did not.
        let text = captured.trim();
        return if let Some(error) = text.strip_prefix("Error: ") {
            failure(FailureType::ExceptionThrown, error)
        } else if text.contains("test did not panic as expected") {
            failure(FailureType::PropertyFailed, text)
        } else {
            failure(FailureType::ParseError, text)
        };
    };
    let Some(report) = last.message.strip_prefix("Test failed: ") else {
        let (message, actual, expected) = comparison(&last.message);
        return StructuredFailure { expected, actual, ..failure(classify(last, test_path), &message) };
    };
    let (reason, counterexample) = minimal_input(report);
    // Proptest reports panics like its own assertions, but a panic was also printed when it happened.
    let inner = panics.iter().rev().skip(1).find(|panic| panic.message == reason);
    let failure_type = inner.map_or(FailureType::PropertyFailed, |panic| classify(panic, test_path));
    let reason = if inner.is_some() { &reason } else { without_location(&reason) };
    let (message, actual, expected) = comparison(reason);
    StructuredFailure { counterexample, expected, actual, ..failure(failure_type, &message) }
}

/// One panic as the standard library prints it.
#[derive(Debug)]
struct Panic<'a> {
    file: &'a str,
    message: String,
}

/// Every panic in the text, in order.
fn panics(captured: &str) -> Vec<Panic<'_>> {
    let mut panics: Vec<Panic<'_>> = Vec::new();
    let mut in_message = false;
    for line in captured.lines() {
        if let Some(location) = panic_location(line) {
            panics.push(Panic { file: location.split(':').next().unwrap_or(location), message: String::new() });
            in_message = true;
        } else if line.starts_with("note: run with `RUST_BACKTRACE") || line == "stack backtrace:" {
            in_message = false;
        } else if let Some(panic) = panics.last_mut().filter(|_| in_message) {
            panic.message.push_str(line);
            panic.message.push('\n');
        }
    }
    for panic in &mut panics {
        panic.message.truncate(panic.message.trim_end().len());
    }
    panics
}

/// `thread 'prop_x' (17) panicked at tests/properties.rs:3:1:`
fn panic_location(line: &str) -> Option<&str> {
    line.strip_prefix("thread '")?.split_once(" panicked at ")?.1.strip_suffix(':')
}

/// What kind of failure a panic is.
fn classify(panic: &Panic<'_>, test_path: &str) -> FailureType {
    let message = panic.message.as_str();
    if message.starts_with("not yet implemented") || message.starts_with("not implemented") {
        FailureType::UndefinedHit
    } else if message.starts_with("assertion ") {
        FailureType::PropertyFailed
    } else if thrown_by_rust(message) || message.starts_with("Test aborted: ") {
        FailureType::ExceptionThrown
    } else if is_in(panic.file, test_path) {
        // `assert!(condition, "message")` panics with nothing but the message.
        FailureType::PropertyFailed
    } else {
        FailureType::ExceptionThrown
    }
}

/// Whether a file that a panic names is the test file. The panic's path begins at the cargo workspace, which may be a directory of
/// the checkout, where the test file's path begins.
fn is_in(file: &str, test_path: &str) -> bool {
    test_path.strip_suffix(file).is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// Whether the message is one of the language or the standard library. An assertion may begin with the same words, so each
/// beginning is as long as it is the same in every such message.
fn thrown_by_rust(message: &str) -> bool {
    const BEGINNINGS: [&str; 18] = [
        "called `Option::",
        "called `Result::",
        "index out of bounds: the len is ",
        "attempt to add with overflow",
        "attempt to subtract with overflow",
        "attempt to multiply with overflow",
        "attempt to divide with overflow",
        "attempt to divide by zero",
        "attempt to calculate the remainder with ",
        "attempt to negate with overflow",
        "attempt to shift left with overflow",
        "attempt to shift right with overflow",
        "begin > end (",
        "RefCell already ",
        "already borrowed: ",
        "already mutably borrowed: ",
        "explicit panic",
        "internal error: entered unreachable code",
    ];
    const BEFORE_A_NUMBER: [&str; 6] = [
        "range start index ",
        "range end index ",
        "slice index starts at ",
        "start byte index ",
        "end byte index ",
        "byte index ",
    ];
    let is_number = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    BEGINNINGS.iter().any(|beginning| message.starts_with(beginning))
        || BEFORE_A_NUMBER.iter().any(|beginning| message.strip_prefix(beginning).is_some_and(is_number))
}

/// Splits proptest's report into the reason, without its full stop, and the smallest failing input.
fn minimal_input(report: &str) -> (String, Option<String>) {
    let Some((reason, rest)) = report.split_once("\nminimal failing input: ") else {
        return (report.trim_end().to_owned(), None);
    };
    let input = rest.split_once("\n\tsuccesses:").map_or(rest, |(input, _)| input);
    let reason = reason.strip_suffix('.').unwrap_or(reason);
    (reason.to_owned(), Some(input.trim().to_owned()))
}

/// Drops the ` at tests/properties.rs:8` at the end of proptest's own assertions: it changes with every edit.
fn without_location(reason: &str) -> &str {
    match reason.rsplit_once(" at ") {
        Some((text, location)) if location.rsplit_once(':').is_some_and(|(_, line)| is_number(line)) => text,
        _ => reason,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes the two sides of a comparison out of a message: what is left, the actual (left) and the expected
/// (right) value. Both assertion families indent them as `left:` and `right:`.
fn comparison(message: &str) -> (String, Option<String>, Option<String>) {
    let mut rest = Vec::new();
    let (mut left, mut right) = (None, None);
    for line in message.lines() {
        let side = line.trim();
        if let Some(value) = side.strip_prefix("left: ").filter(|_| left.is_none()) {
            left = Some(bare(value));
        } else if let Some(value) = side.strip_prefix("right: ").filter(|_| right.is_none()) {
            right = Some(bare(value));
        } else {
            rest.push(line.trim_end());
        }
    }
    (rest.join("\n").trim().to_owned(), left, right)
}

/// A value without the backquotes and the comma that proptest adds.
fn bare(value: &str) -> String {
    let value = value.strip_suffix(',').unwrap_or(value);
    let inner = value.strip_prefix('`').and_then(|value| value.strip_suffix('`'));
    inner.unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HY-100: an assertion may speak of ranges and attempts, too. The panics are those of Rust 1.95, and two of older versions.
    #[test]
    fn the_words_of_an_assertion_are_not_taken_for_those_of_rust() {
        let kind = |message: &str| {
            let captured = format!("thread 'prop_a' (17) panicked at tests/kinds.rs:3:1:\n{message}\n");
            explain("prop_a", &captured, "tests/kinds.rs").failure_type
        };
        for message in [
            "range is inverted",
            "range start index must grow",
            "already seen",
            "already borrowed by another reader",
            "attempt to push on a full stack",
            "attempt to add a word twice",
            "index out of bounds was answered",
            "slice index is wrong",
            "byte index after the end",
        ] {
            assert_eq!(kind(message), FailureType::PropertyFailed, "{message}");
        }
        for message in [
            "attempt to add with overflow",
            "attempt to subtract with overflow",
            "attempt to multiply with overflow",
            "attempt to divide with overflow",
            "attempt to divide by zero",
            "attempt to calculate the remainder with overflow",
            "attempt to calculate the remainder with a divisor of zero",
            "attempt to negate with overflow",
            "attempt to shift left with overflow",
            "attempt to shift right with overflow",
            "index out of bounds: the len is 2 but the index is 9",
            "range start index 3 out of range for slice of length 2",
            "range end index 3 out of range for slice of length 2",
            "slice index starts at 2 but ends at 1",
            "start byte index 9 is out of bounds of `ab`",
            "end byte index 1 is not a char boundary; it is inside 'ä' (bytes 0..2) of `ä`",
            "begin > end (2 > 1) when slicing `ab`",
            "byte index 9 is out of bounds of `ab`",
            "RefCell already borrowed",
            "RefCell already mutably borrowed",
            "already mutably borrowed: BorrowError",
            "explicit panic",
        ] {
            assert_eq!(kind(message), FailureType::ExceptionThrown, "{message}");
        }
    }
}
