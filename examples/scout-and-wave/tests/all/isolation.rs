//! The agent's own check of where it is, run by a shell.

use crate::project::{Project, git};
use crate::reports::post;
use askama::Template;
use scout_and_wave::prompts::Preflight;
use std::path::Path;
use std::process::Command;

/// How the commands end in a directory, and what they say.
fn run(preflight: &Preflight, from: &Path) -> (bool, String) {
    let script = format!("{}\npwd -P", preflight.render().unwrap());
    let output = Command::new("sh").args(["-c", &script]).current_dir(from).output().unwrap();
    let said = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.success(), String::from_utf8(said).unwrap().trim().to_owned())
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
    let expected = (true, right.to_str().unwrap().to_owned());
    assert_eq!(run(&preflight, &right), expected);
    assert_eq!(run(&preflight, &project.root()), expected, "it recovers");
    // Another branch is checked out there.
    let (passed, said) = run(&Preflight::new(&wrong, &post().label()), &right);
    assert!(!passed && said.ends_with("/wrong is not on the branch wave1-agent-a"), "{said}");
    // A directory within a worktree is none.
    let (passed, said) = run(&Preflight::new(&right.join("src"), &post().label()), &right);
    assert!(!passed && said.ends_with("/src is no worktree of its own"), "{said}");
    let (passed, said) = run(&Preflight::new(&place.join("nowhere"), &post().label()), &right);
    assert!(
        !passed && said.ends_with("isolation: there is no such directory: wave1-agent-a has no worktree"),
        "{said}"
    );
    assert_eq!(git(&right, &["status", "--short"]), "");
}
