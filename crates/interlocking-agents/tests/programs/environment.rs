use std::path::{Path, PathBuf};

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::program::{Environment, Invocation, Secret};

use crate::common::{lines, shell};

#[tokio::test]
async fn a_program_sees_what_was_named_and_nothing_else() {
    let environment = Environment::empty().inherit("PATH").set("ADDED", "yes");
    let mut running = Invocation { environment, ..shell("env") }.start().await.unwrap();
    let lines = lines(&mut running).await;
    let mut names: Vec<_> = lines.iter().map(|line| line.split('=').next().unwrap()).collect();
    names.sort_unstable();
    // The shell adds some of these.
    names.retain(|name| !["PWD", "_", "SHLVL", "OLDPWD"].contains(name));
    assert_eq!(names, ["ADDED", "INTERLOCKING_PROGRAM", "PATH"]);
    running.end().await.unwrap();
}

#[tokio::test]
async fn a_secret_reaches_the_program_and_leaves_it_nowhere() {
    let environment = Environment::minimal().secret("KEY", Secret::new("canary-4711"));
    let script = "echo \"{\\\"key\\\":\\\"$KEY\\\"}\"; echo \"refused: $KEY\" >&2; test $KEY = canary-4711";
    let invocation = Invocation { environment, ..shell(script) };
    let mut running = invocation.start().await.unwrap();
    assert_eq!(lines(&mut running).await, [r#"{"key":"[redacted]"}"#]);
    assert!(!format!("{running:?}").contains("canary"));
    let ended = running.end().await.unwrap();
    assert_eq!((ended.exit, ended.stderr.as_str()), (Some(0), "refused: [redacted]"));
}

/// An agent can write a program of that name to the directory in which it works.
#[tokio::test]
async fn a_relative_directory_in_path_is_one_of_this_process() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    let here = std::env::current_dir().unwrap();
    let below_root = || here.components().skip(1);
    let to_root: PathBuf = below_root().map(|_| "..").collect();
    let programs = to_root.join(place.join("programs").strip_prefix("/").unwrap());
    let work = place.join("work").join(below_root().map(|_| "deep").collect::<PathBuf>());
    std::fs::create_dir_all(&work).unwrap();
    for (directory, name) in [(Path::new(""), "right"), (&work, "planted")] {
        let directory = directory.join(&programs);
        std::fs::create_dir_all(&directory).unwrap();
        FaultyProgram::new().line(name).write_to(directory.join("agent")).unwrap();
    }
    let path = std::env::join_paths([&programs, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let environment = Environment::minimal().set("PATH", path);
    let invocation = Invocation { directory: Some(work), ..Invocation::new("agent", environment) };
    let mut running = invocation.start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["right"]);
    running.end().await.unwrap();
}
