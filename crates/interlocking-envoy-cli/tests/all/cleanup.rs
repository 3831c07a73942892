//! `envoy plan cleanup-debug-logs`.

use crate::support::Project;
use expect_test::expect;
use serde_json::json;

const MARKED: &str = "fn f() {\n    // [DEBUG-TEMP]\n    println!(\"x\");\n    println!(\"y\");\n\n    g();\n}\n";
const CLEANED: &str = "fn f() {\n\n    g();\n}\n";

fn project() -> Project {
    let project = Project::repository();
    project.write("src/a.rs", MARKED);
    project.write("src/b.rs", "fn g() {}\n");
    project.write("tool.py", "# [DEBUG-TEMP]\nprint(1)\n");
    project.write("README.md", MARKED);
    project
}

/// ENV-97: marked logs are removed. ENV-84: `success`, `files_modified`, `markers_removed`.
#[test]
fn logs_are_removed() {
    let project = project();
    let called = project.call_in("src", "", &["plan", "cleanup-debug-logs"]);
    expect![[r#"
        exit 0
        src/a.rs:2-4
        tool.py:1-2
        removed: 2 markers, 5 lines, in 2 files
        ! warning: tool.py:1: no blank line comes after this marker, so all 2 lines to the file's end belong to it: check that none of them is real code
    "#]]
    .assert_eq(&called.page());
    assert_eq!(
        (&*project.read("src/a.rs"), &*project.read("tool.py"), &*project.read("README.md")),
        (CLEANED, "", MARKED)
    );
    let again = project.call(&["plan", "cleanup-debug-logs", "--json"]);
    assert_eq!(again.exit, 0);
    let none = json!({
        "success": true, "dry_run": false, "files_modified": [], "markers_removed": 0, "lines_removed": 0,
        "files": [], "warnings": [], "failures": [], "checks": [],
    });
    assert_eq!(again.json(), none);

    let json = self::project().call(&["plan", "cleanup-debug-logs", "--json"]).json();
    assert_eq!(json["success"], true);
    assert_eq!(json["files_modified"], json!(["src/a.rs", "tool.py"]));
    assert_eq!(json["markers_removed"], 2);
    assert_eq!(json["files"][0]["blocks"][0], json!({"line": 2, "lines": 3, "markers": 1, "reaches_end": false}));
}

/// ENV-101: a dry run lists what would be removed, and removes nothing.
#[test]
fn a_dry_run_removes_nothing() {
    let project = project();
    let called = project.call(&["plan", "cleanup-debug-logs", "--dry-run"]);
    expect![[r#"
        src/a.rs:2-4
        tool.py:1-2
        would be removed: 2 markers, 5 lines, in 2 files
    "#]]
    .assert_eq(&called.stdout);
    assert_eq!(called.exit, 0);
    assert_eq!(project.read("src/a.rs"), MARKED);
    let json = project.call(&["plan", "cleanup-debug-logs", "-n", "--json"]).json();
    assert_eq!((&json["dry_run"], &json["markers_removed"]), (&json!(true), &json!(2)));
    assert_eq!(project.read("src/a.rs"), MARKED);
}

/// ENV-103: the changed files are checked before they are merged, in their state at that time
/// (CON-127).
#[test]
fn checks_run_afterwards() {
    let project = project();
    let clean = "! grep -rq DEBUG-TEMP src";
    let called =
        project.call(&["plan", "cleanup-debug-logs", "--check", "test -f tool.py", "--check", clean, "--json"]);
    assert_eq!(called.exit, 0, "{called:?}");
    assert_eq!(
        called.json()["checks"],
        json!([{"command": "test -f tool.py", "passed": true}, {"command": clean, "passed": true}])
    );

    let project = self::project();
    let called =
        project.call(&["plan", "cleanup-debug-logs", "--check", "echo broken; false", "--check", "touch not-run"]);
    expect![[r#"
        exit 1
        src/a.rs:2-4
        tool.py:1-2
        removed: 2 markers, 5 lines, in 2 files
        ! warning: tool.py:1: no blank line comes after this marker, so all 2 lines to the file's end belong to it: check that none of them is real code
        ! broken
        ! error: `echo broken; false` fails after the removal
        !   to do: mend what the removal left behind before you merge
    "#]]
    .assert_eq(&called.page());
    assert!(!project.path("not-run").exists());
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let outside = Project::new();
    let mut pages = outside.call(&["plan", "cleanup-debug-logs"]).page();
    let project = project();
    for extension in ["md=#", "tf", "x=--"] {
        pages += &project.call(&["plan", "cleanup-debug-logs", "--extension", extension]).page();
    }
    expect![[r#"
        exit 2
        ! error: ROOT/ is in no git worktree
        !   to do: run it in the worktree that is to be cleaned up
        exit 2
        ! error: `md` is Markdown, which is never edited: it describes markers, but contains none
        exit 2
        ! error: "tf" names no extension and comment: write such as `tf=#` or `v=//`
        exit 2
        ! error: "x=--" names no extension and comment: write such as `tf=#` or `v=//`
    "#]]
    .assert_eq(&pages);
    assert_eq!(project.read("src/a.rs"), MARKED);
    project.write("x.tf", "# [DEBUG-TEMP]\nx\n\n");
    let called = project.call(&["plan", "cleanup-debug-logs", "--extension", "tf=#", "--json"]).json();
    assert_eq!(called["files_modified"], json!(["src/a.rs", "tool.py", "x.tf"]));
}
