//! What an agent can write into a repository's own directory, and how it can make the user's programs run its own.

use std::{fs::File, path::Path};

use interlocking_worktree::{CommitId, Configuration, GitError, Limits, Refused, Repository, WorktreeError};

use crate::{
    hostile_files::{in_time, make_pipe},
    judge::{Place, author, branch, git_in, run, write},
};

fn reason(error: WorktreeError) -> Refused {
    match error {
        WorktreeError::Git(error) => error.reason().unwrap_or_else(|| panic!("{error}")).clone(),
        error => panic!("{error}"),
    }
}

fn sparse(path: &Path, bytes: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::options().create(true).truncate(false).write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// Files that take no space on disk, and would take gigabytes of memory to read.
#[test]
fn enormous_files_are_refused_by_name_with_the_limit() {
    let place = Place::new();
    let linked = place.worktree("linked");
    let clone = place.repository.create_clone(place.path().join("run/clone"), &branch("clone"), place.main()).unwrap();
    for (worktree, git) in [(&linked, place.project().join(".git")), (&clone, clone.path().join(".git"))] {
        let own = if worktree.is_clone() { git.clone() } else { git.join("worktrees/linked") };
        for (path, limit) in [
            (git.join("packed-refs"), Some("references")),
            (git.join("config"), Some("configuration")),
            (git.join("info/exclude"), Some("rules")),
            (git.join("info/attributes"), Some("rules")),
            (git.join("shallow"), Some("references")),
            (own.join("index"), Some("index")),
            (own.join("HEAD"), None),
        ] {
            let before = std::fs::read(&path).ok();
            sparse(&path, 3 << 30);
            let found = reason(worktree.status().unwrap_err());
            match (&found, limit) {
                (Refused::TooLarge { path: found, bytes, limit, .. }, Some(expected)) => {
                    assert_eq!((found, *bytes, *limit), (&path, 3 << 30, expected));
                }
                (Refused::Oversized { path: found, .. }, None) => assert_eq!(found, &path),
                _ => panic!("{}: {found}", path.display()),
            }
            match before {
                Some(before) => write(&path, before),
                None => std::fs::remove_file(&path).unwrap(),
            }
        }
        assert!(worktree.is_clean().unwrap());
        // A file of the working tree, which a commit would read into memory.
        sparse(&worktree.path().join("sparse"), 3 << 30);
        let error = worktree.commit_all(&author(), "x").unwrap_err().to_string();
        assert!(error.contains("sparse (3221225472 bytes)") && error.contains("`Limits::object`"), "{error}");
    }
}

#[test]
fn limits_are_the_callers_to_set() {
    let place = Place::new();
    write(&place.project().join("large.bin"), vec![0; 3 << 20]);
    let large = place.user().commit_all(&author(), "large").unwrap().unwrap();
    let mut limits = Limits::default();
    limits.object = 1 << 20;
    let limited = Repository::open_with_limits(place.project(), Configuration::RepositoryOnly, limits).unwrap();
    // Three kilobytes on disk.
    let error = limited.read_file(large, &crate::judge::path("large.bin")).unwrap_err();
    assert!(error.to_string().ends_with("; if that is meant, raise `Limits::object`"), "{error}");
    assert_eq!(limited.read_file(large, &crate::judge::path("README.md")).unwrap().unwrap(), b"# Project\n");
    assert_eq!(place.repository.read_file(large, &crate::judge::path("large.bin")).unwrap().unwrap().len(), 3 << 20);

    limits.index = 100;
    let limited = Repository::open_with_limits(place.project(), Configuration::RepositoryOnly, limits).unwrap();
    let error = limited.files(large).unwrap_err();
    assert!(error.to_string().contains("need an index of more than 100 bytes, see `Limits::index`"), "{error}");
}

/// Opening a pipe blocks for ever.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_the_like_are_refused_and_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let place = Place::new();
    let linked = place.worktree("linked");
    let git = place.project().join(".git");
    for name in [
        "packed-refs",
        "config",
        "info/exclude",
        "info/attributes",
        "shallow",
        "worktrees/linked/HEAD",
        "worktrees/linked/index",
        "worktrees/linked/gitdir",
        "worktrees/linked/commondir",
        "refs/heads/linked",
        "interlocking/registration.lock",
        "interlocking/notes/1-0-1.note",
    ] {
        let path = git.join(name);
        let before = std::fs::read(&path).ok();
        let _ = std::fs::remove_file(&path);
        mknodat(CWD, &path, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        let (linked, repository) = (linked.clone(), place.repository.clone());
        let (sender, answer) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let looked = linked.status().map(drop).map_err(|error| error.to_string());
            let listed = repository.worktrees().map(drop).map_err(|error| error.to_string());
            let committed = linked.commit_empty(&author(), "x").map(drop).map_err(|error| error.to_string());
            let _ = sender.send([looked, listed, committed]);
        });
        let answers =
            answer.recv_timeout(std::time::Duration::from_secs(60)).unwrap_or_else(|_| panic!("{name} is waited for"));
        let is_named = |answer: &Result<(), String>| {
            let file = Path::new(name).file_name().unwrap().to_str().unwrap();
            answer.as_ref().is_err_and(|error| error.contains(file) && error.contains("not a file"))
        };
        assert!(answers.iter().any(is_named), "{name}: {answers:?}");
        std::fs::remove_file(&path).unwrap();
        if let Some(before) = before {
            write(&path, before);
        }
    }
    assert!(linked.is_clean().unwrap());
}

