//! A run that demands isolation where there is none: refused, unless the user accepts weaker
//! isolation.

use crate::support::call;
use askama::Template;
use expect_test::expect;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::{Cli, NoArguments, Start};
use interlocking::prelude::*;
use interlocking::runtime::workspaces::Directories;
use std::sync::Arc;

#[derive(Template)]
#[template(source = "Write about {{ topic }}.", ext = "txt")]
pub(crate) struct Draft<'a> {
    topic: &'a str,
}

#[derive(Graph)]
#[graph(output = String)]
pub(crate) struct Alone {
    #[node(entry, input = String, prompt = Draft<'_>, output = String, workspace = "desk", isolation = "clone", goto(exit))]
    pub(crate) write: LLMNode<Write>,
}
held!(Alone);

pub(crate) struct Write;
impl LLMHandler<alone::write> for Write {
    async fn before<'a>(&'a self, topic: &'a String, _: &mut Cx<'_, alone::write>) -> Ask<Draft<'a>> {
        Ok((Draft { topic }, SessionOp::StartFresh(Slug::new("write")?)))
    }
    async fn after(&self, _: String, reply: Reply<String>, cx: &mut Cx<'_, alone::write>) -> Route<alone::write> {
        goto!(cx, alone::exit, reply.output)
    }
}

#[tokio::test]
async fn a_run_goes_on_with_less_isolation_when_it_is_told_to() {
    let place = tempfile::tempdir().unwrap();
    let set_up = |_: NoArguments, _: Start| async {
        let script = Script::parse("the writer's", "[[turn]]\noutput_json = '\"The tide rises.\"'\n").unwrap();
        let desk = Directories::new().with("desk", std::env::temp_dir());
        let run = Run::new(Alone { write: LLMNode(Write) }).with_workspaces(Arc::new(desk));
        Ok(run.with_agent_for_others(Arc::new(ScriptedAgent::new(script))))
    };
    let cli: Cli<Alone> = Cli::new("alone", set_up);
    let run = ["run", "--run-id", "r1", "--input", "\"tides\""];
    expect![[r#"
        exit 2
        ! r1 runs in PLACE
        ! error: the graph demands isolation that cannot be kept here:
        !   node `write` demands a clone for its workspace `desk`, and there is a worktree: the run's workspaces give no more
        ! run it where it can be kept, or say that it may go on without: `with_weaker_isolation`, or `--accept-weaker-isolation` on the command line
    "#]]
    .assert_eq(&call(&cli, &place, &run, None).await.page());
    let told = call(&cli, &place, &[&run[..], &["--accept-weaker-isolation"]].concat(), None).await;
    let goes_on =
        "goes on all the same: node `write` demands a clone for its workspace `desk`, and there is a worktree";
    assert!(told.exit == 0 && told.stderr.contains(goes_on), "{told:?}");
}
