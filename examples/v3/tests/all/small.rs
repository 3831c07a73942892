//! A small project that a shell builds and tests, so that whole trees run in a second: a node `top` has its implementation in
//! `src/top.txt`, which is complete when it contains `done`, its tests in `checks/top.sh`, and its contract in
//! `checks/contract_top.sh`.

use crate::project::Project;
use crate::test_run::TestRun;
use interlocking::agents::Script;
use interlocking::cli::repository::EmbeddedFile;
use interlocking::toolchain::{CommandLine, Harness, NamedCommand, Toolchain};
use serde_json::{Value, json};
use std::fmt::Write as _;
use v3::types::spec::Spec;
use v3::workbench::Workbench;

const FILES: [EmbeddedFile; 1] = [EmbeddedFile { path: "README.md", contents: "# Small\n" }];

pub(crate) async fn project() -> Project {
    Project::of(&FILES).await
}

/// The build passes unless there is a file `broken`; the test command runs every file of `checks`.
pub(crate) fn shell(workbench: &mut Workbench) {
    let sh = |line: &str| CommandLine::new("sh", &["-c", line]);
    change_toolchain(workbench, |toolchain| {
        toolchain.build_command = sh("test ! -e broken");
        toolchain.test_command = sh("for check in checks/*.sh; do (. ./$check) || { echo $check; exit 1; }; done");
        toolchain.harness = Harness::ExitCode;
    });
    workbench.suite = NamedCommand::new(CommandLine::new("sh", &["{path}"]));
}

/// Changes the commands by which the work is built and tested.
pub(crate) fn change_toolchain(workbench: &mut Workbench, change: impl FnOnce(&mut Toolchain)) {
    let mut toolchain = workbench.runner.toolchain().clone();
    change(&mut toolchain);
    workbench.runner = workbench.runner.with_toolchain(toolchain);
}

/// The same, with a verdict for each test: each test file reports the same for `one_holds`, `a_holds` and `b_holds`. The test command
/// runs `before`, and does not build the tests if that fails.
pub(crate) fn go_tests_unless(workbench: &mut Workbench, before: &str) {
    shell(workbench);
    let test = r#"printf '{"Action":"%s","Package":"p","Test":"%s_holds"}\n' $verdict $test"#;
    let package = r#"printf '{"Action":"%s","Package":"p"}\n' $verdict"#;
    let report = format!("for test in one a b; do {test}; done; {package}; test $verdict = pass");
    let reported = |tests: &str| format!("if {tests}; then verdict=pass; else verdict=fail; fi; {report}");
    let all = reported("(for check in checks/*.sh; do (. ./$check) || exit 1; done)");
    change_toolchain(workbench, |toolchain| {
        toolchain.test_command = CommandLine::new("sh", &["-c", &format!("{before} || exit 1; {all}")]);
        toolchain.harness = Harness::GoTest;
    });
    let suite = NamedCommand::new(CommandLine::new("sh", &["-c", &reported("sh {path}")]));
    workbench.suite = NamedCommand { harness: Harness::GoTest, ..suite };
}

pub(crate) fn go_tests(workbench: &mut Workbench) {
    go_tests_unless(workbench, "true");
}

/// The specification of `top`: criterion `one`, and the criteria of its children. A child `a+b` is called `a`, and has the
/// criteria `a` and `b`.
pub(crate) fn spec(children: &[&str]) -> Spec {
    let criteria: Vec<Value> = criteria_of("top", children).iter().map(|id| criterion(id)).collect();
    serde_json::from_value(json!({
        "id": "top",
        "description": "Says when it is done.",
        "acceptanceCriteria": criteria,
        "targetPath": "src/top.txt",
        "testPath": "checks/top.sh",
    }))
    .unwrap()
}

pub(crate) fn test_run<'p>(project: &'p Project, script: &AgentScript) -> TestRun<'p> {
    TestRun::new(project, script.script(), shell)
}

/// The role that is asked, which decides how the prompt begins.
#[derive(Clone, Copy)]
pub(crate) enum Who {
    Planner,
    TestAuthor,
    Implementer,
    Reviewer,
    Merger,
    Judge,
    Rebaser,
}

