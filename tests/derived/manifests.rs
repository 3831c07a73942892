//! What manifests say is true: a library or program with `test = false` or `doctest = false` is not built again to run no tests, so
//! it must have none; and a published crate has a README, which is its page on crates.io.

#![expect(clippy::unwrap_used, reason = "a workspace that cannot be read should fail its test")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The languages of blocks in documentation that no test runs.
const TEXT: [&str; 4] = ["text", "console", "toml", "yaml"];

fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["metadata", "--no-deps", "--format-version=1", "--offline", "--locked"];
    let said = Command::new(cargo).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let metadata: Value = serde_json::from_slice(&said.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn is(target: &Value, kind: &str) -> bool {
    target["kind"].as_array().unwrap().iter().any(|of| of == kind)
}

fn file_of(target: &Value) -> PathBuf {
    target["src_path"].as_str().unwrap().into()
}

/// The files of a library.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn has_tests(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap();
    let is_test = |line: &str| line.starts_with("#[test") || line.starts_with("#[tokio::test");
    text.lines().any(|line| is_test(line.trim_start()))
}

fn has_examples(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap();
    let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//")).map(|line| line.get(1..));
    let fences = comments.filter_map(|line| line?.trim_start().strip_prefix("```"));
    fences.step_by(2).any(|language| !TEXT.contains(&language.trim()))
}

#[test]
fn what_is_not_built_for_its_tests_has_none() {
    let targets: Vec<Value> =
        packages().iter().flat_map(|package| package["targets"].as_array().unwrap().clone()).collect();
    let libraries = targets.iter().filter(|target| is(target, "lib") || is(target, "proc-macro"));
    let mut quiet = 0;
    for library in libraries {
        let directory = file_of(library).parent().unwrap().to_owned();
        let mut files = Vec::new();
        sources(&directory, &mut files);
        if library["test"] == false {
            for file in &files {
                assert!(!has_tests(file), "nothing runs the tests of {}: its manifest says so", file.display());
            }
            quiet += 1;
        }
        if library["doctest"] == false {
            for file in &files {
                assert!(!has_examples(file), "nothing runs the examples of {}: its manifest says so", file.display());
            }
            quiet += 1;
        }
    }
    for program in targets.iter().filter(|target| is(target, "bin") && target["test"] == false) {
        let file = file_of(program);
        assert!(!has_tests(&file), "nothing runs the tests of {}: its manifest says so", file.display());
        quiet += 1;
    }
    assert!(quiet > 10, "manifests say so");
}

#[test]
fn a_published_crate_has_a_readme_that_can_be_read_without_the_repository() {
    let packages = packages();
    // `publish` is null unless the manifest forbids it.
    let published: Vec<&Value> = packages.iter().filter(|package| package["publish"].is_null()).collect();
    assert!(published.len() > 15, "they are published");
    for package in published {
        let name = package["name"].as_str().unwrap();
        let readme = package["readme"].as_str().unwrap_or_else(|| panic!("{name} has no README.md"));
        let file = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().join(readme);
        let text = fs::read_to_string(file).unwrap();
        // The facade's is the repository's, whose links are for readers of the repository.
        assert!(name == "interlocking" || text.starts_with(&format!("# {name}\n")), "{name}: another title");
        assert!(!text.contains("](../"), "{name}: a link out of the crate leads nowhere on crates.io");
    }
}
