//! Role bindings are checked before a run starts: unbound roles, and agents that cannot play a
//! role.

use crate::support::{Log, Recording, both_ways, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use expect_test::expect;
use interlocking::agents::backends::{Backends, RoleBindings};
use interlocking::agents::{
    Agent, AgentError, AgentErrorKind, Capabilities, Reply as Answer, Script, ScriptedAgent, Sessions, Turn,
    TurnContext,
};
use interlocking::prelude::*;
use interlocking::runtime::roles::Roles;
use interlocking::runtime::workspaces::Directories;
use interlocking::runtime::{MemoryJournal, StartError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

#[derive(Template)]
#[template(source = "Go.", ext = "txt")]
struct Go;

#[derive(Graph)]
#[graph(output = u32)]
struct Section {
    #[node(entry, input = u32, prompt = Go, output = u32, agent = "critic", workspace = "desk", goto(polish))]
    judge: LLMNode<Work>,
    #[node(input = u32, prompt = Go, output = u32, workspace = "desk", goto(exit))]
    polish: LLMNode<Work>,
}

/// A book has sections, which have sections: a graph that is its own child is checked once.
#[derive(Graph)]
#[graph(output = u32)]
struct Book {
    #[node(entry, input = u32, prompt = Go, output = u32, agent = "critic", goto(sections))]
    plan: LLMNode<Work>,
    #[node(input = u32, map = Section, goto(volumes))]
    sections: MapNode<Sections>,
    #[node(input = u32, map = Book, depth = 2, goto(bind))]
    volumes: MapNode<Volumes>,
    #[node(input = u32, prompt = Go, output = u32, agent = "binder", goto(exit))]
    bind: LLMNode<Work>,
}
held!(Section, Book);

struct Work;
macro_rules! work {
    ($($graph:ident::$node:ident to $next:ident)*) => {$(
        impl LLMHandler<$graph::$node> for Work {
            async fn before<'a>(&'a self, _: &'a u32, _: &mut Cx<'_, $graph::$node>) -> Ask<Go> {
                Ok((Go, SessionOp::StartFresh(Slug::new("work")?)))
            }
            async fn after(&self, sum: u32, reply: Reply<u32>, cx: &mut Cx<'_, $graph::$node>) -> Route<$graph::$node> {
                goto!(cx, $graph::$next, sum + reply.output)
            }
        }
    )*};
}
work!(section::judge to polish section::polish to exit book::plan to sections book::bind to exit);

struct Sections;
impl MapHandler<book::sections> for Sections {
    fn graph(&self, _: &Cx<'_, book::sections>) -> Result<Arc<Section>, NodeError> {
        Ok(Arc::new(section()))
    }
    async fn items(&self, sum: &u32, _: &mut Cx<'_, book::sections>) -> Result<Vec<Item<Section>>, NodeError> {
        Ok(vec![Item::new(*sum)])
    }
    async fn gather(
        &self,
        _: u32,
        children: Children<Section>,
        cx: &mut Cx<'_, book::sections>,
    ) -> Route<book::sections> {
        let outputs = children.all().await.into_iter().filter_map(|child| child.result.ok());
        goto!(cx, book::volumes, outputs.sum())
    }
}

struct Volumes;
impl MapHandler<book::volumes> for Volumes {
    fn graph(&self, _: &Cx<'_, book::volumes>) -> Result<Arc<Book>, NodeError> {
        Ok(Arc::new(book()))
    }
    async fn items(&self, _: &u32, _: &mut Cx<'_, book::volumes>) -> Result<Vec<Item<Book>>, NodeError> {
        Ok(Vec::new())
    }
    async fn gather(&self, sum: u32, _: Children<Book>, cx: &mut Cx<'_, book::volumes>) -> Route<book::volumes> {
        goto!(cx, book::bind, sum)
    }
}

fn section() -> Section {
    Section { judge: LLMNode(Work), polish: LLMNode(Work) }
}

fn book() -> Book {
    Book { plan: LLMNode(Work), sections: MapNode(Sections), volumes: MapNode(Volumes), bind: LLMNode(Work) }
}

const SCRIPT: &str = "[[turn]]\ntimes = 'any'\noutput_json = '1'\n";

/// An agent with these answers to checks.
struct Answering {
    name: &'static str,
    capabilities: Capabilities,
    takes: u64,
    refuses: Option<&'static str>,
    asked: Arc<AtomicUsize>,
    inner: ScriptedAgent,
}

fn answering(name: &'static str) -> Answering {
    let inner = ScriptedAgent::new(Script::parse("the agent's", SCRIPT).unwrap());
    Answering { name, capabilities: Capabilities::ALL, takes: 0, refuses: None, asked: Arc::default(), inner }
}

#[async_trait]
impl Agent for Answering {
    fn name(&self) -> &str {
        self.name
    }
    fn sessions(&self) -> &Sessions {
        self.inner.sessions()
    }
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
    async fn ready(&self) -> Result<(), AgentError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        pass(self.takes).await;
        match self.refuses {
            Some(reason) => Err(AgentErrorKind::Configuration { reason: reason.to_owned() }.into()),
            None => Ok(()),
        }
    }
    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Answer, AgentError> {
        self.inner.run(context, turn).await
    }
}

