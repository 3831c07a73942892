//! A run whose agent is recorded, and the same run replayed from the cassette.

use crate::support::{Log, failed, pass, timed};
use askama::Template;
use interlocking::agents::{Agent, Recorder, Replayer, Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::runtime::workspaces::Directories;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

#[derive(Template)]
#[template(source = "{{ task }}", ext = "txt")]
struct Tell {
    task: String,
}

/// A draft, two reviews of it at once in forks of its session, and a final turn in the session itself.
#[derive(Graph)]
#[graph(output = String)]
struct Review {
    #[node(entry, input = String, prompt = Tell, output = String, agent = "writer", workspace = "desk", fork(left, right))]
    draft: LLMNode<Draft>,
    #[node(input = SessionId, prompt = Tell, output = u32, agent = "critic", workspace = "left", goto(both))]
    left: LLMNode<Judge>,
    #[node(input = SessionId, prompt = Tell, output = u32, agent = "critic", workspace = "right", goto(both))]
    right: LLMNode<Judge>,
    #[node(join(left: (SessionId, u32), right: (SessionId, u32)), goto(last))]
    both: JoinNode<Both>,
    #[node(input = (SessionId, u32), prompt = Tell, output = String, agent = "writer", workspace = "desk", goto(exit))]
    last: LLMNode<Last>,
}

held!(Review);

struct Draft;
impl LLMHandler<review::draft> for Draft {
    async fn before<'a>(&'a self, task: &'a String, cx: &mut Cx<'_, review::draft>) -> Ask<Tell> {
        let task = format!("{task}, run {}, in {}", cx.run_id(), cx.workspace()?.path.display());
        Ok((Tell { task }, SessionOp::StartFresh(Slug::new("draft")?)))
    }
    async fn after(&self, _: String, reply: Reply<String>, cx: &mut Cx<'_, review::draft>) -> Route<review::draft> {
        fork!(cx, (reply.session.clone(), reply.session))
    }
}
struct Judge;
macro_rules! judge {
    ($node:ident, late by $delay:literal) => {
        impl LLMHandler<review::$node> for Judge {
            async fn before<'a>(&'a self, parent: &'a SessionId, _: &mut Cx<'_, review::$node>) -> Ask<Tell> {
                let slug = Slug::new("judge")?;
                pass($delay).await;
                Ok((Tell { task: "judge it".to_owned() }, SessionOp::ForkFrom { parent: parent.clone(), slug }))
            }
            async fn after(
                &self,
                parent: SessionId,
                reply: Reply<u32>,
                cx: &mut Cx<'_, review::$node>,
            ) -> Route<review::$node> {
                goto!(cx, review::both, (parent, reply.output))
            }
        }
    };
}
judge!(left, late by 0);
judge!(right, late by 500);
joins!(Both for review::both, |(left, right): ((SessionId, u32), (SessionId, u32)), cx| {
    goto!(cx, review::last, (left.0, left.1 * 10 + right.1))
});
struct Last;
impl LLMHandler<review::last> for Last {
    async fn before<'a>(&'a self, (session, votes): &'a (SessionId, u32), _: &mut Cx<'_, review::last>) -> Ask<Tell> {
        Ok((Tell { task: format!("the votes are {votes}") }, SessionOp::ContinueFrom(session.clone())))
    }
    async fn after(
        &self,
        _: (SessionId, u32),
        reply: Reply<String>,
        cx: &mut Cx<'_, review::last>,
    ) -> Route<review::last> {
        goto!(cx, review::exit, reply.output)
    }
}

