//! Paths that a run cannot store.

use crate::scene::Scene;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// The paths of a run are stored as text.
#[test]
fn a_path_that_is_not_utf_8_is_refused_before_anything_is_done() {
    let scene = Scene::new();
    let odd = scene.place.path().join(OsStr::from_bytes(b"p\xff"));
    fs::create_dir(&odd).unwrap();
    let absolute = |name: &str| scene.at(name).into_os_string();
    for option in ["--repo", "--work-dir", "--target-dir", "--result", "--script", "--agents", "TMPDIR", "."] {
        let mut command = scene.command(&["run", "a greeting", "--run-id", "r1"]);
        for (usual, path) in [("--repo", "project"), ("--work-dir", "work"), ("--script", "agents.toml")] {
            if usual != option && !(usual == "--work-dir" && option == "TMPDIR") {
                command.arg(usual).arg(absolute(path));
            }
        }
        match option {
            "TMPDIR" => command.env("TMPDIR", &odd),
            "." => command.current_dir(&odd),
            option => command.arg(option).arg(&odd),
        };
        let (exit, stdout, stderr) = crate::processes::ran(command.output().unwrap());
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{option}: {stderr}");
        let option = if option == "." { "the current directory" } else { option };
        let told = format!(
            "error: the path is not UTF-8, and a run stores its paths as text\n  at: {option} {}",
            odd.display()
        );
        assert!(stderr.starts_with(&told), "{option}: {stderr}");
        assert_eq!(scene.left(), [""; 0], "{option}");
    }
}