impl Who {
    fn is(self) -> (&'static str, &'static str) {
        match self {
            Self::Planner => ("scaffold", "# You are the planner of"),
            Self::TestAuthor => ("tdd", "# You are the test author of"),
            Self::Implementer => ("impl", "# You are the implementer of"),
            Self::Reviewer => ("tdd", "# You are the reviewer of"),
            Self::Merger => ("merger", "# You are the merger of"),
            Self::Judge => ("tdd", "# You judge what"),
            Self::Rebaser => ("rebaser", "# You are the rebaser of"),
        }
    }
}

/// What an agent does in its workspace.
#[derive(Clone)]
pub(crate) enum Act {
    Write(String, String),
    Append(String, String),
    Run(String),
    Commit,
}

pub(crate) fn write(path: &str, content: &str) -> Act {
    Act::Write(path.to_owned(), content.to_owned())
}

pub(crate) fn append(path: &str, content: &str) -> Act {
    Act::Append(path.to_owned(), content.to_owned())
}

/// Runs a shell line.
pub(crate) fn sh(line: &str) -> Act {
    Act::Run(line.to_owned())
}

/// The script of all agents. If several turns match a prompt, the first that is not used up is played.
#[derive(Clone, Default)]
pub(crate) struct AgentScript(String);

impl AgentScript {
    /// A turn that is played once.
    pub(crate) fn once(self, who: Who, id: &str, answer: &Value, acts: &[Act]) -> Self {
        self.turn((who, id), "1", answer, acts)
    }

    /// A turn that is played any number of times.
    pub(crate) fn always(self, who: Who, id: &str, answer: &Value, acts: &[Act]) -> Self {
        self.turn((who, id), "\"any\"", answer, acts)
    }

    fn turn(mut self, (who, id): (Who, &str), times: &str, answer: &Value, acts: &[Act]) -> Self {
        let (agent, title) = who.is();
        let title = json!(format!("{title} `{id}`"));
        _ = writeln!(self.0, "[[turn]]\nagent = \"{agent}\"\ncontains = [{title}]\ntimes = {times}");
        _ = writeln!(self.0, "output_json = {}", json!(answer.to_string()));
        for act in acts {
            match act {
                Act::Write(path, content) => {
                    _ = writeln!(self.0, "[[turn.write]]\npath = {}\ncontent = {}", json!(path), json!(content));
                }
                Act::Append(path, content) => {
                    _ = writeln!(self.0, "[[turn.append]]\npath = {}\ncontent = {}", json!(path), json!(content));
                }
                Act::Run(line) => {
                    _ = writeln!(self.0, "[[turn.run]]\ncommand = {}", json!(["sh", "-c", line]));
                }
                Act::Commit => self.0.push_str("[[turn.commit]]\nmessage = \"work\"\n"),
            }
        }
        self
    }

    /// Turns of a node whose agents behave correctly, as often as they are asked.
    pub(crate) fn honest(self, id: &str, children: &[&str]) -> Self {
        self.honest_with(id, &criteria_of(id, children), children)
    }

    /// The same for a node with these criteria.
    pub(crate) fn honest_with(self, id: &str, criteria: &[String], children: &[&str]) -> Self {
        let tests: Vec<Value> = criteria.iter().map(|criterion| plan(criterion)).collect();
        let name = last(id);
        let scaffold = scaffold(id, children, &tests);
        let target = format!("src/{name}.txt");
        let ready = json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": [format!("checks/{name}.sh")], "pendingCriteria": criteria } });
        let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
        self.always(Who::Planner, id, &scaffold, &scaffolding(id))
            .always(Who::TestAuthor, id, &ready, &[append(&format!("checks/{name}.sh"), &check(name)), Act::Commit])
            .always(Who::Implementer, id, &passed, &[append(&target, "done\n"), Act::Commit])
            .always(Who::Reviewer, id, &approved(criteria), &[])
            .always(Who::Merger, id, &merged(id), &[])
            .always(Who::Judge, id, &approved(criteria), &[])
    }

    pub(crate) fn script(&self) -> Script {
        Script::parse("a test's script", &self.0).unwrap()
    }
}

fn criterion(id: &str) -> Value {
    json!({ "id": id, "text": format!("The criterion {id} holds.") })
}

