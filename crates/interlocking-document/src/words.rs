//! The wording of messages.

use std::borrow::Cow;

/// The candidate that is most similar to `name`, if any is similar enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A file can have names of any length; no candidate is as long.
    if name.len() > 100 {
        return None;
    }
    let distance = |candidate: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase());
    let scored = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    let (distance, candidate) = scored.min_by_key(|(distance, _)| *distance)?;
    // A third of the letters may differ, as in rustc.
    (distance <= name.chars().count().max(candidate.chars().count()) / 3).then_some(candidate)
}

/// `` `a`, `b` and `c` ``; "none" if there are no names.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined_by("and", names)
}

/// `` `a`, `b` or `c` ``; "none" if there are no names.
pub(crate) fn any_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined_by("or", names)
}

fn joined_by<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// Whether a character controls a terminal, or changes the order in which the terminal shows text.
pub fn steers_a_terminal(character: char) -> bool {
    let is_layout = matches!(character, '\n' | '\t');
    let is_direction =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && !is_layout) || is_direction
}

/// The text with each such character escaped, as `\u001b`. Text stays readable, and JSON keeps its meaning, as such characters
/// occur only inside its strings.
pub fn written_out(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers_a_terminal) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if steers_a_terminal(character) {
            written.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            written.push(character);
        }
    }
    Cow::Owned(written)
}

/// The longest quote of a file in a message, in characters.
const LONGEST: usize = 80;

/// A text of a file in quotes, shortened, with control characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 2000;

/// A message on one line, shortened, with control characters escaped: an error's text may quote the file.
pub(crate) fn message(text: &str) -> String {
    let mut letters = text.chars();
    let mut message = String::with_capacity(text.len().min(LONGEST_MESSAGE));
    for letter in letters.by_ref().take(LONGEST_MESSAGE) {
        if letter.is_control() { message.extend(letter.escape_default()) } else { message.push(letter) }
    }
    if letters.next().is_some() {
        message.push('…');
    }
    message
}

/// A key of a file: unchanged if it is a short word, otherwise in quotes.
pub(crate) fn key(name: &str) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-+".contains(letter);
    if !name.is_empty() && name.chars().count() <= LONGEST && name.chars().all(is_word) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// The path of an entry.
pub(crate) fn joined(path: &str, name: &str) -> String {
    let name = key(name);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// The message for an unknown field: it suggests the most similar known field and lists all of them.
pub(crate) fn unknown(name: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    match known {
        [] => format!("there is no such field{near}: remove it"),
        [only] => format!("there is no such field{near}; the only one is `{only}`"),
        _ => format!("there is no such field{near}; the fields are {}", listed(known.iter().copied())),
    }
}

/// The message for a duplicate key.
#[cfg(any(feature = "json", feature = "yaml"))]
pub(crate) fn twice(name: &str, first_line: usize) -> String {
    format!("`{}` is here twice, first in line {first_line}: remove one", key(name))
}