/// The critics answer the same prompt differently: the left one, which is asked first, at once; the right one late, with a
/// correction.
const SCRIPT: &str = "
    [[turn]]
    agent = \"writer\"
    session = \"fresh\"
    output = \"drafted\"
    cost = 0.5
    [[turn.write]]
    path = \"draft.md\"
    content = \"a draft\"
    [[turn]]
    agent = \"critic\"
    session = \"fork\"
    delay = \"1s\"
    output = 3
    [[turn.write]]
    path = \"verdict\"
    content = \"good\"
    [[turn]]
    agent = \"critic\"
    session = \"fork\"
    delay = \"2s\"
    output = \"bad\"
    [[turn.write]]
    path = \"verdict\"
    content = \"bad\"
    [[turn]]
    contains = [\"does not fit\"]
    output = 2
    [[turn]]
    contains = [\"the votes are 32\"]
    session = \"continue\"
    output = \"done\"
    [[turn.append]]
    path = \"draft.md\"
    content = \", corrected\"
";

type Played = (Result<String, String>, String, BTreeMap<String, String>, Vec<String>);

/// The results of a run with this agent: its outcome, its usage, the files of all workspaces, and the agent events of each
/// node.
async fn review(agent: Arc<dyn Agent>, run: &str, place: &Path, task: &str) -> Played {
    let mut directories = Directories::new();
    let names = ["desk", "left", "right"];
    for name in names {
        std::fs::create_dir(place.join(name)).unwrap();
        directories = directories.with(name, place.join(name));
    }
    let log = Log::new();
    let graph = Review {
        draft: LLMNode(Draft),
        left: LLMNode(Judge),
        right: LLMNode(Judge),
        both: JoinNode(Both),
        last: LLMNode(Last),
    };
    let run = timed(graph).with_id(run.parse().unwrap()).with_agent_for_others(agent);
    let run = run.with_workspaces(Arc::new(directories)).with_events(log.sink());
    let report = run.start(task.to_owned()).await.unwrap();
    let usage = report.usage().to_string();
    let files = names.iter().flat_map(|name| {
        std::fs::read_dir(place.join(name)).unwrap().map(move |entry| {
            let path = entry.unwrap().path();
            (format!("{name}/{}", path.file_name().unwrap().display()), std::fs::read_to_string(path).unwrap())
        })
    });
    let mut events: Vec<_> = log.events().into_iter().filter_map(|event| agents(&event.kind)).collect();
    // The branches run concurrently; the events of each branch are in order.
    events.sort_by_key(|event| event.split(' ').next().map(str::to_owned));
    let files = files.collect();
    let outcome = if report.outcome.name() == "finished" {
        Ok(crate::support::finished(report))
    } else {
        Err(failed(report).to_string())
    };
    (outcome, usage, files, events)
}

fn agents(kind: &EventKind) -> Option<String> {
    match kind {
        EventKind::Agent { node, agent, .. } => Some(format!("{} {:?}", node.node, **agent)),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_recorded_run_is_played_back_in_another_place_and_under_another_name() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        std::fs::create_dir(place.path().join(name)).unwrap();
        place.path().join(name)
    };
    let cassette = place.path().join("cassette");
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", SCRIPT).unwrap()));
    let recorder = Arc::new(Recorder::new(agent.clone(), &cassette).unwrap().with_placeholder("run", "monday"));
    let recorded = review(recorder.clone(), "monday", &at("then"), "write").await;
    assert_eq!((&recorded.0, recorder.calls(), agent.unused().len()), (&Ok("done".to_owned()), Ok(5), 0));
    assert_eq!(recorded.2["right/verdict"], "bad");
    assert!(recorded.3.iter().any(|event| event.contains("Correction")));

    let replayer = || Replayer::open(&cassette).unwrap().with_placeholder("run", "tuesday");
    for (name, replayer) in [("now", replayer()), ("paced", replayer().at_recorded_pace())] {
        let replayer = Arc::new(replayer);
        assert_eq!(review(replayer.clone(), "tuesday", &at(name), "write").await, recorded);
        assert!(replayer.unplayed().is_empty());
    }
    let (outcome, usage, files, _) = review(Arc::new(replayer()), "tuesday", &at("drifted"), "rewrite").await;
    let failure = outcome.unwrap_err();
    assert!(failure.contains("-write, run ⟦run⟧, in ⟦workspace⟧\n+rewrite, run ⟦run⟧, in ⟦workspace⟧"), "{failure}");
    assert!(files.is_empty() && usage.starts_with("$0.00 "), "{usage}");
}
