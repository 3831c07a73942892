//! A journal of two programs: each removes what its own runs have made, and leaves the runs of the other.

use crate::processes::{example, ran};
use crate::scene::Scene;
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_program_leaves_what_another_one_has_made() {
    let scene = Scene::new();
    let review = |words: &[&str]| {
        let mut command = example("review", scene.place.path(), words);
        ran(command.env("INTERLOCKING_JOURNAL", scene.at("journal")).output().unwrap())
    };
    scene.spawn(&[]).kill();
    assert_eq!(review(&["run", "tides", "--run-id", "r2"]).0, Some(3));
    let before = (scene.left(), scene.show());
    let mut pages = scene.page(review(&["cancel", "r1"]));
    let all = ["prune", "--keep-last", "0", "--unfinished"];
    pages += &scene.page(review(&[&all[..], &["--dry-run"]].concat()));
    pages += &scene.page(review(&all));
    expect_test::expect![[r#"
        exit 2
        error: `r1` is a run of `pair`, which alone can remove what the run has made
          to do: `pair cancel r1`
        exit 0
        r2
        r1 is left to `pair prune`, because `pair` alone can remove what the run has made
        1 run would be removed
        exit 0
        r2
        r1 is left to `pair prune`, because `pair` alone can remove what the run has made
        1 run removed
    "#]]
    .assert_eq(&pages);
    let (exit, stdout, stderr) = review(&[&all[..], &["--json"]].concat());
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let printed: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(printed, json!({ "runs": [], "left": { "r1": "pair" }, "dry_run": false }));
    assert_eq!((scene.left(), scene.show()), before);

    // A file that cannot be read may be of a run that has made something.
    let file = scene.at("journal/pair/r1.json");
    let facts = fs::read(&file).unwrap();
    fs::write(&file, "{").unwrap();
    assert_eq!(review(&["cancel", "r1"]).0, Some(2));
    fs::write(&file, facts).unwrap();

    // A run without files belongs to any program, and so does one that is over.
    assert_eq!(review(&["run", "tides", "--run-id", "r2"]).0, Some(3));
    assert_eq!(scene.call(&["cancel", "r2"]).0, Some(0));
    let (exit, _, stderr) = scene.call(&["cancel", "r1"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), "r1 is cancelled\n"));
    assert_eq!(scene.left(), ["journal/pair/r1.json"]);
    let (exit, _, stderr) = review(&["prune", "--keep-last", "0"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), "2 runs removed\n"));
    assert_eq!(scene.run_as("r3", "project", "other").0, Some(0));
    assert_eq!(scene.left(), ["journal/pair/r3.json", "other"], "the other file goes with the next run");
}
