//! The handlers of a simulated graph.

use crate::choice::{Choice, Fate};
use crate::graph::{Output, Simulated, Sum};
use crate::markers::{Anywhere, At, Watcher};
use crate::numbers::{enough, gathered, in_a_word, is_anew, items, observed, question, report, sent, spawned};
use crate::token::Token;
use crate::world::{EVENT, Gathered, LogEvent, World};
use interlocking_core::context::{Cx, LabelType, Labelled, NewItem, Severity};
use interlocking_core::failure::NodeError;
use interlocking_core::graph::Node;
use interlocking_core::kind::{EventHandler, JoinHandler, LogicHandler};
use interlocking_core::net::{NodeIndex, PlaceIndex};
use interlocking_core::route::{Route, Step};
use interlocking_core::run_id::RunId;
use interlocking_runtime::RunContext;
use interlocking_runtime::advisory::AdvisoryHandler;
use interlocking_runtime::graph::GraphHandler;
use interlocking_runtime::human::HumanHandler;
use interlocking_runtime::journal::By;
use interlocking_runtime::map::{Child, Children, Ended, EnoughHandler, Item, MapHandler};
use interlocking_runtime::observer::{Observation, ObserverHandler};
use std::sync::Arc;
use std::time::Duration;

/// The handler of every node.
pub(crate) struct Body(pub(crate) Arc<World>);

/// The run to whose event node a node of a run at `level` sends.
pub(crate) fn addressee(world: &World, level: usize, run: &RunId, parent: Option<RunId>) -> Option<RunId> {
    if world.has_event_node(level) { Some(run.clone()) } else { parent.filter(|_| world.has_event_node(0)) }
}

impl Body {
    pub(crate) fn by<N: Node>(cx: &Cx<'_, N>) -> By {
        By { node: cx.node().to_owned(), visit: cx.visit(), attempt: cx.attempt() }
    }

    /// Logs that the execution begins, and returns its choice.
    pub(crate) fn begin<const LEVEL: usize, const INDEX: NodeIndex>(&self, cx: &Cx<'_, At<LEVEL, INDEX>>) -> Choice {
        let (run, by) = (cx.run_id().clone(), Self::by(cx));
        self.0.log(LogEvent::Begun { run, by, restarts: cx.restarts() });
        self.choice(cx)
    }

    pub(crate) fn choice<const LEVEL: usize, const INDEX: NodeIndex>(&self, cx: &Cx<'_, At<LEVEL, INDEX>>) -> Choice {
        self.0.choice(LEVEL, cx.run_id(), cx.execution())
    }

