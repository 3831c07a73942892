//! Statistics as JSON.

use crate::count::Counts;

/// An object with the counts.
pub fn json(counts: &Counts) -> String {
    let Counts { lines, words, characters } = counts;
    format!("{{\"lines\": {lines}, \"words\": {words}, \"characters\": {characters}}}")
}
