//! A graph with hand-written impls, the same as `#[derive(Graph)]` writes, run by a simple loop: the traits and the
//! frontier need no macro and no runtime.

#![expect(missing_docs, non_camel_case_types, reason = "a test, and what a macro writes")]

use interlocking_core::chain::run;
use interlocking_core::context::{ContextError, Cx, Entered, MemoryCell, Services, Workspace};
use interlocking_core::frontier::{Execution, Frontier, Input, Limit, Payload};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::kind::{JoinHandler, JoinNode, LogicHandler, LogicNode};
use interlocking_core::net::NodeIndex;
use interlocking_core::route::Route;
use interlocking_core::run_id::RunId;
use interlocking_core::{fork, goto};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Draft(String);
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Article(String);
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Notes(Vec<String>);

// #[derive(Graph)]
// #[graph(output = Article)]
pub struct Newsroom {
    // #[node(entry, input = Draft, fork(spell, facts), goto(exit), memory(desk: Notes))]
    write: LogicNode<Write>,
    // #[node(input = Draft, goto(desk), memory(desk: Notes))]
    facts: LogicNode<Facts>,
    // #[node(input = Draft, goto(desk))]
    spell: LogicNode<Spell>,
    // #[node(join(spell: Article, facts: bool), goto(write, exit), visits = 3)]
    desk: JoinNode<Desk>,
}

// Beside the struct, the derive writes the module of markers…
pub mod newsroom {
    pub enum write {}
    pub enum facts {}
    pub enum spell {}
    pub enum desk {}
    pub enum desk_spell {}
    pub enum desk_facts {}
    pub enum exit {}
}

