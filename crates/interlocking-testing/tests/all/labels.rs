//! Labels that are required: the search goes on until each was used, and reports those that never
//! are.

use interlocking::prelude::*;
use interlocking::testing::{Chance, Enumerator};

#[derive(Graph)]
#[graph(output = Exit)]
struct Work {
    #[node(entry, input = u32, goto(exit))]
    test: LogicNode<Test>,
}

held!(Work);

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, Labels)]
#[labels(node = work::test)]
enum Exit {
    #[label(info, route_hint = work::exit)]
    Written,
    #[label(warn)]
    Nothing,
    #[label(blocker)]
    Lost,
}

struct Test(Chance, &'static [&'static str]);
impl LogicHandler<work::test> for Test {
    async fn run(&self, _: u32, cx: &mut Cx<'_, work::test>) -> Route<work::test> {
        let Self(chance, outcomes) = self;
        let exit = match chance.pick("what is written", outcomes) {
            "much" => Exit::Written,
            "nothing" => Exit::Nothing,
            _ => Exit::Lost,
        };
        cx.label(&exit);
        goto!(cx, work::exit, exit)
    }
}

fn work(outcomes: &'static [&'static str]) -> Enumerator<Work> {
    Enumerator::new(move |chance| (Run::new(Work { test: LogicNode(Test(chance.clone(), outcomes)) }), 1))
}

#[test]
fn every_label_is_said() {
    let all = &["much", "nothing", "lost"];
    assert_eq!(work(all).explore().runs(), 1, "the one route is taken at once");
    let report = work(all).with_labels::<work::test, Exit>().explore();
    report.assert_all_routes();
    assert_eq!(report.runs(), 3);
}

#[test]
#[should_panic(expected = "NOT SAID: `test` has never said LOST")]
fn a_label_that_nobody_says_is_missing() {
    let report = work(&["much", "nothing"]).with_labels::<work::test, Exit>().explore();
    assert_eq!(report.missing_labels().collect::<Vec<_>>(), [("test", "LOST")]);
    report.assert_all_routes();
}
