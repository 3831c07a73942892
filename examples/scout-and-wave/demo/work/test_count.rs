use textstats::words;

#[path = "../src/count.rs"]
mod count;

use count::{Counts, count};

#[test]
fn a_text_is_counted() {
    assert_eq!(count("The tide rises,\nand falls."), Counts { lines: 2, words: 5, characters: 26 });
}

#[test]
fn nothing_has_nothing() {
    assert_eq!(count(""), Counts { lines: 0, words: 0, characters: 0 });
    assert_eq!(words("").count(), 0);
}
