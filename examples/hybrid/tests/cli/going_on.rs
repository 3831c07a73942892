//! Runs that are over: a failed node is retried, a fork goes its own way, and work that could not land is landed later.

use crate::artefacts::target_directory;
use crate::program::{Repository, Session, git, without_builds, without_mutants};
use hybrid::demo::Scenario;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A repository, a journal, and the arguments of `run` for `r1`, with the task file beside the journal.
async fn scene(task: fn(&Path) -> String, players: &[&str]) -> (Repository, Session, Vec<String>) {
    let (repository, session, target) = (Repository::new().await, Session::new(), target_directory());
    let task = task(session.path());
    let more = ["--spec", &task, "--run-id", "r1", "--target-dir", target.to_str().unwrap()];
    let words = repository.arguments(&[players, &more].concat());
    (repository, session, words)
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The demonstration's agents, except that the implementing agent fails until a file exists.
fn needing(session: &Session, file: &Path) -> String {
    let happy = Scenario::Happy.script();
    let turn = happy.find("agent = \"impl\"").unwrap();
    let end = happy[turn..].find("\n[[turn]]").map_or(happy.len(), |end| turn + end + 1);
    let needs = format!("\n[[turn.run]]\ncommand = [\"test\", \"-e\", {:?}]\n\n", file.to_str().unwrap());
    let path = session.path().join("needing.toml");
    fs::write(&path, format!("{}{needs}{}", &happy[..end], &happy[end..])).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Retried, killed during the retry, and resumed: the result is that of an undisturbed run. Impossible requests are refused, and
/// nothing is done.
#[tokio::test]
async fn a_run_that_has_failed_goes_on_at_the_node_that_failed() {
    let script = Session::new();
    let needed = script.path().join("needed");
    let (repository, session, run) = scene(without_mutants, &["--script", &needing(&script, &needed)]).await;
    let before = repository.traces();
    let failed = session.call(&words(&run));
    assert_eq!(failed.exit, Some(1), "{}", failed.stderr);
    assert!(
        failed.stderr.contains("\nTo go on    `hybrid resume r1 --retry` tries again what failed"),
        "{}",
        failed.stderr
    );
    assert_eq!(repository.traces(), before, "nothing is left but commits in the archive");
    assert_eq!(session.beside(), ["r1", "r1.json"], "and beside the journal, what its agents remember");
    let known = Session::done(&session.show("r1"));

    // First the repository is missing, then the record of its location.
    let (path, away) = (repository.path(), repository.path().with_file_name("away"));
    fs::rename(&path, &away).unwrap();
    let refused = session.call(&["resume", "r1", "--retry"]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    let said = format!(
        "error: the repository that `r1` worked on is gone\n  at: {}\n  to do: bring it back, or",
        path.display()
    );
    assert!(refused.stderr.starts_with(&said) && refused.stderr.ends_with("/r1.json\n"), "{}", refused.stderr);
    fs::rename(&away, &path).unwrap();
    let file = session.path().join("journal/hybrid/r1.json");
    let aside = session.path().join("r1.json");
    fs::rename(&file, &aside).unwrap();
    let refused = session.call(&["resume", "r1", "--retry"]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("the file that records its repository and directories is gone\n  at: "),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("  to do: bring the file back from a copy"), "{}", refused.stderr);
    fs::rename(&aside, &file).unwrap();
    // The archive was deleted.
    let archived = git(&path, &["for-each-ref", "--format=%(refname) %(objectname)", "refs/interlocking/archive"]);
    let (name, commit) = archived.split_once(' ').unwrap();
    let pack = format!("{}.git", path.display());
    git(&path, &["clone", "--quiet", "--mirror", ".", &pack]);
    git(&path, &["update-ref", "-d", name]);
    git(&path, &["reflog", "expire", "--expire=now", "--all"]);
    git(&path, &["gc", "--quiet", "--prune=now"]);
    let refused = session.call(&["resume", "r1", "--retry"]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("the commit {commit}, which `")), "{}", refused.stderr);
    assert!(refused.stderr.contains("bring the commit back from a copy of the repository"), "{}", refused.stderr);
    git(&path, &["fetch", "--quiet", &pack, "+refs/interlocking/*:refs/interlocking/*"]);
    fs::remove_dir_all(pack).unwrap();
    assert_eq!(repository.traces().differences(&before), [""; 0]);
    assert_eq!(session.beside(), ["r1", "r1.json"]);
    assert_eq!(Session::done(&session.show("r1")), known);

    fs::write(needed, "").unwrap();
    let mut process = session.spawn(&["resume", "r1", "--retry"]);
    session.wait_until_done(&mut process, "implementation", 1);
    process.kill();
    assert!(!repository.is_tidy(), "it can be resumed");
    let ran = session.call(&["resume", "r1"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let account = ran.json();
    assert_eq!(account["target"]["after"].as_str().unwrap(), git(&path, &["rev-parse", "main"]));
    assert_eq!(git(&path, &["rev-list", "--count", "main"]), "6");
    assert!(Session::done(&session.show("r1")).starts_with(&known));
    assert_eq!(repository.traces().differences(&before), [""; 0]);
    assert_eq!(session.beside(), ["r1.json"]);

    // A run that is over reports its end again, whatever has happened to the branch since.
    let user = ["-c", "user.name=A user", "-c", "user.email=user@interlocking.invalid"];
    git(&path, &[&user[..], &["commit", "--quiet", "--allow-empty", "--message", "Notes"]].concat());
    let told = session.call(&["resume", "r1"]);
    assert_eq!(told.exit, Some(0), "{}", told.stderr);
    assert_eq!((&told.json()["target"], &told.json()["success"]), (&account["target"], &Value::from(true)));
    assert_eq!(repository.traces().differences(&before), [""; 0]);
    let again = session.call(&["resume", "r1", "--retry"]);
    assert_eq!(again.exit, Some(2), "{}", again.stderr);
}

/// A fork has places, agents and a result of its own, and the original is unchanged.
#[tokio::test]
async fn a_fork_goes_to_an_end_of_its_own() {
    let (repository, session, run) = scene(without_mutants, &["--scenario", "happy"]).await;
    let before = repository.traces();
    let first = session.call(&words(&run));
    assert_eq!(first.exit, Some(0), "{}", first.stderr);
    let main = git(&repository.path(), &["rev-parse", "main"]);
    let forked = session.call(&["fork", "r1", "--before", "implementation"]);
    assert_eq!((forked.exit, forked.stdout.as_str()), (Some(0), "r1-fork\n"), "{}", forked.stderr);
    let known = session.show("r1-fork");

    let refused = session.call(&["resume", "r1-fork"]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    let base = first.json()["target"]["before"].as_str().unwrap().to_owned();
    assert!(
        refused.stderr.contains(&format!("the run began at {base}, and main is at {main} now: ")),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("\n  to do: --land-on BRANCH lands it on a branch of its own"),
        "{}",
        refused.stderr
    );
    assert_eq!(session.show("r1-fork")["records"], known["records"], "nothing was done");
    assert_eq!(repository.traces().differences(&before), [""; 0]);
    assert_eq!(session.beside(), ["r1-fork.json", "r1.json"]);

    let mut process = session.spawn(&["resume", "r1-fork", "--land-on", "second"]);
    session.wait_until_run(&mut process, "r1-fork", "the implementation is done", |shown| {
        Session::done(shown).iter().any(|(node, ..)| node == "implementation")
    });
    process.kill();
    let ran = session.call(&["resume", "r1-fork"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let account = ran.json();
    assert_eq!(account["target"]["branch"], "second");
    assert_eq!(account["target"]["after"].as_str().unwrap(), git(&repository.path(), &["rev-parse", "second"]));
    assert_eq!(git(&repository.path(), &["rev-parse", "main"]), main);
    assert_eq!(git(&repository.path(), &["rev-list", "--count", &format!("{base}..second")]), "5");
    git(&repository.path(), &["branch", "--quiet", "-D", "second"]);
    assert_eq!(repository.traces().differences(&before), [""; 0]);
    assert_eq!(session.beside(), ["r1-fork.json", "r1.json"]);
    assert_eq!(session.show("r1")["state"], "finished");

    // Files of a run that the journal has dropped are removed here, too.
    assert_eq!(session.call(&["prune", "--keep-last", "0"]).exit, Some(0));
    let (target, task) = (target_directory(), without_builds(session.path()));
    let demonstration =
        session.call(&["run", "--run-id", "r3", "--spec", &task, "--target-dir", target.to_str().unwrap()]);
    assert_eq!(demonstration.exit, Some(0), "{}", demonstration.stderr);
    assert!(!session.path().join("journal/hybrid").exists());
}

/// A run that succeeded, and could not land because of uncommitted changes, is landed once these are gone.
#[tokio::test]
async fn what_could_not_be_landed_is_landed_later() {
    let (repository, session, run) = scene(without_builds, &["--scenario", "happy"]).await;
    let (before, file) = (repository.traces(), repository.path().join("src/lib.rs"));
    let main = git(&repository.path(), &["rev-parse", "main"]);
    fs::write(&file, "//! Somebody is at work here.\n").unwrap();
    let blocked = session.call(&words(&run));
    assert_eq!(blocked.exit, Some(1), "{}", blocked.stderr);
    assert!(
        blocked
            .stderr
            .contains("\nTo go on    `hybrid resume r1 --retry` tries again what failed, once its cause is gone"),
        "{}",
        blocked.stderr
    );
    assert!(blocked.stderr.contains("main is checked out: "), "{}", blocked.stderr);
    let still = session.call(&["resume", "r1", "--retry"]);
    assert_eq!(still.exit, Some(1), "{}", still.stderr);
    assert_eq!(git(&repository.path(), &["rev-parse", "main"]), main);
    git(&repository.path(), &["checkout", "--quiet", "--", "src/lib.rs"]);
    let landed = session.call(&["resume", "r1", "--retry"]);
    assert_eq!(landed.exit, Some(0), "{}", landed.stderr);
    assert_eq!(landed.json()["target"]["after"].as_str().unwrap(), git(&repository.path(), &["rev-parse", "main"]));
    assert!(fs::read_to_string(file).unwrap().contains("impl BoundedStack"));
    assert_eq!(repository.traces().differences(&before), [""; 0]);
}
