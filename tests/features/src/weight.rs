//! What each feature of `interlocking` weighs, as `docs/book/src/features.md` says it: `cargo run -p interlocking-features -- --weigh`, or
//! `… --weigh sqlite cli` for some.
//!
//! Each set is checked in a target directory of its own, so that everything of it is compiled. What counts is the time of processors, which
//! hardly depends on how many there are and what else they do. Reads `/proc`, so it needs Linux.

use crate::cargo::Cargo;
use crate::plan::{Set, features_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Prints a row for each of these features, and for every one where none is named: its crates, how many of them are not the default's, and
/// the seconds of a processor.
///
/// # Errors
///
/// Where there is no such feature, or cargo fails.
pub(crate) fn print(root: &Path, metadata: &Value, wanted: &[String]) -> Result<(), String> {
    let all: Vec<&str> = ["none", "default"].into_iter().chain(features_of(metadata, "interlocking")).collect();
    if let Some(unknown) = wanted.iter().find(|feature| !all.contains(&feature.as_str())) {
        return Err(format!("there is no feature `{unknown}`: {}", all.join(", ")));
    }
    let default = crates(root, &set("default"))?;
    println!("| feature | crates by itself | beside the default | seconds |\n|---|---|---|---|");
    for feature in all.into_iter().filter(|feature| wanted.is_empty() || wanted.iter().any(|it| it == feature)) {
        let alone = set(if feature == "none" { "" } else { feature });
        let beside =
            crates(root, &Set::new("interlocking", alone.features.iter().map(String::as_str).chain(["default"])))?;
        let (crates, more, seconds) = (crates(root, &alone)?, beside.saturating_sub(default), seconds(root, &alone)?);
        println!("| `{feature}` | {crates} | +{more} | {seconds:.0} |");
    }
    Ok(())
}

/// One feature by itself; none where it has no name.
fn set(feature: &str) -> Set {
    Set::new("interlocking", Some(feature).filter(|feature| !feature.is_empty()))
}

/// How many crates are compiled, the set's own included.
fn crates(root: &Path, set: &Set) -> Result<usize, String> {
    let resolved = Cargo::in_target("".into()).resolved(root, set)?;
    // Its name and version, behind what it is compiled for: what is built twice, for a build script too, is one.
    let named = resolved.iter().map(|line| line.split(' ').skip(1).take(2).collect::<Vec<_>>());
    Ok(named.collect::<BTreeSet<_>>().len())
}

/// How long processors need to check all of it.
fn seconds(root: &Path, set: &Set) -> Result<f64, String> {
    let target = tempfile::tempdir().map_err(|error| format!("no target directory: {error}"))?;
    let before = of_children()?;
    Cargo::in_target(target.path().into()).check(root, set)?;
    Ok(of_children()? - before)
}

/// How long the programs have run that this one has started and waited for, in seconds of a processor.
fn of_children() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("/proc/self/stat: {error}"))?;
    // The name of the program, in parentheses, may hold anything. `cutime` and `cstime` are the 14th and 15th field behind it, in
    // hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    Ok(fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0)
}
