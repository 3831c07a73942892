//! Servers that end or take too long, as scripts that speak the protocol.

use super::*;
use crate::types::{CratePath, StrictnessConfig};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A repository, and a server for the files in it.
struct Place {
    directory: TempDir,
    repository: Repository,
    spec: StackSpec,
}

/// A server that reads whole messages. It knows one function of each file, by the name in the file's first line.
const SERVER: &str = r#"#!/bin/sh
test "$1" = --version && exit 0
say() { printf 'Content-Length: %s\r\n\r\n%s' "${#1}" "$1"; }
answer() { say "{\"id\":$id,\"result\":$1}"; }
place='{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}'
while read -r header && read -r blank; do
    length=${header#*: }
    body=$(head -c "${length%?}")
    id=${body#*\"id\":}
    id=${id%%,*}
    case $body in
    *'/didChange'*) WHEN_FILES_CHANGE ;;
    *'/did'*) ;;
    *'"method":"initialize"'*)
        answer '{"capabilities":{"positionEncoding":"utf-8"},"serverInfo":{"name":"stand-in"}}' ;;
    *'"method":"initialized"'*)
        say '{"method":"experimental/serverStatus","params":{"health":"ok","quiescent":true}}' ;;
    *'/documentSymbol"'*)
        BEFORE_THE_ANSWER
        name=$(head -n 1 src/stack.*)
        answer "[{\"name\":\"${name#??}\",\"kind\":12,\"range\":$place,\"selectionRange\":$place}]"
        AFTER_THE_ANSWER ;;
    *'"id":'*) answer null ;;
    esac
done
"#;

impl Place {
    /// With files in the language of this ending, and a server in which these commands replace these words.
    fn new<const COUNT: usize>(ending: &str, commands: [(&str, &str); COUNT]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| CratePath::new(format!("src/{name}.{ending}")).unwrap();
        let spec = StackSpec {
            module_name: "stack".to_owned(),
            description: "A stack.".to_owned(),
            acceptance_criteria: vec!["It stacks.".to_owned()],
            impl_path: path("stack"),
            test_path: path("properties"),
            shared_paths: Vec::new(),
            strictness: StrictnessConfig::default(),
        };
        let server = directory.path().join("server");
        let words = ["WHEN_FILES_CHANGE", "BEFORE_THE_ANSWER", "AFTER_THE_ANSWER"].map(|word| (word, ":"));
        let all = commands.into_iter().chain(words);
        fs::write(&server, all.fold(SERVER.to_owned(), |text, (word, command)| text.replace(word, command))).unwrap();
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        let of_git = directory.path().join("repository");
        fs::create_dir_all(of_git.join("src")).unwrap();
        git(&of_git, &["init", "--quiet"]);
        let place = |repository| Self { directory, repository, spec };
        place(Repository::open(&of_git).unwrap())
    }

    /// A commit with this implementation.
    fn commit(&self, text: &str) -> CommitId {
        let of_git = self.directory.path().join("repository");
        fs::write(of_git.join(self.spec.impl_path.as_str()), text).unwrap();
        git(&of_git, &["add", "."]);
        git(&of_git, &["-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message=m"]);
        git(&of_git, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    fn resolver(&self) -> Resolver {
        Resolver::new(self.directory.path().join("server"), self.directory.path().join("copies"))
    }

    async fn functions(&self, resolver: &Resolver, commit: CommitId) -> (Vec<String>, String) {
        let project = resolver.at(&self.repository, commit, (&self.spec, "stack".to_owned()));
        project.await.unwrap().functions().await
    }
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// HY-166: a server that ends is started anew, on the files of the commit that is asked about; whether its end is noticed when it is
/// told of changed files, or when it is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_is_started_anew() {
    for (when, command) in [("AFTER_THE_ANSWER", "exit 1"), ("WHEN_FILES_CHANGE", "exit 1")] {
        let place = Place::new("py", [(when, command)]);
        let (first, second) = (place.commit("# first\n"), place.commit("# second\n"));
        let resolver = place.resolver();
        for (commit, function) in [(first, "first"), (first, "first"), (second, "second"), (first, "first")] {
            let (functions, told_by) = place.functions(&resolver, commit).await;
            assert_eq!((&functions[..], &told_by[..]), (&[function.to_owned()][..], "stand-in"), "{when}");
        }
    }
}

/// HY-166: a server that ends a second time at the same question, or takes too long, is not asked any more. The syntax answers, and
/// says why; in Python there is none, and nothing passes for an answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_given_up() {
    for (command, reason) in [
        ("echo 'out of memory' >&2; exit 1", "it has ended twice: out of memory"),
        ("sleep 600", "it did not answer a question within 1 s"),
    ] {
        let because = format!("stand-in is not asked any more: {reason}");
        let place = Place::new("rs", [("BEFORE_THE_ANSWER", command)]);
        let (first, second) = (place.commit("//first\nfn seen() {}\n"), place.commit("//second\nfn read() {}\n"));
        let resolver = Resolver { time_limit: Duration::from_secs(1), ..place.resolver() };
        for (commit, function) in [(first, "seen"), (second, "read")] {
            let (functions, told_by) = place.functions(&resolver, commit).await;
            if told_by.contains("lacks the source of the standard library") && std::env::var_os("CI").is_none() {
                return;
            }
            assert_eq!(
                (functions, told_by),
                (vec![function.to_owned()], format!("the syntax alone, because {because}"))
            );
        }

        let place = Place::new("py", [("BEFORE_THE_ANSWER", command)]);
        let commit = place.commit("# first\n");
        let resolver = Resolver { time_limit: Duration::from_secs(1), ..place.resolver() };
        let expected = format!("the files cannot be analysed: {because}");
        assert_eq!(place.functions(&resolver, commit).await, (vec![], expected.clone()));
        let project = resolver.at(&place.repository, commit, (&place.spec, "stack".to_owned()));
        assert_eq!(project.await.unwrap().symbols().await.unwrap_err().to_string(), expected);
    }
}
