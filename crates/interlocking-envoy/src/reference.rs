//! References to steps in a step's text: "go to step 7", "steps 2 and 3", "steps 2–4".
//!
//! Texts are written with keys and printed with numbers, so each reference is rewritten. Code between backticks or fences is left
//! unchanged, as it is not addressed to the reader.

use crate::key::StepKey;
use std::collections::HashMap;

/// A text with its references rewritten.
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// The references to steps that do not exist, each with the byte offset of its key in the old text.
    pub(crate) unresolved: Vec<(usize, String)>,
}

/// Replaces each reference's key by the step's printed number.
pub(crate) fn rewrite(text: &str, number_of: impl Fn(StepKey) -> Option<usize>) -> Rewritten {
    let mut rewritten = Rewritten { text: String::with_capacity(text.len()), unresolved: Vec::new() };
    let mut copied = 0;
    for (start, end) in keys(text) {
        let written = &text[start..end];
        match written.parse().ok().and_then(&number_of) {
            Some(number) => {
                rewritten.text.push_str(&text[copied..start]);
                rewritten.text.push_str(&number.to_string());
                copied = end;
            }
            None => rewritten.unresolved.push((start, written.to_owned())),
        }
    }
    rewritten.text.push_str(&text[copied..]);
    rewritten
}

/// The byte ranges of the keys of all references, in order.
fn keys(text: &str) -> Vec<(usize, usize)> {
    let mut keys = Vec::new();
    let code = code(text);
    let mut at = 0;
    let mut begins_word = true;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(end) = code.get(&at) {
            at = *end;
            begins_word = true;
            continue;
        }
        if begins_word && let Some(word) = ["steps", "step"].into_iter().find(|word| starts_with_word(rest, word)) {
            at += word.len();
            at = references(text, at, word == "steps", &mut keys);
            begins_word = false;
            continue;
        }
        begins_word = !(letter.is_alphanumeric() || letter == '_');
        at += letter.len_utf8();
    }
    keys
}

/// For the start of each run of backticks, the end of the code that the run begins; if nothing closes the run, the end of the
/// run itself.
fn code(text: &str) -> HashMap<usize, usize> {
    let (mut runs, mut at) = (Vec::new(), 0);
    while let Some(before) = text[at..].find('`') {
        let start = at + before;
        at = text.len() - text[start..].trim_start_matches('`').len();
        runs.push((start, at));
    }
    // Iterates backwards, so that the next run of each length and the end of the paragraph are known.
    let mut next = HashMap::new();
    let (mut paragraph, mut following) = (text.len(), text.len());
    let ends = runs.into_iter().rev().map(|(start, end)| {
        if let Some(blank) = text[end..following].find("\n\n") {
            paragraph = end + blank;
        }
        following = start;
        let fence = end - start;
        // A run of three or more backticks may be closed anywhere later; inline code must be closed in its paragraph.
        let closing = next.insert(fence, (start, end)).filter(|(start, _)| fence >= 3 || *start < paragraph);
        (start, closing.map_or(end, |(_, end)| end))
    });
    ends.collect()
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let ends = |rest: &str| rest.chars().next().is_some_and(char::is_whitespace);
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) && ends(&text[word.len()..])
}

/// Adds the keys after the word `step` or `steps`, which ends at `at`, and returns where they end.
fn references(text: &str, mut at: usize, are_several: bool, keys: &mut Vec<(usize, usize)>) -> usize {
    let Some(mut start) = after_blanks(text, at) else { return at };
    while let Some(end) = key(text, start) {
        keys.push((start, end));
        at = end;
        let next = if are_several { after_connective(text, end) } else { after_tight_dash(text, end) };
        let Some(next) = next else { break };
        start = next;
    }
    at
}

/// The offset after blanks and at most one line end; `None` if there are no blanks, or more line ends.
fn after_blanks(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blanks = rest.len() - rest.trim_start().len();
    let is_one_line = rest[..blanks].matches('\n').count() <= 1;
    (blanks > 0 && is_one_line).then_some(at + blanks)
}

/// The end of the key that begins at `start`: digits and dots. A final dot ends a sentence and is not part of the key.
fn key(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start..];
    let length = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(rest.len());
    let key = rest[..length].trim_end_matches('.');
    let is_key = key.starts_with(|first: char| first.is_ascii_digit());
    let is_whole = !rest[key.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_');
    (is_key && is_whole).then_some(start + key.len())
}

