//! Sharing of compiled dependencies, and nothing else, between the builds of several checkouts.
//!
//! Cargo names the artefacts of a path dependency by its path *inside its workspace*. Two checkouts of one crate that share a
//! target directory would overwrite each other's artefacts, and a checkout whose files are older than the other's build would
//! run the other's tests. The profile is part of the name too, so a build has `split-debuginfo` set to a word of its checkout's.
//! Settings on cargo's command line set one word for each package that the lock file takes from a registry or a repository:
//! what these packages contain does not depend on the checkout. A `package."*"` would also include path dependencies that are
//! no members of the workspace.

use crate::build_settings::BuildSettings;
use crate::files::CheckoutFile;
use serde::Deserialize;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use toml::Table;

/// The files of a checkout that can set profiles of packages.
const SETTINGS: [&str; 3] = ["Cargo.toml", ".cargo/config.toml", ".cargo/config"];

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
}

/// A value of `split-debuginfo` made from the directory's path, so that no two checkouts share a value. The compiler does not know
/// the value, so cargo does not pass it on: it only becomes part of the names of artefacts.
pub(super) fn own_split_debuginfo(directory: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    format!("of-{:016x}", hasher.finish())
}

/// Whether cargo's arguments name settings, or files with settings, that are not those of the checkout: cargo refuses two settings for
/// one package.
pub(super) fn has_settings(arguments: &[String]) -> bool {
    let mut of_cargo = arguments.iter().take_while(|argument| *argument != "--");
    let names_some = |argument: &String| {
        let name = argument.split('=').next().unwrap_or_default();
        name == "--config" || name == "--manifest-path" || name.starts_with("-C")
    };
    of_cargo.any(names_some)
}

/// Cargo's settings with which a checkout shares its compiled dependencies with others; `None` if it can share none. A package
/// that a profile names, in the checkout or in the settings above it, is not shared: cargo refuses two settings for one package.
pub(super) fn settings_to_share(checkout: &Path, above: &BuildSettings) -> Option<String> {
    let read = |path| CheckoutFile::find(checkout, path).and_then(|file| file.read());
    let lock: Lock = toml::from_str(&read("Cargo.lock").ok()?).ok()?;
    let mut named = Vec::new();
    for path in SETTINGS {
        match read(path) {
            Ok(text) => named.extend(packages_of_profiles(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    for text in above.texts_with_profiles() {
        named.extend(packages_of_profiles(text)?);
    }
    let mut settings = String::new();
    for Locked { name, version, source } in lock.package {
        let Some(source) = source.filter(|_| !named.iter().any(|key| key.contains(&name))) else { continue };
        let package = format!("{}#{name}@{version}", source.split('#').next().unwrap_or_default());
        // Cargo writes no others.
        if package.chars().all(|char| char.is_ascii_graphic() && !"\"\\".contains(char)) {
            for profile in ["dev", "release"] {
                let _ = writeln!(settings, "[profile.{profile}.package.\"{package}\"]\nsplit-debuginfo = \"off\"");
            }
        }
    }
    (!settings.is_empty()).then_some(settings)
}

/// The packages for which a manifest or cargo's settings set a profile, as they are written there; `None` if the text is not TOML.
fn packages_of_profiles(text: &str) -> Option<Vec<String>> {
    let table: Table = text.parse().ok()?;
    let profiles = table.get("profile").and_then(|profiles| profiles.as_table()).into_iter().flat_map(Table::values);
    let packages = profiles.filter_map(|profile| profile.get("package")?.as_table()).flat_map(Table::keys);
    Some(packages.cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn arguments_that_name_other_settings_are_seen() {
        let has = |arguments: &[&str]| has_settings(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        for arguments in [
            &["test", "--config", "a.toml"][..],
            &["--config=a.toml", "test"],
            &["test", "--manifest-path", "a/Cargo.toml"],
            &["test", "--manifest-path=a/Cargo.toml"],
            &["+nightly", "-C", "a", "test"],
            &["-Ca", "test"],
        ] {
            assert!(has(arguments), "{arguments:?}");
        }
        for arguments in [&["test", "-p", "a"][..], &["rustc", "--", "-C", "opt-level=2"], &[]] {
            assert!(!has(arguments), "{arguments:?}");
        }
    }

    /// `rust-toolchain` may hold only a toolchain's name, and sets no profile.
    #[test]
    fn a_toolchain_named_above_a_checkout_does_not_end_the_sharing() {
        let above = tempfile::tempdir().unwrap();
        let checkout = above.path().join("checkout");
        fs::create_dir(&checkout).unwrap();
        let locked =
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+https://example.org/index\"\n";
        fs::write(checkout.join("Cargo.lock"), locked).unwrap();
        let shares = || settings_to_share(&checkout, &BuildSettings::of(above.path())).is_some();
        assert!(shares());
        fs::write(above.path().join("rust-toolchain"), "nightly\n").unwrap();
        assert!(shares());
        fs::write(above.path().join("Cargo.toml"), "nightly\n").unwrap();
        assert!(!shares());
    }
}
