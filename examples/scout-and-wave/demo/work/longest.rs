//! The longest word of a text.

/// The longest word; of several that are as long, the first. None where there is no word.
pub fn longest(text: &str) -> Option<&str> {
    let length = |word: &str| word.chars().count();
    crate::words(text).reduce(|longest, word| if length(word) > length(longest) { word } else { longest })
}