/// Loose objects, here and in alternates: also if only their size is read.
#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_in_the_place_of_an_object_is_not_waited_for() {
    let place = Place::with_files(&[("a.txt", "one\n"), ("b.txt", "one more\n")]);
    let objects = place.project().join(".git/objects");
    let elsewhere = place.path().join("elsewhere");
    let object = place.git(&["rev-parse", "main:a.txt"]);
    let of = |objects: &Path| objects.join(&object[..2]).join(&object[2..]);
    for (number, (is_elsewhere, leads_to)) in
        [(false, None), (false, Some("/dev/tty")), (true, None), (true, Some("/dev/tty"))].into_iter().enumerate()
    {
        let linked = place.worktree(&format!("linked-{number}"));
        let contents = std::fs::read(of(&objects)).unwrap();
        std::fs::remove_file(of(&objects)).unwrap();
        let forged = if is_elsewhere { of(&elsewhere) } else { of(&objects) };
        if is_elsewhere {
            write(&objects.join("info/alternates"), format!("{}\n", elsewhere.display()));
        }
        match leads_to {
            None => make_pipe(&forged),
            Some(device) => {
                std::fs::create_dir_all(forged.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(device, &forged).unwrap();
            }
        }
        // The same length as before, so that the contents are compared; and one file that is to be written.
        write(&linked.path().join("a.txt"), "two\n");
        let (handle, main) = (linked.clone(), place.main());
        let repository = Repository::open_with(place.project(), Configuration::RepositoryOnly).unwrap();
        let (status, diff, reset) = in_time(&format!("object {number}"), move || {
            (handle.status(), repository.files(main), handle.reset_to(main))
        });
        assert_eq!(status.unwrap().len(), 1);
        assert_eq!(diff.unwrap().len(), 2);
        assert!(reset.unwrap_err().to_string().contains("a.txt"));
        // With a filter, a new worktree's configuration is read for it; without one, it is that of the time before.
        for is_filtered in [false, true] {
            if is_filtered {
                place.git(&["config", "filter.any.clean", "cat"]);
            }
            let (repository, at) = (place.repository.clone(), place.path().join("run/made"));
            let made = in_time(&format!("a worktree without object {number}, filtered: {is_filtered}"), move || {
                repository.create_worktree(at, branch("made"), main)
            });
            let error = made.unwrap_err().to_string();
            assert!(error.contains(&object), "{error}");
        }
        place.git(&["config", "--remove-section", "filter.any"]);
        std::fs::remove_file(&forged).unwrap();
        let _ = std::fs::remove_file(objects.join("info/alternates"));
        write(&of(&objects), contents);
    }
}

/// gix follows alternates from one object directory to the next, and reads whatever it finds.
#[cfg(target_os = "linux")]
#[test]
fn alternates_are_looked_at_before_they_are_followed() {
    let place = Place::new();
    let linked = place.worktree("linked");
    let alternates = place.project().join(".git/objects/info/alternates");
    let at = |name: &str| place.path().join(name);
    let lead = |from: &Path, to: &Path| write(from, format!("{}\n", to.display()));
    lead(&alternates, &at("one"));
    lead(&at("one/info/alternates"), &at("two"));
    let look = |what: &str| {
        let (linked, project) = (linked.clone(), place.project());
        in_time(what, move || {
            let opened = Repository::open_with(project, Configuration::RepositoryOnly);
            (linked.status().map_err(|error| error.to_string()), opened.map(drop).map_err(|error| error.to_string()))
        })
    };
    std::fs::create_dir(at("two")).unwrap();
    assert_eq!(look("alternates"), (Ok(vec![]), Ok(())));

    let last = at("two/info/alternates");
    make_pipe(&last);
    let (status, opened) = look("a pipe");
    for error in [status.unwrap_err(), opened.unwrap_err()] {
        assert!(error.contains(last.to_str().unwrap()) && error.contains("a named pipe"), "{error}");
    }
    std::fs::remove_file(&last).unwrap();
    sparse(&last, 3 << 30);
    let (status, opened) = look("a large file");
    for error in [status.unwrap_err(), opened.unwrap_err()] {
        assert!(error.contains("`Limits::rules`"), "{error}");
    }
    // An unlimited number of directories.
    std::fs::remove_file(&last).unwrap();
    let many: Vec<String> = (0..1_000).map(|number| format!("{}/../{number}\n", at("two").display())).collect();
    write(&last, many.concat());
    let (status, opened) = look("many directories");
    for error in [status.unwrap_err(), opened.unwrap_err()] {
        assert!(error.contains("more than 100 directories"), "{error}");
    }
}

