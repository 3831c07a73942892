//! Budgets on edges: their routes are routes to be covered, and exhausted edges without a route are reported.

use interlocking::prelude::*;
use interlocking::testing::{Enumerator, RouteKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Order {
    Again,
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pot(u32);

impl From<Exhausted<Self>> for Pot {
    fn from(exhausted: Exhausted<Self>) -> Self {
        exhausted.input
    }
}

/// A pot is fired until a potter likes it, at most three times, and glazed again at most three times; otherwise
/// the run fails.
#[derive(Graph)]
#[graph(output = Pot)]
struct Kiln {
    #[node(entry, input = Pot, goto(look))]
    fire: LogicNode<Fire>,
    #[node(input = Pot, question = String, answer = Order, goto(glaze), goto(fire, times = 2, exhausted(exit)))]
    look: HumanNode<Potter>,
    #[node(input = Pot, question = String, answer = Order, goto(exit), goto(look, times = 1))]
    glaze: HumanNode<Potter>,
}
held!(Kiln);

struct Fire;

impl LogicHandler<kiln::fire> for Fire {
    async fn run(&self, pot: Pot, cx: &mut Cx<'_, kiln::fire>) -> Route<kiln::fire> {
        goto!(cx, kiln::look, pot)
    }
}

struct Potter;

impl HumanHandler<kiln::look> for Potter {
    async fn ask(&self, _: &Pot, _: &mut Cx<'_, kiln::look>) -> Result<String, NodeError> {
        Ok("Once more?".into())
    }

    async fn answered(&self, pot: Pot, order: Order, cx: &mut Cx<'_, kiln::look>) -> Route<kiln::look> {
        match order {
            Order::Again => goto!(cx, kiln::fire, pot),
            Order::Done => goto!(cx, kiln::glaze, pot),
        }
    }
}

impl HumanHandler<kiln::glaze> for Potter {
    async fn ask(&self, _: &Pot, _: &mut Cx<'_, kiln::glaze>) -> Result<String, NodeError> {
        Ok("Once more?".into())
    }

    async fn answered(&self, pot: Pot, order: Order, cx: &mut Cx<'_, kiln::glaze>) -> Route<kiln::glaze> {
        match order {
            Order::Again => goto!(cx, kiln::look, pot),
            Order::Done => goto!(cx, kiln::exit, pot),
        }
    }
}

#[test]
fn the_route_of_a_spent_edge_is_one_to_take() {
    let kiln = || Kiln { fire: LogicNode(Fire), look: HumanNode(Potter), glaze: HumanNode(Potter) };
    let report = Enumerator::new(move |_| (Run::new(kiln()), Pot(0))).explore();
    report.assert_all_routes();
    let taken = report.taken().iter().find(|taken| taken.route.kind == RouteKind::Exhausted).unwrap();
    assert_eq!(taken.route.to_string(), "look → exit (exhausted: fire)");
    assert_eq!(taken.route.instead_of.as_deref(), Some("fire"));
    assert!(report.choices_of("look -> exit (exhausted: fire)").is_some());
    let exceeded: Vec<&str> = report.bounds_exceeded().collect();
    assert!(exceeded.iter().all(|edge| *edge == "glaze → look"), "no route takes that up: {exceeded:?}");
}
