//! Finds the marked blocks of a text, and removes nothing else.

use interlocking_envoy::cleanup::{Comments, Marked};
use proptest::prelude::*;

fn cleaned(text: &str, comments: Comments) -> String {
    String::from_utf8(Marked::of(text.as_bytes(), comments).removed_from(text.as_bytes())).unwrap()
}

/// ENV-81: both markers, with any indentation, each in files where it is a comment. ENV-82: the marker and the lines below it,
/// up to the first blank line, which stays: also with tabs, with Windows line ends, and at the end of a file.
#[test]
fn a_marker_goes_with_what_is_below_it() {
    use Comments::{Hash, Slashes, SlashesAndHash};
    for (comments, text, wanted) in [
        (Slashes, "a\n// [DEBUG-TEMP]\nlog(1);\nlog(2);\n\nb\n", "a\n\nb\n"),
        (Hash, "a\n# [DEBUG-TEMP]\nlog(1)\n\nb\n", "a\n\nb\n"),
        (SlashesAndHash, "# [DEBUG-TEMP]\nx\n\n// [DEBUG-TEMP]\ny\n\nb", "\n\nb"),
        // Indented, and followed by blanks.
        (Slashes, "{\n\t  // [DEBUG-TEMP] \t\n\t  log(1);\n\t\n\tb\n}\n", "{\n\t\n\tb\n}\n"),
        // A line with only white space ends the block and stays, including Unicode white space.
        (Slashes, "// [DEBUG-TEMP]\nx\n \t \nb\n", " \t \nb\n"),
        (Slashes, "// [DEBUG-TEMP]\nx\n\u{a0}\u{3000}\nb\n", "\u{a0}\u{3000}\nb\n"),
        (Slashes, "a\r\n// [DEBUG-TEMP]\r\nlog\r\n\r\nb\r\n", "a\r\n\r\nb\r\n"),
        // To the end of the file, with and without a final line end.
        (Slashes, "a\n// [DEBUG-TEMP]\nlog", "a\n"),
        (Slashes, "a\n// [DEBUG-TEMP]\nlog\n", "a\n"),
        (Slashes, "a\n// [DEBUG-TEMP]", "a\n"),
        (Slashes, "// [DEBUG-TEMP]\n", ""),
        (Slashes, "// [DEBUG-TEMP]\n\nb", "\nb"),
        // Comments of other languages, and text that only resembles a marker.
        (Slashes, "# [DEBUG-TEMP]\nx\n", "# [DEBUG-TEMP]\nx\n"),
        (Hash, "// [DEBUG-TEMP]\nx\n", "// [DEBUG-TEMP]\nx\n"),
        (Slashes, "x(); // [DEBUG-TEMP]\ny\n", "x(); // [DEBUG-TEMP]\ny\n"),
        (Slashes, "// [DEBUG-TEMP] why\ny\n", "// [DEBUG-TEMP] why\ny\n"),
        (Slashes, "//[DEBUG-TEMP]\ny\n", "//[DEBUG-TEMP]\ny\n"),
        (Slashes, "// [debug-temp]\ny\n", "// [debug-temp]\ny\n"),
    ] {
        assert_eq!(cleaned(text, comments), wanted, "{text:?}");
    }
}

/// ENV-83: every marker of a file; adjacent markers without a blank line; a marker at the end.
#[test]
fn every_marker_goes() {
    let text = "// [DEBUG-TEMP]\na\n// [DEBUG-TEMP]\n// [DEBUG-TEMP]\nb\n\nkept\n  // [DEBUG-TEMP]\nc\n\nkept too\n// [DEBUG-TEMP]";
    let marked = Marked::of(text.as_bytes(), Comments::Slashes);
    let blocks: Vec<_> =
        marked.blocks.iter().map(|block| (block.line, block.lines, block.markers, block.reaches_end)).collect();
    assert_eq!(blocks, [(1, 5, 3, false), (8, 2, 1, false), (12, 1, 1, true)]);
    assert_eq!(cleaned(text, Comments::Slashes), "\nkept\n\nkept too\n");
    let marked = Marked::of(
        b"x [DEBUG-TEMP] [DEBUG-TEMP]\n// [DEBUG-TEMP]\n// x [DEBUG-TEMP]\n\n//[DEBUG-TEMP]",
        Comments::Slashes,
    );
    assert_eq!(marked.unmarked_lines, [1, 5], "what is in a block goes with it");
}

