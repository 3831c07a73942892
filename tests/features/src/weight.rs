//! Measures what each feature of `interlocking` costs, as `docs/book/src/features.md` reports it:
//! `cargo run -p interlocking-features -- --weigh`, or `… --weigh sqlite cli` for some features.
//!
//! Each set is checked in a target directory of its own, so that all of its crates are compiled. The measure is processor time,
//! which hardly depends on the number of processors and on other load. Reads `/proc`, so it needs Linux.

use crate::cargo::Cargo;
use crate::plan::{Set, features_of};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Prints a row for each of these features, or for every feature if none is named: the number of its crates, how many of those
/// the default does not have, and the processor time in seconds.
///
/// # Errors
///
/// If a feature is unknown, or cargo fails.
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

/// A feature by itself; without features if the name is empty.
fn set(feature: &str) -> Set {
    Set::new("interlocking", Some(feature).filter(|feature| !feature.is_empty()))
}

/// The number of crates that are compiled, the set's own included.
fn crates(root: &Path, set: &Set) -> Result<usize, String> {
    let resolved = Cargo::in_target("".into(), BTreeMap::new()).resolved(root, set)?;
    // The name and version, without the target of the compilation: a crate that is also built for a build script counts once.
    let named = resolved.iter().map(|line| line.split(' ').skip(1).take(2).collect::<Vec<_>>());
    Ok(named.collect::<BTreeSet<_>>().len())
}

/// The processor time, in seconds, of checking the whole set.
fn seconds(root: &Path, set: &Set) -> Result<f64, String> {
    let target = tempfile::tempdir().map_err(|error| format!("no target directory: {error}"))?;
    let before = of_children()?;
    Cargo::in_target(target.path().into(), BTreeMap::new()).check(root, set)?;
    Ok(of_children()? - before)
}

/// The processor time, in seconds, of the child processes for which this process has waited.
fn of_children() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("/proc/self/stat: {error}"))?;
    // The name of the program, in parentheses, may contain any character. `cutime` and `cstime` are the 14th and 15th field after
    // it, in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    Ok(fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0)
}
