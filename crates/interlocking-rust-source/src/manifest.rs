//! Checks changes of a package's manifest. Agents may change only dependencies from registries, features, and descriptions of the
//! package.
//!
//! Everything else decides what is compiled, what runs during a build, or how tests are run: a build script, a profile in which a
//! panic ends the process, a test program without a harness, another source for a dependency.

use crate::RefusedConstruct;
use std::collections::BTreeSet;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// The tables of dependencies of the package's own code and tests.
const DEPENDENCIES: [&str; 2] = ["dependencies", "dev-dependencies"];

/// The keys that a dependency may have. They do not change where it comes from or what it is called.
const OF_A_DEPENDENCY: [&str; 4] = ["version", "features", "default-features", "optional"];

/// The keys of `[package]` that agents may change.
const OF_A_PACKAGE: [&str; 5] = ["description", "keywords", "categories", "readme", "documentation"];

/// Code that runs while a package is built, according to its manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BuildTime {
    /// The build script, if the manifest names one in the repository: its path relative to the repository's top, without `.` and
    /// `..`.
    pub(crate) script: Option<String>,
    /// Whether the package is a procedural macro crate.
    pub(crate) is_procedural: bool,
}

/// Every change from the earlier manifest that agents may not make and that is not `allowed`. Without an earlier manifest,
/// everything counts as changed.
pub(crate) fn manifest_changes(
    path: &str,
    before: Option<&str>,
    now: &str,
    allowed: &[String],
) -> Vec<RefusedConstruct> {
    let now_table: Table = match now.parse() {
        Ok(table) => table,
        Err(_) => return vec![refused(path, now, "Cargo.toml", "it is not TOML")],
    };
    let before: Table = before.and_then(|before| before.parse().ok()).unwrap_or_default();
    let mut changed = Vec::new();
    let keys: BTreeSet<&String> = before.keys().chain(now_table.keys()).collect();
    for key in keys {
        let (old, new) = (before.get(key), now_table.get(key));
        if old == new {
            continue;
        }
        let inside = |value: Option<&Value>| value.and_then(Value::as_table).cloned().unwrap_or_default();
        let (old, new) = (inside(old), inside(new));
        let is_dependencies = DEPENDENCIES.contains(&key.as_str());
        if !is_dependencies && key != "package" && key != "features" {
            changed.push(key.clone());
            continue;
        }
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names.into_iter().filter(|name| old.get(*name) != new.get(*name)) {
            let is_fine = match key.as_str() {
                "features" => true,
                "package" => OF_A_PACKAGE.contains(&name.as_str()),
                _ => new.get(name).is_none_or(|dependency| is_from_a_registry(name, dependency)),
            };
            if !is_fine {
                changed.push(format!("{key}.{name}"));
            }
        }
    }
    let reason = "it decides how the package is built and tested; a person has to change it";
    let named = |key: &String| refused(path, now, key, reason);
    changed.iter().map(named).filter(|found| !allowed.contains(&found.construct)).collect()
}

/// The code that runs while the package with this manifest is built. `directory` is the manifest's, relative to the repository's top;
/// empty at the top.
pub(crate) fn build_time(directory: &str, manifest: &str) -> BuildTime {
    let table: Table = manifest.parse().unwrap_or_default();
    let of = |section: &str, name: &str| table.get(section).and_then(|section| section.get(name));
    let mut types = ["crate-type", "crate_type"].iter().filter_map(|name| of("lib", name)?.as_array()).flatten();
    BuildTime {
        script: of("package", "build").and_then(Value::as_str).and_then(|script| path_below_top(directory, script)),
        is_procedural: ["proc-macro", "proc_macro"].iter().any(|name| of("lib", name) == Some(&Value::Boolean(true)))
            || types.any(|kind| kind.as_str() == Some("proc-macro")),
    }
}

/// The path relative to the top of what is at `path` relative to a directory; `None` if that is not below the top.
fn path_below_top(directory: &str, path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!path.starts_with('/')).then(|| parts.join("/"))
}

/// The name by which other crates and integration tests import a package's library.
pub fn library_name(manifest: &str) -> Option<String> {
    let table: Table = manifest.parse().ok()?;
    let named = |section: &str| Some(table.get(section)?.get("name")?.as_str()?.replace('-', "_"));
    named("lib").or_else(|| named("package"))
}

fn is_from_a_registry(name: &str, dependency: &Value) -> bool {
    // A dependency with one of these names would replace the standard library unnoticed.
    let is_a_name = !matches!(name.replace('-', "_").as_str(), "std" | "core" | "alloc" | "proc_macro" | "test");
    is_a_name
        && match dependency {
            Value::String(_) => true,
            Value::Table(table) => table.keys().all(|key| OF_A_DEPENDENCY.contains(&key.as_str())),
            _ => false,
        }
}

fn refused(path: &str, text: &str, key: &str, reason: &str) -> RefusedConstruct {
    let (line, column) = (line_of(text, key), 1);
    RefusedConstruct { path: path.to_owned(), line, column, construct: key.to_owned(), reason: reason.to_owned() }
}

/// The line of a key such as `package.build`; that of its table if the key is not there, and the first if that is not either.
fn line_of(text: &str, key: &str) -> usize {
    let (section, name) = key.split_once('.').unwrap_or((key, ""));
    let table = DeTable::parse(text).ok();
    let of_section = table.as_ref().and_then(|table| entry(table.get_ref(), section));
    let of_name = of_section.and_then(|(_, value)| entry(value.as_table()?, name));
    let offset = of_name.or(of_section).map_or(0, |(offset, _)| offset);
    text.get(..offset).unwrap_or_default().matches('\n').count() + 1
}

