//! Statistics of texts.

/// The words of a text: what stands between white space, without punctuation around it.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_whitespace().map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()));
    parts.filter(|word| !word.is_empty())
}

