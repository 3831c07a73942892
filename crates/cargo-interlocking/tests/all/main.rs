//! What the command writes. That it compiles and that its test passes is checked by `interlocking-features`.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[path = "../../../../tests/help_is_whole.rs"]
mod help_is_whole;

use cargo_interlocking::{NewProjectError, Shape, Source, write};
use clap::ValueEnum;
use help_is_whole::help_is_whole;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn command(place: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-interlocking")).current_dir(place).args(words).output().unwrap()
}

/// The files below a directory, as paths in it.
fn files(place: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut directories = vec![place.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => _ = found.insert(path.strip_prefix(place).unwrap().to_owned()),
            }
        }
    }
    found
}

#[test]
fn a_project_of_each_shape_has_all_of_its_files_and_its_name() {
    let place = tempfile::tempdir().unwrap();
    for &shape in Shape::value_variants() {
        let value = shape.to_possible_value().unwrap();
        let name = format!("my-{}", value.get_name());
        let project = write(place.path(), &name.parse().unwrap(), shape, &Source::Registry).unwrap();
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(value.get_name());
        let mut expected = files(&templates);
        expected.extend(["Cargo.toml", ".gitignore"].map(PathBuf::from));
        assert_eq!(files(&project), expected, "what is in templates/ is written");
        for file in expected {
            let text = fs::read_to_string(project.join(&file)).unwrap();
            assert!(!text.contains("project-name") && !text.contains("project_name"), "{}", file.display());
        }
        let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
        let version = format!("interlocking = {{ version = \"{}\"", env!("CARGO_PKG_VERSION").trim_end_matches(".0"));
        assert!(manifest.contains(&format!("name = \"{name}\"")) && manifest.contains(&version), "{manifest}");
    }
}

/// Cargo refuses a package below a workspace that does not have it.
#[test]
fn whoever_begins_a_project_in_a_workspace_is_told_of_it() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("Cargo.toml"), "[package]\nname = \"a\"\n\n[workspace]\nmembers = [\"b\"]\n").unwrap();
    let below = place.path().join("b");
    fs::create_dir(&below).unwrap();
    let output = command(&below, &["new", "newsroom"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let manifest = place.path().canonicalize().unwrap().join("Cargo.toml");
    let told = format!("add it to `members` or `exclude` in {}", manifest.display());
    assert!(said.contains(&told), "{said}");
}

/// A closed standard output gives an exit code, and no panic. The project is written all the same.
#[test]
fn nobody_listens() {
    let place = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-interlocking"));
    let output = command.current_dir(place.path()).args(["new", "newsroom"]).stdout(writer).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.starts_with("error: the result could not be written to standard output: "), "{told}");
    assert!(place.path().join("newsroom/Cargo.toml").exists());
}

#[test]
fn the_command_writes_a_project_once() {
    let place = tempfile::tempdir().unwrap();
    let new = ["interlocking", "new", "newsroom", "--shape", "approval"];
    let output = command(place.path(), &new);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.starts_with("newsroom is written."), "{said}");
    assert!(said.contains("cargo run -- run 'the tides' --run-id r1 --agent scripted:demo.toml"), "{said}");
    let before = files(place.path());

    let again = command(place.path(), &new);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(again.stderr).unwrap(),
        "error: newsroom is there already: choose another name, or remove it\n"
    );
    assert_eq!(files(place.path()), before);
}

/// As cargo starts it, and as a shell does.
#[test]
fn the_program_says_all_of_itself() {
    let place = tempfile::tempdir().unwrap();
    let said = |words: &[&str]| {
        let output = command(place.path(), words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for by_cargo in [true, false] {
        let start: &[&str] = if by_cargo { &["interlocking"] } else { &[] };
        help_is_whole(|words| said(&[start, words].concat()));
    }
    assert!(said(&["interlocking", "--help"]).contains("Usage: cargo interlocking <COMMAND>"));
    let completions = said(&["completions", "bash"]);
    assert!(completions.ends_with("-o default cargo-interlocking\nfi\n"), "cargo's own stay: {completions}");
}

#[test]
fn a_checkout_is_named_in_the_manifest_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let checkout = Source::Checkout(root.to_owned());
    let project = write(place.path(), &"here".parse().unwrap(), Shape::Chain, &checkout).unwrap();
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    let path = root.canonicalize().unwrap().join("crates/interlocking");
    assert!(manifest.contains(&format!("interlocking = {{ path = {path:?}, features = [\"cli\"] }}")), "{manifest}");

    let nowhere = Source::Checkout(place.path().to_owned());
    let refused = write(place.path(), &"there".parse().unwrap(), Shape::Chain, &nowhere).unwrap_err();
    assert!(matches!(refused, NewProjectError::NoCheckout(_)), "{refused}");
    assert!(!place.path().join("there").exists());
}

/// The embedded files say `project-name` and `project_name` where the name goes.
#[test]
fn a_name_and_a_checkout_are_written_as_they_are_whatever_is_in_them() {
    let place = tempfile::tempdir().unwrap();
    let checkout = place.path().join("project-name");
    fs::create_dir_all(checkout.join("crates/interlocking")).unwrap();
    fs::write(checkout.join("crates/interlocking/Cargo.toml"), "").unwrap();
    let checkout = checkout.canonicalize().unwrap();
    for name in ["my_project_name", "my-project-name", "project_name"] {
        let source = Source::Checkout(checkout.clone());
        let project = write(place.path(), &name.parse().unwrap(), Shape::Chain, &source).unwrap();
        let read = |file: &str| fs::read_to_string(project.join(file)).unwrap();
        let (manifest, program) = (read("Cargo.toml"), read("src/main.rs"));
        let path = checkout.join("crates/interlocking");
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "{manifest}");
        assert!(manifest.contains(&format!("interlocking = {{ path = {path:?}, ")), "{manifest}");
        assert!(program.contains(&format!("\nuse {}::", name.replace('-', "_"))), "{program}");
        assert!(program.contains(&format!("Cli::new({name:?}, ")), "{program}");
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let refused = command(place.path(), &["interlocking", "new", "../up"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("\"../up\" is no name of a project"));
    assert!(files(place.path()).is_empty());
}