fn entry<'a>(table: &'a DeTable<'a>, name: &str) -> Option<(usize, &'a DeValue<'a>)> {
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
    Some((key.span().start, value.get_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "[package]\nname = \"a\"\nedition = \"2024\"\n\n[dependencies]\nserde = \"1\"\n";

    fn changed(now: &str) -> Vec<String> {
        let found = manifest_changes("Cargo.toml", Some(BEFORE), now, &[]);
        found.into_iter().map(|found| found.construct).collect()
    }

    #[test]
    fn a_dependency_may_come_from_a_registry() {
        assert_eq!(changed(BEFORE), [""; 0]);
        assert_eq!(changed(&format!("{BEFORE}itoa = {{ version = \"1\", default-features = false }}\n")), [""; 0]);
        assert_eq!(changed(&BEFORE.replace("serde = \"1\"\n", "")), [""; 0]);
        assert_eq!(changed(&format!("{BEFORE}[dev-dependencies]\nproptest = \"1\"\n")), [""; 0]);
    }

    #[test]
    fn what_decides_about_builds_and_tests_may_not_change() {
        for (added, key) in [
            ("evil = { path = \"src/evil\" }\n", "dependencies.evil"),
            ("evil = { git = \"https://example.org\" }\n", "dependencies.evil"),
            ("evil = { version = \"1\", registry = \"mine\" }\n", "dependencies.evil"),
            ("evil = { version = \"1\", package = \"libc\" }\n", "dependencies.evil"),
            ("std = \"1\"\n", "dependencies.std"),
            ("proc-macro = \"1\"\n", "dependencies.proc-macro"),
            ("[profile.dev]\npanic = \"abort\"\n", "profile"),
            ("[[test]]\nname = \"properties\"\nharness = false\n", "test"),
            ("[lib]\nproc-macro = true\n", "lib"),
            ("[build-dependencies]\ncc = \"1\"\n", "build-dependencies"),
            ("[patch.crates-io]\nserde = { path = \"src\" }\n", "patch"),
            ("[workspace]\n", "workspace"),
            ("[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n", "target"),
        ] {
            assert_eq!(changed(&format!("{BEFORE}{added}")), [key], "{added}");
        }
        let script = BEFORE.replace("edition", "build = \"src/lib.rs\"\nedition");
        assert_eq!(changed(&script), ["package.build"]);
        let found = manifest_changes("Cargo.toml", Some(BEFORE), &script, &[]);
        assert_eq!((found[0].path.as_str(), found[0].line), ("Cargo.toml", 3));
        assert_eq!(manifest_changes("Cargo.toml", Some(BEFORE), &script, &["package.build".to_owned()]), []);
        assert_eq!(changed(&BEFORE.replace("2024", "2015")), ["package.edition"]);
        assert_eq!(manifest_changes("new/Cargo.toml", None, BEFORE, &[]).len(), 2, "name and edition");
    }

    #[test]
    fn a_finding_is_in_the_line_of_its_key() {
        let lines = |now: &str| {
            let found = manifest_changes("Cargo.toml", Some(BEFORE), now, &[]);
            found.into_iter().map(|found| (found.construct, found.line)).collect::<Vec<_>>()
        };
        let one = |key: &str, line| vec![(key.to_owned(), line)];
        let named = "serde_json = \"1\"\nserde = { path = \"src\" }\n";
        assert_eq!(lines(&BEFORE.replace("serde = \"1\"\n", named)), one("dependencies.serde", 7));
        let quoted = "\"evil\" = { git = \"https://example.org\" }\n";
        assert_eq!(lines(&format!("{BEFORE}{quoted}")), one("dependencies.evil", 7));
        let table = "[dependencies.evil]\npath = \"src\"\n";
        assert_eq!(lines(&format!("{BEFORE}\n{table}")), one("dependencies.evil", 8));
        assert_eq!(lines(&format!("{BEFORE}\n# test\n[[test]]\nname = \"a\"\n")), one("test", 9));
        // What is gone is where its table is.
        assert_eq!(lines(&BEFORE.replace("edition = \"2024\"\n", "")), one("package.edition", 1));
    }

    #[test]
    fn what_runs_while_it_is_built_is_known() {
        let script = |directory, path: &str| {
            let found = build_time(directory, &format!("[package]\nbuild = \"{path}\"\n"));
            assert!(!found.is_procedural);
            found.script
        };
        for (directory, path, from_top) in [
            ("", "src/gen.rs", Some("src/gen.rs")),
            ("a/b", "src/gen.rs", Some("a/b/src/gen.rs")),
            ("a/b", "./src/./gen.rs", Some("a/b/src/gen.rs")),
            ("a/b", "../src//gen.rs", Some("a/src/gen.rs")),
            ("a", "../../gen.rs", None),
            ("", "/gen.rs", None),
        ] {
            assert_eq!(script(directory, path).as_deref(), from_top, "{directory:?} {path}");
        }
        for procedural in ["proc-macro = true", "proc_macro = true", "crate-type = [\"proc-macro\"]"] {
            let found = build_time("", &format!("[lib]\n{procedural}\n"));
            assert_eq!(found, BuildTime { script: None, is_procedural: true }, "{procedural}");
        }
        assert!(!build_time("", "[lib]\ncrate-type = [\"rlib\"]\n").is_procedural);
        assert_eq!(build_time("", BEFORE), BuildTime::default());
    }
}