/// Eight files, each of which includes the next sixty times, are trillions of files to read, however they are named.
#[test]
fn a_configuration_that_includes_files_again_and_again_is_refused_at_once() {
    let place = Place::new();
    // With `Configuration::RepositoryOnly`, gix includes nothing.
    let project = Repository::open(place.project()).unwrap();
    let linked = project.create_worktree(place.path().join("run/linked"), branch("linked"), place.main()).unwrap();
    let own = place.project().join(".git");
    let plain = std::fs::read_to_string(own.join("config")).unwrap();
    let look = |what: &str| {
        let (what, linked) = (what.to_owned(), linked.clone());
        in_time(&what, move || linked.status().map_err(|error| error.to_string()))
    };
    let name = String::from_utf8(std::process::Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let from_above = format!("{}{}/", "../".repeat(30), own.display());
    for prefix in [
        String::new(),
        ":(optional)".to_owned(),
        format!("~{}/{from_above}", name.trim_end()),
        format!("%(prefix)/{from_above}"),
        format!("~/{from_above}"),
    ] {
        for pair in ["config", "a", "b", "c", "d", "e", "f", "g", "h"].windows(2) {
            let before = if pair[0] == "config" { &plain } else { "" };
            let includes = format!("path = {prefix}{}\n", pair[1]).repeat(60);
            write(&own.join(pair[0]), format!("{before}[include]\n{includes}"));
        }
        let error = look(&prefix).expect_err(&prefix);
        assert!(error.contains("the configuration includes more than 100 files: remove an `include`"), "{error}");
    }
    // gix passes over what it cannot find; git stops, if it would include the file.
    for (section, is_for_git) in [("include", false), ("includeIf \"gitdir:/elsewhere/\"", true)] {
        write(&own.join("config"), format!("{plain}[{section}]\npath = ~nobody-has-this-name/config\n"));
        assert_eq!(look("nobody"), Ok(vec![]), "{section}");
        assert_eq!(run(linked.path(), &["status"]).status.success(), is_for_git, "{section}");
    }
    // The limit on one file.
    sparse(&own.join("huge"), 3 << 30);
    write(&own.join("config"), format!("{plain}[include]\npath = :(optional)huge\n"));
    let error = look("huge").unwrap_err();
    assert!(error.contains("`Limits::configuration`"), "{error}");
}

/// Without a home in the environment, it is looked up in the list of users.
#[test]
fn includes_are_looked_at_without_a_home_too() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "hostile_repositories::a_configuration_that_includes_files_again_and_again_is_refused_at_once",
        ])
        .env_remove("HOME")
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
}

/// A log that is a link to another file: that file is not written to.
#[test]
fn a_log_that_leads_elsewhere_is_not_written_to() {
    let place = Place::new();
    let linked = place.worktree("linked");
    let precious = place.path().join("precious.txt");
    write(&precious, "precious\n");
    let log = place.project().join(".git/worktrees/linked/logs/HEAD");
    std::fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink(&precious, &log).unwrap();
    assert!(linked.commit_empty(&author(), "x").is_err());
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious\n");
}

/// Trees deeper than any path, and small trees with more files than any disk can hold.
#[test]
fn trees_that_come_to_too_much_are_refused_at_once() {
    use gix::objs::{Kind, Write as _};
    let place = Place::new();
    let git = gix::open_opts(place.project(), gix::open::Options::isolated()).unwrap();
    let entry =
        |mode: &str, name: &str, id: gix::ObjectId| [format!("{mode} {name}\0").as_bytes(), id.as_slice()].concat();
    let tree = |data: Vec<u8>| git.objects.write_buf(Kind::Tree, &data).unwrap();
    let file = tree(entry("100644", "f", git.write_blob("f\n").unwrap().detach()));
    let deep = (0..3_000).fold(file, |below, _| tree(entry("40000", "d", below)));
    let wide = (0..30).fold(file, |below, _| {
        tree((b'a'..b'k').flat_map(|name| entry("40000", &char::from(name).to_string(), below)).collect())
    });
    let main = place.main();
    for (tree, problem) in [(deep, "paths of more than 4096 bytes"), (wide, "Limits::index")] {
        let commit = place.git(&["commit-tree", "-p", "main", "-m", "much", &tree.to_string()]);
        let commit: CommitId = commit.parse().unwrap();
        for error in [
            place.repository.merge_onto(main, commit, &author(), "m").unwrap_err().to_string(),
            place.repository.fast_forward(&branch("main"), commit, main).unwrap_err().to_string(),
            place.repository.files(commit).unwrap_err().to_string(),
        ] {
            assert!(error.contains(problem), "{error}");
        }
    }
    assert_eq!(place.main(), main);
}

