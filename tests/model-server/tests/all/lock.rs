//! The lock file of the real programs.

use serde_json::Value;

fn read(name: &str) -> Value {
    let programs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("programs");
    serde_json::from_slice(&std::fs::read(programs.join(name)).unwrap()).unwrap()
}

#[test]
fn the_programs_are_pinned_and_come_from_the_public_registry() {
    let wanted = read("package.json")["dependencies"].clone();
    let lock = read("package-lock.json");
    assert_eq!(lock["packages"][""]["dependencies"], wanted);
    for (program, version) in wanted.as_object().unwrap() {
        assert!(version.as_str().unwrap().starts_with(|first: char| first.is_ascii_digit()), "{program} {version}");
        assert_eq!(&lock["packages"][format!("node_modules/{program}")]["version"], version);
    }
    for (place, package) in lock["packages"].as_object().unwrap() {
        if !place.is_empty() {
            let address = package["resolved"].as_str().unwrap();
            assert!(address.starts_with("https://registry.npmjs.org/"), "{place}: {address}");
            assert!(package["integrity"].as_str().unwrap().starts_with("sha512-"), "{place}");
        }
    }
}