fn desk() -> Arc<Directories> {
    Arc::new(Directories::new().with("desk", std::env::temp_dir()))
}

#[tokio::test(start_paused = true)]
async fn roles_that_nobody_plays_are_named_before_anything_happens() {
    let log = Log::new();
    let error = timed(book()).with_events(log.sink()).start(0).await.unwrap_err();
    expect![[r#"
        no agent plays:
          `critic`, for node `plan` and node `judge` of child graph `Section`
          `binder`, for node `bind`
          `polish`, for node `polish` of child graph `Section`
        no role is bound
        bind them with `with_agent`, all others with `with_agent_for_others`, or with `RoleBindings`"#]]
    .assert_eq(&error.to_string());
    assert_eq!(log.lines(), "");

    let run =
        || timed(book()).with_agent("polish", Recording::new(SCRIPT)).with_agent("critic", Recording::new(SCRIPT));
    expect![[r#"
        no agent plays:
          `binder`, for node `bind`
        played are:
          `critic` by `recording`
          `polish` by `recording`
        bind them with `with_agent`, all others with `with_agent_for_others`, or with `RoleBindings`"#]]
    .assert_eq(&run().start(0).await.unwrap_err().to_string());
    let error = run().with_agent("binder", Recording::new(SCRIPT)).with_workspaces(desk()).start(40).await;
    assert_eq!(finished(error.unwrap()), 44);

    // The shortcut and the normal path check in the same way.
    for run in both_ways(section) {
        assert!(matches!(run.start(0).await, Err(StartError::UnboundRoles { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn every_agent_is_asked_once_and_all_at_once_whether_it_can_work() {
    let began = Instant::now();
    let slow =
        Arc::new(Answering { takes: 300, refuses: Some("its program is not there: install it"), ..answering("slow") });
    let other = Arc::new(Answering { takes: 200, refuses: Some("no key"), ..answering("other") });
    let fine = Arc::new(Answering { takes: 100, ..answering("fine") });
    let idle = Arc::new(Answering { refuses: Some("nobody asks it"), ..answering("idle") });
    let log = Log::new();
    let run = timed(book()).with_agent("critic", slow.clone()).with_agent("binder", slow.clone());
    let run = run.with_agent("polish", other.clone()).with_agent("nobody", idle.clone()).with_events(log.sink());
    let error = run.with_agent_for_others(fine.clone()).start(0).await.unwrap_err();
    expect![[r#"
        these agents cannot work here:
          `slow`, which plays `critic` and `binder`: the agent is not set up: its program is not there: install it
          `other`, which plays `polish`: the agent is not set up: no key"#]]
    .assert_eq(&error.to_string());
    assert_eq!((log.lines().as_str(), began.elapsed().as_millis()), ("", 300));
    let asked = |agent: &Answering| agent.asked.load(Ordering::SeqCst);
    assert_eq!([&slow, &other, &fine, &idle].map(|agent| asked(agent)), [1, 1, 0, 0]);

    // A run with children checks once; also without a journal.
    let run = timed(book()).with_agent_for_others(fine.clone()).with_workspaces(desk());
    assert_eq!(finished(run.start(40).await.unwrap()), 44);
    assert_eq!(asked(&fine), 1);
    for (nth, run) in (2..).zip(both_ways(section)) {
        finished(run.with_agent_for_others(fine.clone()).with_workspaces(desk()).start(0).await.unwrap());
        assert_eq!(asked(&fine), nth);
    }
}

/// A run that has ended needs no agent.
#[tokio::test(start_paused = true)]
async fn a_run_that_has_ended_asks_no_agent() {
    let journal = Arc::new(MemoryJournal::new());
    let run = |agent| {
        timed(section()).with_journal(journal.clone()).with_agent_for_others(Arc::new(agent)).with_workspaces(desk())
    };
    let refusing = || Answering { refuses: Some("no key"), ..answering("refusing") };
    assert!(matches!(run(refusing()).start(40).await, Err(StartError::AgentsNotReady { .. })));
    // Nothing was recorded: a run of the same name can start.
    assert_eq!(finished(run(answering("fine")).start(40).await.unwrap()), 42);
    assert_eq!(finished(run(refusing()).resume().await.unwrap()), 42);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_only_thinks_does_no_work_in_a_workspace() {
    let thinker =
        Answering { capabilities: Capabilities { works: false, ..Capabilities::ALL }, ..answering("thinker") };
    let thinker = Arc::new(thinker);
    let run = timed(book()).with_agent_for_others(thinker.clone()).with_workspaces(desk());
    expect![[r#"
        these agents cannot do what the graph needs:
          `thinker`, which plays `critic`, for node `judge` of child graph `Section`: the node is there to change the files of workspace `desk`, and the agent works with none
          `thinker`, which plays `polish`, for node `polish` of child graph `Section`: the node is there to change the files of workspace `desk`, and the agent works with none
        bind the roles to others"#]].assert_eq(&run.start(0).await.unwrap_err().to_string());
    // Without a workspace it may be a thinker: `binder` has none.
    let run = timed(book()).with_agent_for_others(Recording::new(SCRIPT)).with_agent("binder", thinker);
    assert_eq!(finished(run.with_workspaces(desk()).start(0).await.unwrap()), 4);
}

/// Bindings from a file or an option apply to the roles of the graph and of its child graphs, and
/// to no others.
#[tokio::test(start_paused = true)]
async fn role_bindings_bind_the_roles_of_the_whole_tree() {
    let kinds = || {
        #[derive(Clone, serde::Deserialize)]
        struct None {}
        Backends::none().with_kind("fine", |None {}| Ok(Arc::new(answering("fine"))))
    };
    let file = "others = 'fine'\n[roles]\npolish = 'fine:small'\n";
    let bindings = RoleBindings::new(kinds()).parse("agents.toml", file, Path::new("")).unwrap();
    let run = timed(book()).with_role_bindings(&bindings).unwrap().with_workspaces(desk());
    let report = run.start(40).await.unwrap();
    assert!(report.ledger.entries().iter().all(|entry| entry.agent == "fine"));
    assert_eq!(finished(report), 44);

    let wrong = bindings.with_option("plan=fine", "--agent plan=fine").unwrap();
    expect!["--agent plan=fine: there is no role `plan` in the graph; there are `critic`, `binder` and `polish`"]
        .assert_eq(&timed(book()).with_role_bindings(&wrong).unwrap_err().to_string());
    // Bindings made in code stay unless they are overridden.
    let mut roles = Roles::new();
    roles.bind("critic", interlocking::runtime::roles::Player::new(Recording::new(SCRIPT)));
    let bindings = RoleBindings::new(kinds()).with_option("polish=fine:small", "").unwrap();
    roles.bind_all::<Section>(&bindings).unwrap();
    let player = |role| roles.player(role).map(|player| (player.agent.name().to_owned(), player.model.clone()));
    assert_eq!(player("critic"), Some(("recording".to_owned(), None)));
    assert_eq!(player("polish"), Some(("fine".to_owned(), Some("small".to_owned()))));
}
