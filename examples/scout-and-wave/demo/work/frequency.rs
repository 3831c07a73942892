//! Which words a text has most.

use std::collections::BTreeMap;

/// The words of a text in small letters with how often each is there: the most frequent first, and equal ones by their letters.
pub fn frequency(text: &str) -> Vec<(String, usize)> {
    let mut counted = BTreeMap::new();
    for word in crate::words(text) {
        *counted.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    counted
}
