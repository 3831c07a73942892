//! "Did you mean …?"

/// The candidate that `name` was probably meant to be, if one is near enough.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase());
    let scored = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    let (distance, candidate) = scored.min_by_key(|(distance, _)| *distance)?;
    // A third of the letters may differ, as rustc allows; a name of one or two letters matches only the same name in
    // another case.
    (distance <= name.chars().count().max(candidate.chars().count()) / 3).then_some(candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        assert_eq!(nearest("reviw", ["write", "review"]), Some("review"));
        assert_eq!(nearest("Review", ["write", "review"]), Some("review"));
        assert_eq!(nearest("wirte", ["write", "review"]), Some("write"));
        assert_eq!(nearest("publish", ["write", "review"]), None);
        assert_eq!(nearest("a", ["b", "c"]), None);
    }
}
