//! Statistics as text.

use crate::count::Counts;

/// A line for the counts, and one for each of the five most frequent words.
pub fn report(counts: &Counts, frequency: &[(String, usize)]) -> String {
    let Counts { lines, words, characters } = counts;
    let mut report = format!("{lines} lines, {words} words, {characters} characters\n");
    for (word, times) in frequency.iter().take(5) {
        report.push_str(&format!("{times:>4} {word}\n"));
    }
    report
}
