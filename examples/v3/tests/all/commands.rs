//! Which commands are run, on what, and in which order.

use crate::play::Play;
use crate::project::Project;
use crate::small::{project, shell, spec};
use crate::tree::family;
use interlocking::toolchain::CommandLine;
use v3::types::outcome::V3Outcome;
use v3::workbench::Workbench;

/// Has each command note what it is: `build`, `test`, or the file whose tests it runs; and whether `src/a.txt` and `src/b.txt` are done there.
fn noting(project: &Project) -> impl FnOnce(&mut Workbench) {
    let log = project.place().join("target/log");
    move |workbench| {
        shell(workbench);
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        let noted = |what: &str, line: &str| {
            let there = "$(grep -qs done src/a.txt && echo a)$(grep -qs done src/b.txt && echo b)";
            let tip = "$(git log -1 --format=%s)";
            CommandLine::new("sh", &["-c", &format!("echo \"{what}|{there}|{tip}\" >> {}; {line}", log.display())])
        };
        workbench.toolchain.build_command = noted("build", "test ! -e broken");
        workbench.toolchain.test_command = noted("test", "for check in checks/*.sh; do sh $check || exit 1; done");
        workbench.suite_command = noted("{path}", "sh {path}");
    }
}

/// The commands in order: what, which children's work was there, and at which commit.
fn noted(project: &Project) -> Vec<(String, String, String)> {
    let log = std::fs::read_to_string(project.place().join("target/log")).unwrap();
    let parts = |line: &str| {
        let mut parts = line.split('|').map(str::to_owned);
        (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
    };
    log.lines().map(parts).collect()
}

/// V3-90, V3-44, V3-81, TC-01, TC-02, TC-03, TC-25: of a leaf: a scaffold is built, its tests are run before and after there is anything, and the candidate is built,
/// then run against the scaffold's contract, then against every test.
#[tokio::test]
async fn a_leaf_runs_these_commands() {
    let project = project().await;
    let cast = crate::small::Cast::default().honest("top", &[]);
    let play = Play::new(&project, cast.script(), noting(&project));
    let outcome = play.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let noted: Vec<_> = noted(&project).into_iter().map(|(what, _, tip)| (what, tip)).collect();
    let candidate = "feat(top): implement";
    let expected = [
        ("build", "work"),
        ("checks/top.sh", "work"),
        ("checks/top.sh", "work"),
        ("build", "work"),
        ("checks/top.sh", "work"),
        ("build", candidate),
        ("checks/contract_top.sh", candidate),
        ("test", candidate),
    ];
    assert_eq!(noted, expected.map(|(what, tip)| (what.to_owned(), tip.to_owned())));
}

/// V3-140, V3-44, V3-104: the parent's contract is run once, on what both children have merged, before its implementer is asked; and whoever is rebased has its
/// tests run on what it stands on then.
#[tokio::test]
async fn a_parent_runs_its_contract_on_all_children() {
    let project = project().await;
    let play = Play::new(&project, family().script(), noting(&project));
    let implementer = play.agent.hold("implementer of `top`");
    let watch = async {
        implementer.reached().await;
        let noted = noted(&project);
        let of_contract: Vec<_> = noted.iter().filter(|(what, ..)| what == "checks/contract_top.sh").collect();
        assert_eq!(of_contract.len(), 1, "{noted:?}");
        assert_eq!(of_contract[0].1, "ab", "{noted:?}");
        // The later one's tests, on the earlier one's merge, before the later one is done.
        let (rebased, _) = play.ended().into_iter().find(|(_, node)| node == "rebaser").unwrap();
        let earlier = if rebased == play.run_of("top/a").await { "b" } else { "a" };
        let on_earlier = noted.iter().filter(|(what, there, _)| what == "test" && there.contains(earlier));
        assert!(on_earlier.count() >= 2, "of the rebase, and of the candidate: {noted:?}");
        implementer.release();
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
}
