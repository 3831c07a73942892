//! Branches of which some are taken, and how they are merged: patterns 6 to 8, 37.

use crate::trace::{Does, Trace, played};
use interlocking::graph::Node;
use interlocking::prelude::*;

/// Any subset of three bookings is made. A branch that is not taken fills its slot at once.
#[derive(Graph)]
#[graph(output = [bool; 3])]
struct MultiChoice {
    #[node(entry, input = [bool; 3], fork(flight | trip.flight, hotel | trip.hotel, car | trip.car))]
    choose: ForkNode<Choose>,
    #[node(input = bool, goto(trip))]
    flight: LogicNode<Does>,
    #[node(input = bool, goto(trip))]
    hotel: LogicNode<Does>,
    #[node(input = bool, goto(trip))]
    car: LogicNode<Does>,
    #[node(
        join(flight: bool from(choose, flight), hotel: bool from(choose, hotel), car: bool from(choose, car)),
        goto(pay)
    )]
    trip: JoinNode<Trip>,
    #[node(input = [bool; 3], goto(exit))]
    pay: LogicNode<Does>,
}
does!(
    multi_choice::flight => multi_choice::trip,
    multi_choice::hotel => multi_choice::trip,
    multi_choice::car => multi_choice::trip,
    multi_choice::pay => multi_choice::exit,
);
forks!(Choose for multi_choice::choose, |[flight, hotel, car]: [bool; 3], cx| {
    let flight = if flight {
        cx.branch::<multi_choice::flight>(true)
    } else {
        cx.branch::<multi_choice::trip_flight>(false)
    };
    let hotel = if hotel {
        cx.branch::<multi_choice::hotel>(true)
    } else {
        cx.branch::<multi_choice::trip_hotel>(false)
    };
    let car = if car { cx.branch::<multi_choice::car>(true) } else { cx.branch::<multi_choice::trip_car>(false) };
    fork!(cx, (flight, hotel, car))
});
joins!(Trip for multi_choice::trip, |(flight, hotel, car): (bool, bool, bool), cx| {
    goto!(cx, multi_choice::pay, [flight, hotel, car])
});

/// Patterns 6 and 7: any subset of the branches runs, the merge waits for these and no others, and the next node runs once.
#[tokio::test(start_paused = true)]
async fn multi_choice_and_structured_synchronizing_merge() {
    for subset in 0..8_u32 {
        let trace = Trace::new();
        let graph = MultiChoice {
            choose: ForkNode(Choose),
            flight: trace.does(10),
            hotel: trace.does(20),
            car: trace.does(30),
            trip: JoinNode(Trip),
            pay: trace.does(1),
        };
        let chosen = [1, 2, 4].map(|bit| subset & bit > 0);
        let (output, told) = played(&trace, graph, chosen).await;
        let works = ["flight 0–10", "hotel 0–20", "car 0–30"].into_iter().zip(chosen);
        let works = works.filter_map(|(work, is_chosen)| is_chosen.then_some(work.to_owned()));
        let last = [10, 20, 30].into_iter().zip(chosen).filter_map(|(takes, is_chosen)| is_chosen.then_some(takes));
        let last = last.max().unwrap_or(0);
        let expected: Vec<String> = works.chain([format!("pay {last}–{}", last + 1)]).collect();
        assert_eq!((output, told), (chosen, expected.join(", ")));
    }
}

