//! The agent's own check of where it is, run by a shell.

use crate::project::{Project, git};
use crate::reports::post;
use askama::Template;
use scout_and_wave::prompts::Preflight;
use std::path::Path;
use std::process::Command;

/// How the commands end in a directory, and what they say.
fn run(preflight: &Preflight, from: &Path) -> (bool, String) {
    let script = preflight.render().unwrap();
    let output = Command::new("sh").args(["-c", &script]).current_dir(from).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// SAW-41, SAW-57: in the right place it passes; from a wrong one it goes to the right one; where there is none, or it is another
/// branch's, it fails at once.
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
    // Another branch is checked out there, a directory within a worktree is none, and one is not there.
    for elsewhere in [wrong, right.join("src"), place.join("nowhere")] {
        let (passed, said) = run(&Preflight::new(&elsewhere, &post().label()), &right);
        assert!(!passed, "{elsewhere:?}: {said}");
    }
    assert_eq!(git(&right, &["status", "--short"]), "");
}
