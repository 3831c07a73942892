use textstats::words;

#[path = "../src/longest.rs"]
mod longest;

#[test]
fn the_longest_word_is_found() {
    assert_eq!(longest::longest("The tide, the moonlight"), Some("moonlight"));
    assert_eq!(longest::longest("to be or"), Some("to"));
    assert_eq!((longest::longest(""), words("").count()), (None, 0));
}
