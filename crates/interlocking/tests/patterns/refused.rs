//! Patterns that a graph cannot express: for each a table that would, and the reason why it is refused.

use expect_test::expect_file;
use interlocking::net::Net;
use interlocking::table::Table;
use interlocking_soundness::{Verdict, check};
use std::path::Path;

/// The message about the table in `refused/<name>.json`: of the net's rules, or of the soundness check.
pub(crate) fn message(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patterns/refused").join(format!("{name}.json"));
    let table: Table = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let net = match Net::new(table) {
        Ok(net) => net,
        Err(error) => return format!("{error}\n"),
    };
    let Verdict::Unsound { violations } = check(&net) else { panic!("{name} is not refused") };
    // A violation that follows from another is left out, as the derive leaves it out.
    let roots = violations.iter().filter(|one| !violations.iter().any(|other| one.follows(other)));
    let said: Vec<String> = roots.map(ToString::to_string).collect();
    said.join("\n\n") + "\n"
}

/// The names of all tables in `refused/`.
pub(crate) fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patterns/refused");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<_> = tables.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Each table is refused with the expected message.
#[test]
fn each_is_refused_in_its_words() {
    for name in names() {
        expect_file![format!("./refused/{name}.txt")].assert_eq(&message(&name));
    }
}