/// The offset of the next key right after a dash: `step 2-3`. With blanks, what follows may be no key: `step 2 - 3 files`.
fn after_tight_dash(text: &str, at: usize) -> Option<usize> {
    let after = |dash: &str| {
        text[at..].strip_prefix(dash).filter(|after| after.starts_with(|next: char| next.is_ascii_digit()))
    };
    let dash = ["-", "–", "—"].into_iter().find(|dash| after(dash).is_some())?;
    Some(at + dash.len())
}

/// The offset of the next key after a comma, a dash, a slash or words that join keys.
fn after_connective(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let is_key = |after: &str| after.starts_with(|next: char| next.is_ascii_digit());
    // Within a line: at the beginning of a line, a dash marks an item of a list.
    let without_spaces = |text: &'_ str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let before = without_spaces(rest);
    for dash in ["-", "–", "—"] {
        if let Some(after) = rest[before..].strip_prefix(dash)
            && let spaces = without_spaces(after)
            && is_key(&after[spaces..])
        {
            return Some(at + before + dash.len() + spaces);
        }
    }
    if rest.strip_prefix([',', '/']).is_some_and(is_key) {
        return Some(at + 1);
    }
    // The longer of two that begin alike comes first.
    const WORDS: [&str; 13] = [
        ", and then",
        ", and",
        ", or",
        ", then",
        ",",
        " and/or",
        " and then",
        " and",
        " or",
        " to",
        " through",
        " &",
        " then",
    ];
    let joined = WORDS.into_iter().find(|word| rest.starts_with(word))?;
    after_blanks(text, at + joined.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> (String, Vec<String>) {
        let keys: Vec<StepKey> = ["1", "6", "6.1", "6.10", "7"].iter().map(|key| key.parse().unwrap()).collect();
        let number_of = |key| keys.iter().position(|known| *known == key).map(|index| index + 11);
        let rewritten = rewrite(text, number_of);
        let unresolved = rewritten.unresolved.into_iter().map(|(at, key)| {
            assert!(text[at..].starts_with(&key));
            key
        });
        (rewritten.text, unresolved.collect())
    }

    /// ENV-19, ENV-100.
    #[test]
    fn references_become_numbers() {
        for (text, wanted) in [
            ("Go to step 7.", "Go to step 15."),
            ("**Go to Step 6.10** (again)", "**Go to Step 14** (again)"),
            ("from step 6.1.", "from step 13."),
            ("STEP 1, 6 files", "STEP 11, 6 files"),
            ("steps 1, 6 and 7", "steps 11, 12 and 15"),
            ("steps 1, 6, or 6.1; 7", "steps 11, 12, or 13; 7"),
            ("Steps 1-6 and 6.1–7", "Steps 11-12 and 13–15"),
            ("steps 1,6", "steps 11,12"),
            ("steps 1, 6, and then 7", "steps 11, 12, and then 15"),
            ("steps 1/6 & 6.1 and/or 7", "steps 11/12 & 13 and/or 15"),
            ("step 1-6; step 6/7; step 6 - 7 files", "step 11-12; step 12/7; step 12 - 7 files"),
            ("steps 1 – 6, 6.1 -7 or 7", "steps 11 – 12, 13 -15 or 15"),
            ("steps 1\n- 6 files", "steps 11\n- 6 files"),
            ("steps 1 to 7 (step\n6)", "steps 11 to 15 (step\n12)"),
            ("step\n\n7", "step\n\n7"),
            ("footstep 7, step_7, step7, 7 steps, step 7th", "footstep 7, step_7, step7, 7 steps, step 7th"),
            ("`step 7` and ``step ` 7`` but step 7", "`step 7` and ``step ` 7`` but step 15"),
            ("```\nstep 7\n\nstep 6\n```\nstep 6", "```\nstep 7\n\nstep 6\n```\nstep 12"),
            ("an open ` and step 7", "an open ` and step 15"),
            ("an open `, `` too\n\nand step 7 ` and ` step 7 `", "an open `, `` too\n\nand step 15 ` and ` step 15 `"),
            ("``` open\n\nstep 7 ```` step 7", "``` open\n\nstep 15 ```` step 15"),
            ("Schritt 7 für step 7", "Schritt 7 für step 15"),
        ] {
            assert_eq!(rewritten(text), (wanted.to_owned(), Vec::new()), "{text}");
        }
    }

    #[test]
    fn references_to_nothing_stay() {
        let (text, unresolved) = rewritten("steps 1, 99 and 6.1.2, then step 0 and step 6.3");
        assert_eq!(text, "steps 11, 99 and 6.1.2, then step 0 and step 6.3");
        assert_eq!(unresolved, ["99", "6.1.2", "0", "6.3"]);
    }
}
