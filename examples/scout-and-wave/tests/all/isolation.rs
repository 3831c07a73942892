//! The agent's own check of its place, run by a shell.

use crate::project::{Project, git};
use crate::reports::post;
use askama::Template;
use scout_and_wave::prompts::Preflight;
use std::path::Path;
use std::process::Command;

/// Whether the commands succeed in a directory, and their output.
fn run(preflight: &Preflight, from: &Path) -> (bool, String) {
    let script = preflight.render().unwrap();
    let output = Command::new("sh").args(["-c", &script]).current_dir(from).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// SAW-41, SAW-57: in the right place the check passes; in a wrong place it changes to the right one; if that is missing, or has
/// another branch, it fails at once.
#[tokio::test]
async fn an_agent_in_the_wrong_place_fails_or_goes_to_the_right_one() {
    let project = Project::demonstration().await;
    let place = project.place().canonicalize().unwrap();
    let right = place.join("it's the right one");
    let wrong = place.join("wrong");
    for (path, branch) in [(&right, "wave1-agent-a"), (&wrong, "wave1-agent-b")] {
        project.git(&["worktree", "add", "-q", "-b", branch, path.to_str().unwrap()]);
    }
    let preflight = Preflight::new(&right, &post().label());
    let expected = (true, format!("{}\nwave1-agent-a\n", right.display()));
    assert_eq!(run(&preflight, &right), expected);
    assert_eq!(run(&preflight, &project.root()), expected, "it recovers");
    // One has another branch checked out, one is a directory inside a worktree, and one is missing.
    for elsewhere in [wrong, right.join("src"), place.join("nowhere")] {
        let (passed, said) = run(&Preflight::new(&elsewhere, &post().label()), &right);
        assert!(!passed, "{elsewhere:?}: {said}");
    }
    assert_eq!(git(&right, &["status", "--short"]), "");
}
