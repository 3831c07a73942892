//! A file that `main.rs` forgets would be a test that never runs. For every test that is a directory of modules, and has its
//! name.

#[test]
fn main_names_every_file_of_its_directory() {
    let (test, _) = module_path!().split_once("::").unwrap();
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(test);
    let main = std::fs::read_to_string(directory.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(module == "main" || main.contains(&format!("mod {module};")), "{name} is not in main.rs");
    }
}
