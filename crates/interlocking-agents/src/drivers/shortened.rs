//! Shortens the texts of programs and providers to a readable length.

/// The maximum length of an error's text, in bytes. The end of standard error, which is 4 KiB, is never cut.
pub(crate) const LONGEST_REASON: usize = 8 * 1024;

/// How much of a command, or of a file's name, an event contains at most, in bytes.
pub(crate) const LONGEST_EFFECT: usize = 32 * 1024;

/// The beginning of a text, with a mark where it was cut.
pub(crate) fn shorten(text: &mut String, longest: usize) {
    if text.len() > longest {
        let end = text.floor_char_boundary(longest);
        let left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({left_out} more bytes)"));
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = |text: &str| {
            let mut text = text.to_owned();
            shorten(&mut text, 5);
            text
        };
        assert_eq!(cut("abcde"), "abcde");
        assert_eq!(cut("abcdef"), "abcde… (1 more bytes)");
        assert_eq!(cut("abcdäx"), "abcd… (3 more bytes)");
    }
}
