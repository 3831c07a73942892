use textstats::words;

#[path = "../src/frequency.rs"]
mod frequency;

use frequency::frequency;

#[test]
fn the_most_frequent_word_is_first() {
    let text = "The tide and the moon, the tide";
    assert_eq!(words(text).count(), 7);
    let counted = frequency(text);
    assert_eq!(counted[0], ("the".to_owned(), 3));
    assert_eq!(counted[1], ("tide".to_owned(), 2));
}