    /// Waits, does the side effect, and ends as the choice says.
    pub(crate) async fn work<const LEVEL: usize, const INDEX: NodeIndex>(
        &self,
        choice: &Choice,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Result<(), NodeError> {
        wait(choice.delays[0]).await;
        if choice.once {
            let (world, run, by) = (self.0.clone(), cx.run_id().clone(), Self::by(cx));
            let (effect_run, effect_by) = (run.clone(), by.clone());
            let effect = async move { Ok(world.effect(&effect_run, effect_by)) };
            let value = cx.once("effect", effect).await?;
            self.0.log(LogEvent::Got { run, by, value });
        }
        if let Some(adds) = choice.adds {
            cx.update_memory(move |sum: &mut Sum| sum.0 += adds);
        }
        for &place in &choice.spawns {
            cx.spawn::<Anywhere<LEVEL>>(Token::new(place, spawned(choice, place)));
        }
        if let Some(number) = choice.sends
            && let Some(to) = addressee(&self.0, LEVEL, cx.run_id(), cx.parent())
        {
            cx.label(&Sent);
            cx.post(to, EVENT, number.to_string());
        }
        wait(choice.delays[1]).await;
        match choice.fate {
            Fate::Well | Fate::TimesOut => {
                self.0.log(LogEvent::Left { run: cx.run_id().clone(), by: Self::by(cx) });
                Ok(())
            }
            Fate::Fails => Err("it was to fail".into()),
            // Skips the panic hook, which would print a thousand times.
            Fate::Unanswered => Err("its agent was to have no answer, and had one".into()),
            Fate::Panics => std::panic::resume_unwind(Box::new("it was to panic")),
        }
    }

    pub(crate) fn leave<const LEVEL: usize, const INDEX: NodeIndex>(
        choice: &Choice,
        input: &[u64],
        extra: u64,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        if let Some((map, items)) = &choice.adds_items {
            let item = |item: &u64| NewItem {
                entry: item.to_string(),
                key: item.to_string(),
                anew: is_anew(*item),
                anew_after: None,
            };
            return cx.add_items(*map, items.iter().map(item).collect());
        }
        let Some(way) = &choice.way else { return cx.resume() };
        let token = |(branch, place): (usize, &PlaceIndex)| Token::new(*place, sent(choice, input, extra, branch));
        let mut tokens: Vec<_> = way.places.iter().enumerate().map(token).collect();
        let step = match way.fork {
            true => Step::All(way.alternative, tokens),
            false => Step::One(way.alternative, tokens.remove(0)),
        };
        cx.goto::<Anywhere<LEVEL>>(Token::leaving(step))
    }

    async fn simply<const LEVEL: usize, const INDEX: NodeIndex>(
        &self,
        input: Token<LEVEL>,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        let choice = self.begin(cx);
        let extra = self.converse(&choice, input.numbers(), cx).await?;
        self.work(&choice, cx).await?;
        Self::leave(&choice, input.numbers(), extra, cx)
    }
}

async fn wait(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> LogicHandler<At<LEVEL, INDEX>> for Body {
    async fn run(&self, input: Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Route<At<LEVEL, INDEX>> {
        self.simply(input, cx).await
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> JoinHandler<At<LEVEL, INDEX>> for Body {
    async fn join(&self, slots: Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Route<At<LEVEL, INDEX>> {
        self.simply(slots, cx).await
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> EventHandler<At<LEVEL, INDEX>> for Body {
    async fn handle(&self, message: Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Route<At<LEVEL, INDEX>> {
        self.simply(message, cx).await
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> HumanHandler<At<LEVEL, INDEX>> for Body {
    async fn ask(&self, input: &Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Result<u64, NodeError> {
        let choice = self.choice(cx);
        wait(choice.delays[0]).await;
        Ok(question(&choice, input.numbers()))
    }

    async fn answered(
        &self,
        input: Token<LEVEL>,
        answer: u64,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        let choice = self.begin(cx);
        self.work(&choice, cx).await?;
        Self::leave(&choice, input.numbers(), answer, cx)
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> MapHandler<At<LEVEL, INDEX>> for Body {
    fn graph(&self, _: &Cx<'_, At<LEVEL, INDEX>>) -> Result<Arc<Simulated<1>>, NodeError> {
        Ok(Arc::new(Simulated { world: self.0.clone() }))
    }

    async fn items(
        &self,
        _: &Token<LEVEL>,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Result<Vec<Item<Simulated<1>>>, NodeError> {
        let choice = self.begin(cx);
        let item = |item| if is_anew(item) { Item::new(item).anew() } else { Item::new(item) };
        Ok(items(&choice, LEVEL).into_iter().map(item).collect())
    }

    async fn gather(
        &self,
        input: Token<LEVEL>,
        children: Children<Simulated<1>>,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        let choice = self.choice(cx);
        let gathers = |child: Child<Output>| Gathered {
            run: child.run,
            item: child.key.parse().unwrap_or(u64::MAX),
            result: child.result.map(|output| output.number).map_err(|failure| in_a_word(&failure)),
        };
        let children: Vec<Gathered> = children.all().await.into_iter().map(gathers).collect();
        let extra = gathered(&children);
        self.0.log(LogEvent::Gathered { run: cx.run_id().clone(), by: Self::by(cx), children });
        self.work(&choice, cx).await?;
        Self::leave(&choice, input.numbers(), extra, cx)
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> GraphHandler<At<LEVEL, INDEX>> for Body {
    fn graph(&self, _: &Cx<'_, At<LEVEL, INDEX>>) -> Result<Arc<Simulated<1>>, NodeError> {
        Ok(Arc::new(Simulated { world: self.0.clone() }))
    }

    async fn entry(&self, _: &Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Result<u64, NodeError> {
        Ok(self.begin(cx).entry)
    }

    async fn after(
        &self,
        input: Token<LEVEL>,
        output: Output,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        let (choice, number) = (self.choice(cx), output.number);
        self.0.log(LogEvent::Given { run: cx.run_id().clone(), by: Self::by(cx), number });
        self.work(&choice, cx).await?;
        Self::leave(&choice, input.numbers(), number, cx)
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> EnoughHandler<At<LEVEL, INDEX>> for Body {
    async fn enough(&self, ended: &[Ended<Output>], cx: &Cx<'_, At<LEVEL, INDEX>>) -> bool {
        ended.iter().flatten().filter(|result| result.is_ok()).count() >= enough(&self.choice(cx))
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> AdvisoryHandler<At<LEVEL, INDEX>> for Body {
    async fn advise(&self, input: Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Result<Sum, NodeError> {
        let choice = self.begin(cx);
        let extra = self.converse(&choice, input.numbers(), cx).await?;
        self.work(&choice, cx).await?;
        Ok(Sum(report(&choice, input.numbers()[0], extra)))
    }
}

impl<const LEVEL: usize, const GROUP: NodeIndex> ObserverHandler<Watcher<LEVEL, GROUP>> for Body {
    async fn observe(&self, seen: &Observation, sum: &mut Sum) -> Result<(), NodeError> {
        wait(u64::from(seen.0.visit) % 3).await;
        sum.0 = observed(sum.0, self.0.rates.failing, seen)?;
        Ok(())
    }
}

/// The label of an outcome that sends a message.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sent;

impl LabelType for Sent {
    const ALL: &'static [Self] = &[Self];

    fn name(self) -> &'static str {
        "SENT"
    }

    fn severity(self) -> Severity {
        Severity::Info
    }

    fn route_hint(self) -> Option<&'static str> {
        None
    }
}

impl<N> Labelled<N> for Sent {
    type Type = Self;

    fn label_type(&self) -> Self {
        *self
    }
}
