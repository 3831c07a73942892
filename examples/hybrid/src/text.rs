//! Cutting text without cutting characters.

/// The end of a text, at most this many bytes, beginning at a character.
pub(crate) fn last_bytes(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// The beginning of a text, at most this many bytes, ending at a character.
pub(crate) fn first_bytes(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stay_whole() {
        assert_eq!(last_bytes("aé", 1), "");
        assert_eq!(last_bytes("aé", 2), "é");
        assert_eq!(first_bytes("éa", 1), "");
        assert_eq!(first_bytes("éa", 9), "éa");
    }
}