// … and everything else in one constant.
const _: () = {
    use interlocking_core as __i;

    pub enum Token {
        write(Draft),
        facts(Draft),
        spell(Draft),
        desk_spell(Article),
        desk_facts(bool),
        desk((Article, bool)),
        exit(Article),
    }

    impl __i::graph::Node for newsroom::write {
        type Graph = Newsroom;
        type Input = Draft;
        const INDEX: u16 = 0;
        fn take(token: Token) -> Draft {
            if let Token::write(value) = token { value } else { unreachable!() }
        }
    }
    impl __i::graph::Place for newsroom::write {
        type Graph = Newsroom;
        type Payload = Draft;
        fn put(value: Draft) -> Token {
            Token::write(value)
        }
    }
    impl __i::graph::Edge<newsroom::exit> for newsroom::write {
        type To = newsroom::exit;
        const ALTERNATIVE: u16 = 0;
    }
    impl __i::graph::Forks for newsroom::write {
        type Branches = (Draft, Draft);
        const ALTERNATIVE: u16 = 1;
        fn tokens((b0, b1): (Draft, Draft)) -> Vec<Token> {
            vec![Token::spell(b0), Token::facts(b1)]
        }
    }
    impl __i::graph::Remembers for newsroom::write {
        type Memory = Notes;
        const GROUP: u16 = 0;
    }

    impl __i::graph::Node for newsroom::facts {
        type Graph = Newsroom;
        type Input = Draft;
        const INDEX: u16 = 1;
        fn take(token: Token) -> Draft {
            if let Token::facts(value) = token { value } else { unreachable!() }
        }
    }
    impl __i::graph::Place for newsroom::facts {
        type Graph = Newsroom;
        type Payload = Draft;
        fn put(value: Draft) -> Token {
            Token::facts(value)
        }
    }
    impl __i::graph::Edge<newsroom::desk> for newsroom::facts {
        type To = newsroom::desk_facts;
        const ALTERNATIVE: u16 = 2;
    }
    impl __i::graph::Remembers for newsroom::facts {
        type Memory = Notes;
        const GROUP: u16 = 0;
    }

    impl __i::graph::Node for newsroom::spell {
        type Graph = Newsroom;
        type Input = Draft;
        const INDEX: u16 = 2;
        fn take(token: Token) -> Draft {
            if let Token::spell(value) = token { value } else { unreachable!() }
        }
    }
    impl __i::graph::Place for newsroom::spell {
        type Graph = Newsroom;
        type Payload = Draft;
        fn put(value: Draft) -> Token {
            Token::spell(value)
        }
    }
    impl __i::graph::Edge<newsroom::desk> for newsroom::spell {
        type To = newsroom::desk_spell;
        const ALTERNATIVE: u16 = 3;
    }

    impl __i::graph::Node for newsroom::desk {
        type Graph = Newsroom;
        type Input = (Article, bool);
        const INDEX: u16 = 3;
        fn take(token: Token) -> (Article, bool) {
            if let Token::desk(value) = token { value } else { unreachable!() }
        }
    }
    impl __i::graph::Place for newsroom::desk_spell {
        type Graph = Newsroom;
        type Payload = Article;
        fn put(value: Article) -> Token {
            Token::desk_spell(value)
        }
    }
    impl __i::graph::Place for newsroom::desk_facts {
        type Graph = Newsroom;
        type Payload = bool;
        fn put(value: bool) -> Token {
            Token::desk_facts(value)
        }
    }
    impl __i::graph::Edge<newsroom::write> for newsroom::desk {
        type To = newsroom::write;
        const ALTERNATIVE: u16 = 4;
    }
    impl __i::graph::Edge<newsroom::exit> for newsroom::desk {
        type To = newsroom::exit;
        const ALTERNATIVE: u16 = 5;
    }
    impl __i::graph::Place for newsroom::exit {
        type Graph = Newsroom;
        type Payload = Article;
        fn put(value: Article) -> Token {
            Token::exit(value)
        }
    }

    impl __i::frontier::Payload for Token {
        fn place(&self) -> u16 {
            match self {
                Self::write(_) => 0,
                Self::facts(_) => 1,
                Self::spell(_) => 2,
                Self::desk_spell(_) => 3,
                Self::desk_facts(_) => 4,
                Self::exit(_) => 5,
                // The full set of a join's slots lies in no place.
                Self::desk(_) => u16::MAX,
            }
        }
        fn copy(&self) -> Option<Self> {
            // One arm for each slot that the net keeps; this graph has none.
            None
        }
    }
    impl __i::graph::Token for Token {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::write(value) => value.serialize(serializer),
                Self::facts(value) => value.serialize(serializer),
                Self::spell(value) => value.serialize(serializer),
                Self::desk_spell(value) => value.serialize(serializer),
                Self::desk_facts(value) => value.serialize(serializer),
                Self::exit(value) => value.serialize(serializer),
                Self::desk(_) => Err(serde::ser::Error::custom("a join's full set is not stored")),
            }
        }
        fn deserialize<'de, D: serde::Deserializer<'de>>(place: u16, d: D) -> Result<Self, D::Error> {
            match place {
                0 => Draft::deserialize(d).map(Token::write),
                1 => Draft::deserialize(d).map(Token::facts),
                2 => Draft::deserialize(d).map(Token::spell),
                3 => Article::deserialize(d).map(Token::desk_spell),
                4 => bool::deserialize(d).map(Token::desk_facts),
                5 => Article::deserialize(d).map(Token::exit),
                _ => Err(serde::de::Error::custom("no such place")),
            }
        }
    }

    impl __i::graph::Graph for Newsroom {
        type Entry = Draft;
        type Output = Article;
        type Token = Token;
        const NODES: usize = 4;
        const EDGES: usize = 7;
        const MAY_BE_CHAIN: bool = true;
        fn net() -> &'static __i::net::Net {
            use __i::table::{NodeKind, NodeRow, Table};
            static NET: std::sync::OnceLock<__i::net::Net> = std::sync::OnceLock::new();
            NET.get_or_init(|| {
                let logic = |name| NodeRow::new(name, NodeKind::Logic).input("Draft");
                let write = logic("write").entry().goto("exit", &[]).fork(&["spell", "facts"], &[]);
                let table = Table::new("Newsroom", "Article")
                    .with(write.memory("desk", "Notes"))
                    .with(logic("facts").goto("desk", &[]).memory("desk", "Notes"))
                    .with(logic("spell").goto("desk", &[]))
                    .with(
                        NodeRow::new("desk", NodeKind::Join)
                            .slot("spell", "Article", &["spell"], false)
                            .slot("facts", "bool", &["facts"], false)
                            .goto("write", &[])
                            .goto("exit", &[])
                            .visits(3),
                    );
                __i::net::Net::new(table).expect("a table that is a net")
            })
        }
        fn enter(entry: Draft) -> Token {
            Token::write(entry)
        }
        fn leave(token: Token) -> Option<Article> {
            if let Token::exit(value) = token { Some(value) } else { None }
        }
        fn join(node: u16, slots: Vec<Token>) -> Option<Token> {
            let mut slots = slots.into_iter();
            match node {
                3 => match (slots.next(), slots.next()) {
                    (Some(Token::desk_spell(s0)), Some(Token::desk_facts(s1))) => Some(Token::desk((s0, s1))),
                    _ => None,
                },
                _ => None,
            }
        }
        fn exhausted(_: u16, _: Limit, _: Token) -> Option<__i::route::Step<Token>> {
            None
        }
        async fn step<'run>(&'run self, input: Token, entered: Entered<'run, Self>) -> Done<Self> {
            match input {
                Token::write(value) => run::<newsroom::write, _>(&self.write, value, entered).await,
                Token::facts(value) => run::<newsroom::facts, _>(&self.facts, value, entered).await,
                Token::spell(value) => run::<newsroom::spell, _>(&self.spell, value, entered).await,
                Token::desk(value) => run::<newsroom::desk, _>(&self.desk, value, entered).await,
                _ => Done::misplaced(),
            }
        }
        fn visit_memory<V: __i::graph::MemoryVisitor>(group: u16, visitor: V) -> Option<V::Output> {
            match group {
                0 => Some(visitor.visit::<Notes>()),
                _ => None,
            }
        }
    }
};

