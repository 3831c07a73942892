//! Basic control flow: patterns 1 to 5.

use crate::trace::{Does, Trace, played};
use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = ())]
struct Sequence {
    #[node(entry, input = (), goto(bake))]
    knead: LogicNode<Does>,
    #[node(input = (), goto(exit))]
    bake: LogicNode<Does>,
}
does!(sequence::knead => sequence::bake, sequence::bake => sequence::exit);

/// Pattern 1: a task is enabled once the task before it is done.
#[tokio::test(start_paused = true)]
async fn sequence() {
    let trace = Trace::new();
    let graph = Sequence { knead: trace.does(10), bake: trace.does(5) };
    assert_eq!(played(&trace, graph, ()).await.1, "knead 0–10, bake 10–15");
}

#[derive(Graph)]
#[graph(output = (String, String))]
struct Synchronization {
    #[node(entry, input = (), fork(dough, sauce))]
    order: ForkNode<Order>,
    #[node(input = String, goto(pizza))]
    dough: LogicNode<Does>,
    #[node(input = String, goto(pizza))]
    sauce: LogicNode<Does>,
    #[node(join(dough: String, sauce: String), goto(serve))]
    pizza: JoinNode<Pizza>,
    #[node(input = (String, String), goto(exit))]
    serve: LogicNode<Does>,
}
does!(
    synchronization::dough => synchronization::pizza,
    synchronization::sauce => synchronization::pizza,
    synchronization::serve => synchronization::exit,
);
forks!(Order for synchronization::order, |(): (), cx| fork!(cx, ("dough".to_owned(), "sauce".to_owned())));
joins!(Pizza for synchronization::pizza, |both: (String, String), cx| goto!(cx, synchronization::serve, both));

/// Patterns 2 and 3: both branches begin at once, and the next node runs once, after both.
#[tokio::test(start_paused = true)]
async fn parallel_split_and_synchronization() {
    for (dough, sauce) in [(10, 30), (30, 10), (20, 20)] {
        let trace = Trace::new();
        let graph = Synchronization {
            order: ForkNode(Order),
            dough: trace.does(dough),
            sauce: trace.does(sauce),
            pizza: JoinNode(Pizza),
            serve: trace.does(5),
        };
        let (output, told) = played(&trace, graph, ()).await;
        assert_eq!(output, ("dough".to_owned(), "sauce".to_owned()));
        let last = dough.max(sauce);
        assert_eq!(told, format!("dough 0–{dough}, sauce 0–{sauce}, serve {last}–{}", last + 5));
    }
}

#[derive(Graph)]
#[graph(output = bool)]
struct ExclusiveChoice {
    #[node(entry, input = bool, goto(fix, refuse))]
    triage: LogicNode<Triage>,
    #[node(input = bool, goto(answer))]
    fix: LogicNode<Does>,
    #[node(input = bool, goto(answer))]
    refuse: LogicNode<Does>,
    #[node(input = bool, goto(exit))]
    answer: LogicNode<Does>,
}
does!(
    exclusive_choice::fix => exclusive_choice::answer,
    exclusive_choice::refuse => exclusive_choice::answer,
    exclusive_choice::answer => exclusive_choice::exit,
);
logic!(Triage for exclusive_choice::triage, |is_bug: bool, cx| {
    if is_bug { goto!(cx, exclusive_choice::fix, is_bug) } else { goto!(cx, exclusive_choice::refuse, is_bug) }
});

/// Patterns 4 and 5: one of the branches is taken, and the node after both runs once, without waiting for the
/// other branch.
#[tokio::test(start_paused = true)]
async fn exclusive_choice_and_simple_merge() {
    for (is_bug, way) in [(true, "fix 0–10, answer 10–11"), (false, "refuse 0–20, answer 20–21")] {
        let trace = Trace::new();
        let graph = ExclusiveChoice {
            triage: LogicNode(Triage),
            fix: trace.does(10),
            refuse: trace.does(20),
            answer: trace.does(1),
        };
        assert_eq!(played(&trace, graph, is_bug).await, (is_bug, way.to_owned()));
    }
}

held!(Sequence, Synchronization, ExclusiveChoice);