/// The criteria of a node: those of its children, and its own; a leaf's criterion has the node's name.
fn criteria_of(id: &str, children: &[&str]) -> Vec<String> {
    let own = if id == "top" { "one" } else { last(id) };
    std::iter::once(own).chain(children.iter().flat_map(|child| child.split('+'))).map(str::to_owned).collect()
}

pub(crate) fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap()
}

fn test(criterion: &str) -> String {
    format!("{criterion}_holds")
}

/// A shell line that succeeds if a node's implementation says that it is done.
pub(crate) fn check(name: &str) -> String {
    format!("{} || exit 1\n", has("*done*", &format!("src/{name}.txt")))
}

/// A shell line that checks whether a file has a line of this form, without starting another program: it runs hundreds of times.
fn has(form: &str, file: &str) -> String {
    format!("found=; while read -r line; do case $line in {form}) found=1 ;; esac; done < {file}; test \"$found\"")
}

/// What a scaffold's commit writes; each commit is different.
pub(crate) fn scaffolding(id: &str) -> Vec<Act> {
    let name = last(id);
    // A missing file does not break the contract.
    let contract = format!("{}\n", has("*stub* | *done*", &format!("src/{name}.txt")));
    vec![
        append(&format!("src/{name}.txt"), "stub\n"),
        write(&format!("src/{name}.api"), "says done\n"),
        write(&format!("checks/contract_{name}.sh"), &contract),
        Act::Commit,
    ]
}

/// A scaffold's answer.
pub(crate) fn scaffold(id: &str, children: &[&str], tests: &[Value]) -> Value {
    let name = last(id);
    let mut work = json!({
        "scaffoldCommit": "$HEAD",
        "interfaceFile": format!("src/{name}.api"),
        "contractSuite": format!("checks/contract_{name}.sh"),
        "testPlan": tests,
    });
    if !children.is_empty() {
        let child = |child: &&str| {
            let criteria: Vec<Value> = child.split('+').map(criterion).collect();
            let child = child.split('+').next().unwrap();
            json!({
                "id": format!("{id}/{child}"),
                "description": format!("Says when {child} is done."),
                "acceptanceCriteria": criteria,
                "targetPath": format!("src/{child}.txt"),
                "testPath": format!("checks/{child}.sh"),
            })
        };
        work["childSpecs"] = children.iter().map(child).collect();
        work["interfaces"] = json!([{ "path": format!("src/{name}.api"), "exports": ["done"] }]);
    }
    json!({ "InitWork": work })
}

/// The tests that `top` plans.
pub(crate) fn planned(children: &[&str]) -> Vec<Value> {
    criteria_of("top", children).iter().map(|criterion| plan(criterion)).collect()
}

pub(crate) fn plan(criterion: &str) -> Value {
    json!({ "criterionId": criterion, "plannedTestName": test(criterion), "approach": "Looks." })
}

pub(crate) fn approved(criteria: &[String]) -> Value {
    let covered: Vec<Value> = criteria.iter().map(|criterion| json!([criterion, test(criterion)])).collect();
    json!({ "Approved": { "signOff": "It holds.", "coverageReport": { "criteriaWithTests": covered, "criteriaMissing": [] } } })
}

pub(crate) fn merged(id: &str) -> Value {
    let change = json!({ "symbol": last(id), "changeType": "BehaviorChange", "reason": "It is done." });
    json!({ "MergeComplete": { "mergeCommit": "$HEAD", "author": id, "impactLevel": "Trivial", "changes": [change] } })
}

impl AgentScript {
    /// The answer of an agent that is asked to correct its answer.
    pub(crate) fn correcting(mut self, agent: &str, answer: &Value) -> Self {
        let corrected = json!(answer.to_string());
        _ = writeln!(self.0, "[[turn]]\nagent = \"{agent}\"\ncontains = [\"does not fit\"]\noutput_json = {corrected}");
        self
    }
}

impl AgentScript {
    /// The turns of one script, then those of the other.
    pub(crate) fn with(first: Self, then: Self) -> Self {
        Self(first.0 + &then.0)
    }
}

impl AgentScript {
    /// The script.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}
