//! Nodes that fail, or take too long: each has a route that is to be covered.

use interlocking::prelude::*;
use interlocking::testing::{Ending, Enumerator, RouteKind};

#[derive(Graph)]
#[graph(output = Plate)]
struct Oven {
    #[node(entry, input = u32, goto(serve), failed(order), timeout = "10m", timed_out(look, cancels(serve)))]
    bake: LogicNode<Bake>,
    #[node(input = TimedOut, goto(serve))]
    look: LogicNode<Look>,
    /// It has no route for failures, so a failure is never chosen.
    #[node(input = Failure, goto(exit))]
    order: LogicNode<Order>,
    #[node(input = String, goto(exit), failed(exit))]
    serve: LogicNode<Serve>,
}

held!(Oven);

/// The meal that is served.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Plate(String);

impl From<Failure> for Plate {
    fn from(failure: Failure) -> Self {
        Self(format!("nothing: {failure}"))
    }
}

struct Bake;
impl LogicHandler<oven::bake> for Bake {
    async fn run(&self, pieces: u32, cx: &mut Cx<'_, oven::bake>) -> Route<oven::bake> {
        goto!(cx, oven::serve, format!("{pieces} pieces"))
    }
}

struct Look;
impl LogicHandler<oven::look> for Look {
    async fn run(&self, late: TimedOut, cx: &mut Cx<'_, oven::look>) -> Route<oven::look> {
        goto!(cx, oven::serve, format!("burnt after {} min", late.limit_ms / 60_000))
    }
}

struct Order;
impl LogicHandler<oven::order> for Order {
    async fn run(&self, failure: Failure, cx: &mut Cx<'_, oven::order>) -> Route<oven::order> {
        goto!(cx, oven::exit, Plate(format!("bought, as {}", failure.message)))
    }
}

struct Serve;
impl LogicHandler<oven::serve> for Serve {
    async fn run(&self, what: String, cx: &mut Cx<'_, oven::serve>) -> Route<oven::serve> {
        goto!(cx, oven::exit, Plate(what))
    }
}

fn enumerator() -> Enumerator<Oven> {
    let oven =
        || Oven { bake: LogicNode(Bake), look: LogicNode(Look), order: LogicNode(Order), serve: LogicNode(Serve) };
    Enumerator::new(move |_| (Run::new(oven()), 12))
}

#[test]
fn every_route_of_a_failure_and_of_a_timeout_is_taken() {
    let report = enumerator().explore();
    report.assert_all_routes();
    let taken: Vec<String> = report.taken().iter().map(|taken| taken.route.to_string()).collect();
    let expected = [
        "bake → serve",
        "bake → look (timed out)",
        "bake → order (failed)",
        "look → serve",
        "order → exit",
        "serve → exit",
        "serve → exit (failed)",
    ];
    assert_eq!(taken, expected);
    assert_eq!(report.taken()[1].route.kind, RouteKind::TimedOut);
    assert_eq!(report.choices_of("bake -> look (timed out)").unwrap().to_string(), "bake.1.1 ends=times-out");
    assert!(report.runs() < 10, "{}", report.runs());
}

#[test]
fn a_failure_that_was_chosen_is_replayed() {
    let replayed = enumerator().replay(&"bake.1.1 ends=fails".parse().unwrap());
    assert_eq!(replayed.ending, Ending::Finished);
    let taken: Vec<String> = replayed.taken.iter().map(ToString::to_string).collect();
    assert_eq!(taken, ["bake → order (failed)", "order → exit"]);
}
