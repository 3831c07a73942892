use interlocking::graph::ReportsOf;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = String)]
struct Haggling {
    #[node(entry, input = u32, goto(answer))]
    offer: LogicNode<Offer>,
    #[node(input = u32, goto(offer, exit), visits = 5)]
    answer: LogicNode<Answer>,
    // Observes the outcome of each execution of `offer` as it is recorded, and cannot change the run.
    #[node(observes(offer), report = Offers, reports_to(exit))]
    witness: ObserverNode<Witness>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Offers(Vec<u32>);

#[derive(Default)]
struct Offer;
impl LogicHandler<haggling::offer> for Offer {
    async fn run(&self, last: u32, cx: &mut Cx<'_, haggling::offer>) -> Route<haggling::offer> {
        goto!(cx, haggling::answer, last + 10)
    }
}

#[derive(Default)]
struct Answer;
impl LogicHandler<haggling::answer> for Answer {
    async fn run(&self, offered: u32, cx: &mut Cx<'_, haggling::answer>) -> Route<haggling::answer> {
        if offered < 30 && !cx.is_final_visit() {
            return goto!(cx, haggling::offer, offered);
        }
        goto!(cx, haggling::exit, format!("sold for {offered}"))
    }
}

#[derive(Default)]
struct Witness;
impl ObserverHandler<haggling::witness> for Witness {
    async fn observe(&self, seen: &Observation, report: &mut Offers) -> Result<(), NodeError> {
        report.0.extend(seen.sent::<u32>("answer")?);
        Ok(())
    }
}

impl Finish for Haggling {
    async fn finish(&self, output: String, reports: ReportsOf<Self>) -> Result<String, NodeError> {
        let mut seen = Vec::new();
        for report in reports.witness {
            seen.extend(report.result?.0);
        }
        Ok(format!("{output} after {seen:?}"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Run::new(Haggling::default()).start(0).await?;
    assert_eq!(report.outcome.finished().as_deref(), Some("sold for 30 after [10, 20, 30]"));
    Ok(())
}
