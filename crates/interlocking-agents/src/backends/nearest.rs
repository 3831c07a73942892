//! "Did you mean …?"

/// The candidate that `name` was probably meant to be, if one is near enough.
pub(super) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase());
    let scored = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    let (distance, candidate) = scored.min_by_key(|(distance, _)| *distance)?;
    // A third of the letters, as rustc allows.
    (distance <= name.chars().count().max(candidate.chars().count()) / 3).then_some(candidate)
}

/// `` `a`, `b` and `c` ``; "none" of nothing.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// There is no such thing: with what was probably meant, or else with all that there are.
pub(super) fn no_such<'a>(what: &str, name: &str, of: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("there is no {what} `{name}`{of}: did you mean `{meant}`?"),
        None if known.len() == 1 => format!("there is no {what} `{name}`{of}, only {}", listed(known)),
        None => format!("there is no {what} `{name}`{of}; there are {}", listed(known)),
    }
}
