//! Changes to files that decide how everything is built, or run while it is built. Of these, agents may change only parts of
//! manifests, and lock files, which every build may write.

use crate::RefusedConstruct;
use crate::manifest::{build_time, manifest_changes};

/// A version of a project's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Before the changes.
    Before,
    /// With the changes.
    Now,
}

/// Whether a file, or what is below a directory, decides how cargo builds a project: manifests and lock files, build scripts,
/// cargo's configuration and the toolchain's version, in any directory. A build script can pass information across a barrier between
/// agents, so blind agents must not write one.
pub fn defines_the_build(path: &str) -> bool {
    const NAMES: [&str; 5] = ["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"];
    path.split('/').any(|part| part == ".cargo") || path.rsplit('/').next().is_some_and(|name| NAMES.contains(&name))
}

/// The changes to a changed file that agents may not make, because they decide how everything is built, or run while it is built:
/// either could falsify a verdict on the code. `allowed` names what a person permits, as a refusal names it; `text` reads a file of a
/// version, and none if it does not exist there.
///
/// # Errors
///
/// Those of `text`.
pub fn build_changes<E>(
    path: &str,
    allowed: &[String],
    mut text: impl FnMut(Version, &str) -> Result<Option<String>, E>,
) -> Result<Vec<RefusedConstruct>, E> {
    let (construct, reason) = match path.rsplit('/').next().unwrap_or_default() {
        "Cargo.lock" => return Ok(Vec::new()),
        "Cargo.toml" => match text(Version::Now, path)? {
            Some(manifest) => {
                let before = text(Version::Before, path)?;
                return Ok(manifest_changes(path, before.as_deref(), &manifest, allowed));
            }
            None => (path, "a person has to remove it"),
        },
        _ if defines_the_build(path) => (path, "it decides how everything is built; a person has to change it"),
        _ if path.ends_with(".rs") && runs_at_build_time(path, |manifest| text(Version::Before, manifest))? => {
            ("build script", "it runs while everything is built; a person has to change it")
        }
        _ => return Ok(Vec::new()),
    };
    if allowed.iter().any(|allowed| allowed == construct) {
        return Ok(Vec::new());
    }
    let (path, construct, reason) = (path.to_owned(), construct.to_owned(), reason.to_owned());
    Ok(vec![RefusedConstruct { path, line: 1, column: 1, construct, reason }])
}

/// Whether a file is its package's build script, or belongs to a package of procedural macros. The tests and benchmarks of such a
/// package are programs of their own, and run after the build.
fn runs_at_build_time<E>(
    path: &str,
    mut manifest_at: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<bool, E> {
    let mut directory = path;
    while !directory.is_empty() {
        directory = directory.rsplit_once('/').map_or("", |(directory, _)| directory);
        let manifest = if directory.is_empty() { "Cargo.toml".to_owned() } else { format!("{directory}/Cargo.toml") };
        if let Some(manifest) = manifest_at(&manifest)? {
            let found = build_time(directory, &manifest);
            let inside = path.strip_prefix(directory).unwrap_or(path).trim_start_matches('/');
            let is_test = inside.starts_with("tests/") || inside.starts_with("benches/");
            return Ok(found.is_procedural && !is_test || found.script.as_deref() == Some(path));
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const MANIFEST: &str = "[package]\nname = \"a\"\nbuild = \"src/make.rs\"\n";

    fn refused(path: &str, allowed: &[String]) -> Vec<String> {
        let text = |version, path: &str| {
            let text = match (version, path) {
                (Version::Now, "kept/Cargo.toml") => "[package]\nname = \"a\"\ndescription = \"A.\"\n",
                (Version::Now, "changed/Cargo.toml") => "[package]\nname = \"a\"\nbuild = false\n",
                (Version::Before, "kept/Cargo.toml" | "changed/Cargo.toml" | "gone/Cargo.toml") => {
                    "[package]\nname = \"a\"\n"
                }
                (Version::Before, "a/Cargo.toml") => MANIFEST,
                (Version::Before, "macros/Cargo.toml") => "[lib]\nproc-macro = true\n",
                _ => return Ok(None),
            };
            Ok::<_, Infallible>(Some(text.to_owned()))
        };
        let Ok(refused) = build_changes(path, allowed, text);
        refused.into_iter().map(|refused| refused.construct).collect()
    }

    /// V3-80
    #[test]
    fn what_decides_a_build_is_refused_in_any_directory() {
        for path in ["build.rs", "a/build.rs", ".cargo/config.toml", "a/.cargo/x/y", ".cargo", "rust-toolchain"] {
            assert_eq!(refused(path, &[]), [path], "{path}");
            assert_eq!(refused(path, &[path.to_owned()]), [""; 0], "{path} is allowed");
        }
        assert_eq!(refused("gone/Cargo.toml", &[]), ["gone/Cargo.toml"]);
        assert_eq!(refused("changed/Cargo.toml", &[]), ["package.build"]);
        for path in ["Cargo.lock", "a/Cargo.lock", "kept/Cargo.toml", "src/lib.rs", "a/cargo/config.toml", "b/make.rs"]
        {
            assert_eq!(refused(path, &[]), [""; 0], "{path}");
        }
    }

    /// V3-80: the nearest manifest above a file is that of its package.
    #[test]
    fn code_that_runs_at_build_time_is_refused() {
        for (path, is_refused) in [
            ("a/src/make.rs", true),
            ("a/src/lib.rs", false),
            ("a/src/make.txt", false),
            ("macros/src/deep/lib.rs", true),
            ("macros/README.md", false),
            ("macros/tests/p.rs", false),
            ("macros/benches/b.rs", false),
            ("macros/src/tests/p.rs", true),
            ("src/make.rs", false),
        ] {
            let expected = if is_refused { &["build script"][..] } else { &[] };
            assert_eq!(refused(path, &[]), expected, "{path}");
        }
        assert_eq!(refused("a/src/make.rs", &["build script".to_owned()]), [""; 0]);
    }
}