pub struct Write;
pub struct Spell;
pub struct Facts;
pub struct Desk;

impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        let visit = cx.visit();
        cx.update_memory(move |notes| notes.0.push(format!("draft {visit}")));
        fork!(cx, (draft.clone(), draft))
    }
}

impl LogicHandler<newsroom::spell> for Spell {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, newsroom::spell>) -> Route<newsroom::spell> {
        goto!(cx, newsroom::desk, Article(draft.0))
    }
}

impl LogicHandler<newsroom::facts> for Facts {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, newsroom::facts>) -> Route<newsroom::facts> {
        goto!(cx, newsroom::desk, draft.0.contains("twice") && cx.memory().0.len() == 2)
    }
}

impl JoinHandler<newsroom::desk> for Desk {
    async fn join(&self, (article, sound): (Article, bool), cx: &mut Cx<'_, newsroom::desk>) -> Route<newsroom::desk> {
        if sound {
            goto!(cx, newsroom::exit, article)
        } else {
            goto!(cx, newsroom::write, Draft(format!("{} twice", article.0)))
        }
    }
}

struct Bare {
    run_id: RunId,
    notes: MemoryCell<Notes>,
}

impl Services<Newsroom> for Bare {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }
    fn entry(&self) -> Result<&Draft, ContextError> {
        Err(ContextError::NoEntry)
    }
    fn last_input(&self, _: NodeIndex) -> Result<<Newsroom as Graph>::Token, ContextError> {
        Err(ContextError::NoJournal { node: "any".into() })
    }
    fn memory(&self, _: u16) -> Option<&(dyn Any + Send + Sync)> {
        Some(&self.notes)
    }
    fn workspace(&self, _: NodeIndex) -> Result<Workspace, ContextError> {
        Err(ContextError::NoWorkspace { name: "none".into(), reason: "there are none".into() })
    }
    fn note(&self, _: Execution, _: String) {}
    fn extension(&self) -> &(dyn Any + Send + Sync) {
        &()
    }
}

#[test]
fn a_graph_without_macro_and_runtime_runs_to_its_exit() {
    let graph =
        Newsroom { write: LogicNode(Write), facts: LogicNode(Facts), spell: LogicNode(Spell), desk: JoinNode(Desk) };
    let services = Bare { run_id: "bare".parse().unwrap(), notes: MemoryCell::default() };
    let mut frontier = Frontier::new(Newsroom::net(), Newsroom::enter(Draft("once".into())));
    let mut order: Vec<&str> = Vec::new();
    while let Some(due) = frontier.next_due() {
        order.push(Newsroom::net().name(due.execution.node));
        let token = match due.input {
            Input::One(token) => token,
            Input::Slots(slots) => Newsroom::join(due.execution.node, slots).unwrap(),
        };
        let done = ready(graph.step(token, Entered { services: &services, execution: due.execution }));
        done.effects.apply(&services.notes);
        frontier.complete(due.execution, done.route.unwrap()).unwrap();
    }
    let article = frontier.take_exit().and_then(Newsroom::leave);
    assert_eq!(article, Some(Article("once twice".into())));
    assert_eq!(order, ["write", "spell", "facts", "desk", "write", "spell", "facts", "desk"]);
}

#[test]
fn a_payload_survives_the_codec() {
    type Token = <Newsroom as Graph>::Token;
    let place = Newsroom::net().place_named("desk.spell").unwrap();
    let json = serde_json::to_vec(&Article("a".into())).unwrap();
    let mut deserializer = serde_json::Deserializer::from_slice(&json);
    let token = <Token as interlocking_core::graph::Token>::deserialize(place, &mut deserializer).unwrap();
    assert_eq!(token.place(), place);
    let mut again = Vec::new();
    interlocking_core::graph::Token::serialize(&token, &mut serde_json::Serializer::new(&mut again)).unwrap();
    assert_eq!(again, json);
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("no node of this graph waits"),
    }
}