/// Data beside the objects is not trusted: here, that a commit is replaced by another one.
#[test]
fn a_replacement_does_not_stand_for_what_it_replaces() {
    let place = Place::new();
    let main = place.main();
    write(&place.project().join("evil.txt"), "evil\n");
    let other = place.user().commit_all(&author(), "other").unwrap().unwrap();
    place.git(&[
        "replace",
        &main.to_string(),
        &place.git(&["commit-tree", "-m", "forged", &format!("{other}^{{tree}}")]),
    ]);
    let fresh = Repository::open_with(place.project(), Configuration::RepositoryOnly).unwrap();
    assert_eq!(fresh.diff(main, other).unwrap().len(), 1);
    assert_eq!(fresh.commit(main).unwrap().subject(), "Begin");
    assert!(place.git(&["log", "--format=%s", "-1", &main.to_string()]).contains("forged"), "git believes it");
}

fn refused_program(error: &GitError) -> (String, String) {
    match error.reason() {
        Some(Refused::Program { setting, word, .. }) => (setting.clone(), word.clone()),
        _ => panic!("{error}"),
    }
}

/// The user's filter is a script of the project. In an agent's worktree it would be whatever the agent has written.
#[test]
fn a_filter_of_the_project_does_not_run_in_an_agents_place() {
    let place = Place::with_files(&[
        ("tools/clean.sh", "#!/bin/sh\ncat\n"),
        (".gitattributes", "*.txt filter=x\n"),
        ("a.txt", "a\n"),
    ]);
    let linked = place.worktree("linked");
    let clone = place.repository.create_clone(place.path().join("run/clone"), &branch("clone"), place.main()).unwrap();
    let ran = place.path().join("ran");
    for worktree in [&linked, &clone] {
        let script = worktree.path().join("tools/clean.sh");
        write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()));
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        write(&worktree.path().join("a.txt"), "b\n");
    }
    for (setting, command, word) in [
        ("filter.x.clean", "./tools/clean.sh", "./tools/clean.sh"),
        ("filter.x.clean", "sh tools/clean.sh %f", "sh"),
        ("filter.x.process", "tools/clean.sh", "tools/clean.sh"),
        ("merge.x.driver", "./tools/clean.sh %O %A %B", "./tools/clean.sh"),
        // Python would import an agent's `argparse.py`.
        ("filter.x.clean", "python3 -m base64", "python3"),
    ] {
        place.git(&["config", setting, command]);
        let repository = Repository::open_with(place.project(), Configuration::RepositoryOnly).unwrap();
        let linked = repository.open_worktree(linked.path()).unwrap();
        let WorktreeError::Git(error) = linked.status().unwrap_err() else { panic!("{command}") };
        assert_eq!(refused_program(&error), (setting.to_owned(), word.to_owned()));
        let remedy = if word.contains('/') { "name it by an absolute path" } else { "put it into a script elsewhere" };
        assert!(error.to_string().contains(remedy), "{error}");
        // A clone gets these settings, too.
        assert!(repository.open_clone(clone.path(), &branch("clone")).is_err());
        assert!(repository.create_detached_worktree(place.path().join("run/new"), place.main()).is_err());
        assert!(repository.create_clone(place.path().join("run/new"), &branch("new"), place.main()).is_err());
        assert!(!place.path().join("run/new").exists());
        assert!(repository.remove_worktree(&linked, interlocking_worktree::Force::No).is_err());
        assert!(!ran.exists());
        // The user's own working tree is not checked.
        let is_refused = |error: WorktreeError| matches!(error, WorktreeError::Git(error) if error.reason().is_some());
        assert!(!place.user().status().is_err_and(is_refused));
        place.git(&["config", "--unset", setting]);
    }
    // A program with an absolute path is not the agent's.
    place.git(&["config", "filter.x.clean", &place.script("clean.sh", "cat")]);
    let committed = linked.commit_all(&author(), "filtered").unwrap().unwrap();
    assert_eq!(git_in(linked.path(), &["show", &format!("{committed}:a.txt")]), "b");
    assert!(!ran.exists());
}
