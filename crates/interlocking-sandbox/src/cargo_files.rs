//! The files outside a project that decide how cargo builds it.

use crate::included_files::with_included;
use std::path::{Path, PathBuf};

/// The settings that cargo reads in each directory.
const SETTINGS: [&str; 2] = [".cargo/config.toml", ".cargo/config"];

/// The other files that cargo and rustup read in each directory: workspace and toolchain.
const OTHERS: [&str; 3] = ["Cargo.toml", "rust-toolchain.toml", "rust-toolchain"];

/// The files that decide how cargo builds what is in a directory, whether or not they exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CargoFiles {
    /// Cargo's settings in the directory, in those above it and in cargo's home, and the files that these include.
    pub settings: Vec<PathBuf>,
    /// Workspaces and toolchains in the directory and in those above it, and rustup's settings.
    pub others: Vec<PathBuf>,
}

impl CargoFiles {
    /// The files for builds in `directory` or below it, for this user. Includes are followed as far as the settings can
    /// be read.
    pub fn of(directory: &Path) -> Self {
        Self::with_homes(directory, cargo_home().as_deref(), rustup_home().as_deref())
    }

    pub(crate) fn with_homes(directory: &Path, cargo_home: Option<&Path>, rustup_home: Option<&Path>) -> Self {
        let in_each = |names: &'static [&'static str]| {
            directory.ancestors().flat_map(move |above| names.iter().map(move |name| above.join(name)))
        };
        let at_home = cargo_home.into_iter().flat_map(|home| ["config.toml", "config"].map(|name| home.join(name)));
        Self {
            settings: with_included(in_each(&SETTINGS).chain(at_home).collect(), included),
            others: in_each(&OTHERS).chain(rustup_home.map(|home| home.join("settings.toml"))).collect(),
        }
    }
}

pub(crate) fn cargo_home() -> Option<PathBuf> {
    home("CARGO_HOME", ".cargo")
}

pub(crate) fn rustup_home() -> Option<PathBuf> {
    home("RUSTUP_HOME", ".rustup")
}

fn home(variable: &str, directory: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(directory)))
}

/// The paths in `include`, each a text or a table with a `path`. They are relative to the file's directory, and cargo
/// refuses those that do not end in `.toml`.
fn included(file: &Path, text: &str) -> Vec<PathBuf> {
    let settings = text.parse::<toml::Table>().unwrap_or_default();
    let includes = settings.get("include").and_then(toml::Value::as_array).into_iter().flatten();
    let paths = includes.filter_map(|include| include.get("path").unwrap_or(include).as_str());
    let files = paths.filter_map(|path| Some(file.parent()?.join(path)));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn included_settings_are_found_in_every_directory_and_at_home() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for (name, text) in [
            (
                "above/.cargo/config.toml",
                "include = ['one.toml', { path = '../two.toml', optional = true }, '/', '../key']\n",
            ),
            ("above/.cargo/one.toml", "include = ['sub/three.toml']\n"),
            ("home/config.toml", "include = ['four.toml', 5, {}]\n"),
            ("home/four.toml", "include = 'five.toml'"),
        ] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        }
        let files = CargoFiles::with_homes(&at("above/project"), Some(&at("home")), Some(&at("rustup")));
        for name in ["above/project/.cargo/config", "above/.cargo/config.toml", "home/config.toml", "home/config"] {
            assert!(files.settings.contains(&at(name)), "{name}");
        }
        let included =
            ["above/.cargo/one.toml", "above/.cargo/../two.toml", "home/four.toml", "above/.cargo/sub/three.toml"];
        assert!(files.settings.ends_with(&included.map(at)), "{:?}", files.settings);
        assert!(files.others.contains(&at("above/Cargo.toml")) && files.others.contains(&at("rustup/settings.toml")));
    }
}
