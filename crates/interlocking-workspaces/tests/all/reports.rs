//! Agents that commit by themselves and report the hash, which is compared with their branch.

use crate::project::Project;
use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use std::sync::Arc;

#[derive(Template)]
#[template(source = "Implement it, commit, and report.", ext = "txt")]
struct ReportPrompt;

/// What the agent says of its work.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Report {
    commit: String,
}

/// A report, the last commit of the branch, and whether the two agree.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Checked {
    report: Report,
    adopted: CommitId,
    is_true: bool,
}

#[derive(Graph)]
#[graph(output = Checked)]
struct Reporting {
    #[node(entry, input = (), prompt = ReportPrompt, output = Report, goto(exit), workspace = "work")]
    work: LLMNode<Work>,
}

held!(Reporting);

struct Work;
impl LLMHandler<reporting::work> for Work {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, reporting::work>) -> Ask<ReportPrompt> {
        Ok((ReportPrompt, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, (): (), reply: Reply<Report>, cx: &mut Cx<'_, reporting::work>) -> Route<reporting::work> {
        let mut worktree = cx.worktree().await?;
        let adopted = worktree.adopt_commits().await?;
        let is_true = reply.output.commit == adopted.to_string();
        if is_true {
            cx.land(adopted).await?;
        }
        goto!(cx, reporting::exit, Checked { report: reply.output, adopted, is_true })
    }
}

/// Runs an agent that makes two commits in its worktree and reports this commit.
async fn reported(project: &Project, commit: &str) -> Checked {
    let script = format!(
        r#"
        [[turn]]
        output = {{ commit = "{commit}" }}
        [[turn.write]]
        path = "one"
        content = "1"
        [[turn.commit]]
        message = "One"
        [[turn.write]]
        path = "two"
        content = "2"
        [[turn.write]]
        path = "ignored.log"
        content = "2"
        [[turn.commit]]
        message = "Two"
        [[turn.write]]
        path = "three"
        content = "not committed"
        "#
    );
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", &script).unwrap()));
    let run = Run::new(Reporting { work: LLMNode(Work) }).with_agent_for_others(agent);
    match run.with_workspaces(Arc::new(project.workspaces())).start(()).await.unwrap().outcome {
        Outcome::Finished(checked) => checked,
        other => panic!("{other:?}"),
    }
}

/// CON-76: the hash that the agent reports is the last commit of its branch.
#[tokio::test]
async fn a_true_report_names_the_commit_on_the_branch() {
    let project = Project::new();
    let Checked { report, adopted, is_true } = reported(&project, "$HEAD").await;
    assert!(is_true, "{report:?} {adopted}");
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), report.commit);
    assert_eq!(
        project.git(&["log", "--format=%s %an", "--name-only"]).replace("\n\n", ": "),
        "Two Scripted agent: two\nOne Scripted agent: one\nBegin Runtime: .gitignore\nREADME.md\n"
    );
    assert_eq!((project.left(), project.archived()), (vec![], vec![]));
}

/// A report of another existing commit is detected, and nothing lands.
#[tokio::test]
async fn a_false_report_is_told_from_a_true_one() {
    let project = Project::new();
    let begin = project.begin.to_string();
    let Checked { report, adopted, is_true } = reported(&project, &begin).await;
    assert!(!is_true && report.commit == begin && adopted != project.begin);
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), begin);
}
