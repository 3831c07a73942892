//! Checks that `main.rs` includes every Rust file beside it, because a missing module would be a test that never runs. Tests
//! that are a directory of modules include this file; the directory has the test's name.

#[test]
fn main_names_every_file_of_its_directory() {
    let (test, _) = module_path!().split_once("::").unwrap();
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(test);
    // A module with a directory of its own declares the modules in that directory.
    let mut open = vec![(directory.join("main.rs"), directory)];
    while let Some((parent, directory)) = open.pop() {
        let text = std::fs::read_to_string(&parent).unwrap();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push((path.with_extension("rs"), path));
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let module = path.file_stem().unwrap().to_str().unwrap();
            let is_named = path == parent || text.contains(&format!("mod {module};"));
            assert!(is_named, "{} is not in {}", path.display(), parent.display());
        }
    }
}