/// Text that is likely to contain markers, blank lines and similar lines.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => Just(b"// [DEBUG-TEMP]".to_vec()),
        2 => Just(b"\t # [DEBUG-TEMP] ".to_vec()),
        3 => Just(Vec::new()),
        1 => Just(b" \t".to_vec()),
        1 => Just("\u{3000}".as_bytes().to_vec()),
        1 => Just(b"x // [DEBUG-TEMP]".to_vec()),
        3 => "[a-c /#]{1,6}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    let end = prop_oneof![Just(&b"\n"[..]), Just(&b"\r\n"[..]), Just(&b"\n\n"[..])];
    (prop::collection::vec((line, end), 0..24), any::<bool>()).prop_map(|(lines, is_ended)| {
        let mut text: Vec<u8> = lines.iter().flat_map(|(line, end)| [line, *end].concat()).collect();
        if !is_ended {
            text.pop();
        }
        text
    })
}

fn comments() -> impl Strategy<Value = Comments> {
    prop_oneof![Just(Comments::Slashes), Just(Comments::Hash), Just(Comments::SlashesAndHash)]
}

/// A direct, slow implementation of the rule, line by line; also counts the removed markers.
fn by_the_book(text: &[u8], comments: Comments) -> (Vec<u8>, usize) {
    let is_blank = |line: &[u8]| {
        line.iter().all(u8::is_ascii_whitespace)
            || std::str::from_utf8(line).is_ok_and(|line| line.chars().all(char::is_whitespace))
    };
    let is_marker = |line: &[u8]| {
        let line = line.trim_ascii();
        line == b"// [DEBUG-TEMP]" && comments != Comments::Hash
            || line == b"# [DEBUG-TEMP]" && comments != Comments::Slashes
    };
    let (mut kept, mut markers, mut removing) = (Vec::new(), 0, false);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        removing = is_marker(line) || removing && !is_blank(line);
        markers += usize::from(is_marker(line));
        if !removing {
            kept.extend_from_slice(line);
        }
    }
    (kept, markers)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// ENV-82, ENV-83: only whole marked blocks are removed, whatever the text. ENV-86: a second pass removes nothing. ENV-87:
    /// the result is that of a dozen lines of comparisons, and of nothing else.
    #[test]
    fn only_marked_blocks_vanish(text in text(), comments in comments()) {
        let marked = Marked::of(&text, comments);
        let kept = marked.removed_from(&text);
        let (wanted, markers) = by_the_book(&text, comments);
        prop_assert_eq!(String::from_utf8_lossy(&kept), String::from_utf8_lossy(&wanted));
        prop_assert_eq!(marked.blocks.iter().map(|block| block.markers).sum::<usize>(), markers);
        for block in &marked.blocks {
            let (before, bytes, after) = (&text[..block.bytes.start], &text[block.bytes.clone()], &text[block.bytes.end..]);
            prop_assert!(before.is_empty() || before.ends_with(b"\n"));
            prop_assert!(bytes.ends_with(b"\n") || after.is_empty());
            prop_assert_eq!(block.line, before.iter().filter(|byte| **byte == b'\n').count() + 1);
            prop_assert_eq!(block.lines, bytes.split_inclusive(|byte| *byte == b'\n').count());
            prop_assert_eq!(block.reaches_end, after.is_empty());
        }
        let again = Marked::of(&kept, comments);
        prop_assert!(again.blocks.is_empty());
        prop_assert_eq!(again.removed_from(&kept), kept);
    }

    /// ENV-85: a text without markers is unchanged, whatever bytes it has.
    #[test]
    fn what_has_no_marker_stays(bytes in prop::collection::vec(any::<u8>(), 0..300), comments in comments()) {
        prop_assert_eq!(Marked::of(&bytes, comments).removed_from(&bytes), bytes);
    }
}
