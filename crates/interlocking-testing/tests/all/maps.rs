//! A map that does not wait for all of its children: all its possible results.

use expect_test::expect;
use interlocking::prelude::*;
use interlocking::runtime::map::Ended;
use interlocking::testing::{Enumerator, Trial};
use std::sync::Arc;
use std::time::Duration;

/// One vote, by a person.
#[derive(Graph)]
#[graph(output = bool)]
struct Ballot {
    #[node(entry, input = String, question = String, answer = bool, goto(exit))]
    vote: HumanNode<Vote>,
}

/// The first vote for or against decides, once there are two.
#[derive(Graph)]
#[graph(output = String)]
struct Council {
    #[node(entry, input = Vec<String>, goto(votes))]
    open: LogicNode<Open>,
    #[node(input = Vec<String>, map = Ballot, quorum = enough, goto(pass, drop))]
    votes: MapNode<Votes>,
    #[node(input = (), goto(exit))]
    pass: LogicNode<Pass>,
    #[node(input = (), goto(exit))]
    drop: LogicNode<Drops>,
    #[node(on(String), adds_to(votes))]
    latecomer: EventNode<Latecomer>,
}

held!(Ballot, Council);

struct Vote;
impl HumanHandler<ballot::vote> for Vote {
    async fn ask(&self, who: &String, _: &mut Cx<'_, ballot::vote>) -> Result<String, NodeError> {
        Ok(format!("{who}?"))
    }

    async fn answered(&self, _: String, aye: bool, cx: &mut Cx<'_, ballot::vote>) -> Route<ballot::vote> {
        goto!(cx, ballot::exit, aye)
    }
}

struct Open;
impl LogicHandler<council::open> for Open {
    async fn run(&self, who: Vec<String>, cx: &mut Cx<'_, council::open>) -> Route<council::open> {
        goto!(cx, council::votes, who)
    }
}

struct Votes;
impl MapHandler<council::votes> for Votes {
    fn graph(&self, _: &Cx<'_, council::votes>) -> Result<Arc<Ballot>, NodeError> {
        Ok(Arc::new(Ballot { vote: HumanNode(Vote) }))
    }

    async fn items(&self, who: &Vec<String>, _: &mut Cx<'_, council::votes>) -> Result<Vec<Item<Ballot>>, NodeError> {
        Ok(who.iter().cloned().map(Item::new).collect())
    }

    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Ballot>,
        cx: &mut Cx<'_, council::votes>,
    ) -> Route<council::votes> {
        match children.all().await.into_iter().any(|child| child.result == Ok(true)) {
            true => goto!(cx, council::pass, ()),
            false => goto!(cx, council::drop, ()),
        }
    }
}

impl EnoughHandler<council::votes> for Votes {
    async fn enough(&self, ended: &[Ended<bool>], _: &Cx<'_, council::votes>) -> bool {
        ended.iter().flatten().count() == 2
    }
}

struct Latecomer;
impl EventHandler<council::latecomer> for Latecomer {
    async fn handle(&self, who: String, cx: &mut Cx<'_, council::latecomer>) -> Route<council::latecomer> {
        cx.add::<council::votes>([Item::new(who)])
    }
}

struct Pass;
impl LogicHandler<council::pass> for Pass {
    async fn run(&self, (): (), cx: &mut Cx<'_, council::pass>) -> Route<council::pass> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        goto!(cx, council::exit, "passed".to_owned())
    }
}

struct Drops;
impl LogicHandler<council::drop> for Drops {
    async fn run(&self, (): (), cx: &mut Cx<'_, council::drop>) -> Route<council::drop> {
        goto!(cx, council::exit, "dropped".to_owned())
    }
}

#[test]
fn every_route_of_a_map_with_a_quorum_is_taken() {
    let enumerator = Enumerator::new(|_| {
        let (open, votes, pass, drop) = (LogicNode(Open), MapNode(Votes), LogicNode(Pass), LogicNode(Drops));
        let graph = Council { open, votes, pass, drop, latecomer: EventNode(Latecomer) };
        Trial::new(Run::new(graph), ["ann", "bob"].map(str::to_owned).to_vec())
    });
    let report = enumerator.with_message::<council::latecomer>(&"cid".to_owned()).explore();
    report.assert_all_routes();
    expect![[r#"
        Council: 6 of 6 routes were taken in 22 runs

        taken: open → votes                   run 1, no choices
        taken: votes → pass                   run 1, no choices
        taken: votes → drop                   run 2, run-4178d0dbad9b163a/vote.1.1=generated-2
        taken: pass → exit                    run 1, no choices
        taken: drop → exit                    run 2, run-4178d0dbad9b163a/vote.1.1=generated-2
        taken: latecomer → votes (adds items) run 22, message after open.1.1=latecomer-sample-1; run-4178d0dbad9b163a/vote.1.1=nobody
    "#]]
    .assert_eq(&report.to_string());
}