/// Branches that start at two forks meet in one join. The fork that knows that a branch will not come says so.
#[derive(Graph)]
#[graph(output = [bool; 3])]
struct AcyclicSynchronizingMerge {
    #[node(entry, input = [bool; 3], fork(cook | dinner.cook, guests))]
    plan: ForkNode<Plan>,
    #[node(input = [bool; 3], fork(shop | dinner.shop, lay | dinner.lay))]
    guests: LogicNode<Guests>,
    #[node(input = bool, goto(dinner))]
    cook: LogicNode<Does>,
    #[node(input = bool, goto(dinner))]
    shop: LogicNode<Does>,
    #[node(input = bool, goto(dinner))]
    lay: LogicNode<Does>,
    #[node(
        join(cook: bool from(plan, cook), shop: bool from(guests, shop), lay: bool from(guests, lay)),
        goto(exit)
    )]
    dinner: JoinNode<Dinner>,
}
does!(
    acyclic_synchronizing_merge::cook => acyclic_synchronizing_merge::dinner,
    acyclic_synchronizing_merge::shop => acyclic_synchronizing_merge::dinner,
    acyclic_synchronizing_merge::lay => acyclic_synchronizing_merge::dinner,
);
forks!(Plan for acyclic_synchronizing_merge::plan, |wanted: [bool; 3], cx| {
    let cook = if wanted[0] {
        cx.branch::<acyclic_synchronizing_merge::cook>(true)
    } else {
        cx.branch::<acyclic_synchronizing_merge::dinner_cook>(false)
    };
    fork!(cx, (cook, wanted))
});
struct Guests(Trace);
impl LogicHandler<acyclic_synchronizing_merge::guests> for Guests {
    async fn run(
        &self,
        wanted: [bool; 3],
        cx: &mut Cx<'_, acyclic_synchronizing_merge::guests>,
    ) -> Route<acyclic_synchronizing_merge::guests> {
        self.0.works("guests", 5).await;
        let shop = if wanted[1] {
            cx.branch::<acyclic_synchronizing_merge::shop>(true)
        } else {
            cx.branch::<acyclic_synchronizing_merge::dinner_shop>(false)
        };
        let lay = if wanted[2] {
            cx.branch::<acyclic_synchronizing_merge::lay>(true)
        } else {
            cx.branch::<acyclic_synchronizing_merge::dinner_lay>(false)
        };
        fork!(cx, (shop, lay))
    }
}
joins!(Dinner for acyclic_synchronizing_merge::dinner, |(cook, shop, lay): (bool, bool, bool), cx| {
    goto!(cx, acyclic_synchronizing_merge::exit, [cook, shop, lay])
});

/// Pattern 37: each fork decides how many of its branches come, and the merge waits for all of these, although there are
/// several forks.
#[tokio::test(start_paused = true)]
async fn acyclic_synchronizing_merge() {
    for (wanted, ends) in [
        ([false, false, false], 5),
        ([true, false, false], 30),
        ([false, true, false], 15),
        ([false, true, true], 25),
        ([true, true, true], 30),
    ] {
        let trace = Trace::new();
        let graph = AcyclicSynchronizingMerge {
            plan: ForkNode(Plan),
            guests: LogicNode(Guests(trace.clone())),
            cook: trace.does(30),
            shop: trace.does(10),
            lay: trace.does(20),
            dinner: JoinNode(Dinner),
        };
        let report = crate::support::timed(graph).start(wanted).await.unwrap();
        assert_eq!(report.took.as_millis(), ends, "{}", trace.told());
        assert_eq!(crate::support::finished(report), wanted);
    }
}

/// The work after the merge.
#[derive(Graph)]
#[graph(output = String)]
struct Tail {
    #[node(entry, input = String, goto(send))]
    pack: LogicNode<Does>,
    #[node(input = String, goto(exit))]
    send: LogicNode<Does>,
}
/// The work after the merge is a graph of its own, run by a node of each branch.
#[derive(Graph)]
#[graph(output = (String, String))]
struct MultiMerge {
    #[node(entry, input = (), fork(left, right))]
    split: ForkNode<Split>,
    #[node(input = String, goto(after_left))]
    left: LogicNode<Does>,
    #[node(input = String, goto(after_right))]
    right: LogicNode<Does>,
    #[node(input = String, graph = Tail, goto(both))]
    after_left: GraphNode<Tail>,
    #[node(input = String, graph = Tail, goto(both))]
    after_right: GraphNode<Tail>,
    #[node(join(after_left: String, after_right: String), goto(exit))]
    both: JoinNode<Both>,
}
does!(
    tail::pack => tail::send,
    tail::send => tail::exit,
    multi_merge::left => multi_merge::after_left,
    multi_merge::right => multi_merge::after_right,
);
forks!(Split for multi_merge::split, |(): (), cx| fork!(cx, ("left".to_owned(), "right".to_owned())));
joins!(Both for multi_merge::both, |both: (String, String), cx| goto!(cx, multi_merge::exit, both));

/// Pattern 8, with a restriction: the work after the merge runs once for each branch that comes, concurrently if both come.
#[tokio::test(start_paused = true)]
async fn multi_merge() {
    let trace = Trace::new();
    let tail = || GraphNode(Tail { pack: trace.does(10), send: trace.does(10) });
    let graph = MultiMerge {
        split: ForkNode(Split),
        left: trace.does(5),
        right: trace.does(12),
        after_left: tail(),
        after_right: tail(),
        both: JoinNode(Both),
    };
    let told = "left 0–5, right 0–12, pack 5–15, pack 12–22, send 15–25, send 22–32";
    assert_eq!(played(&trace, graph, ()).await, (("left".to_owned(), "right".to_owned()), told.to_owned()));
}

held!(MultiChoice, AcyclicSynchronizingMerge, Tail, MultiMerge);
