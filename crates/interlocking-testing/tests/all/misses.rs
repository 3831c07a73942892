//! Reports on graphs whose routes cannot all be taken.

use std::time::Duration;

use expect_test::expect;
use interlocking::prelude::*;
use interlocking::testing::{Chance, Enumerator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Order {
    Start,
    Stop,
}

/// A person starts and stops the engine, and starting it may break it.
#[derive(Graph)]
#[graph(output = State)]
struct Engine {
    #[node(entry, input = u32, question = String, answer = Order, goto(start, exit))]
    ask: HumanNode<Driver>,
    #[node(input = State, goto(repair, exit))]
    start: LogicNode<Motor>,
    #[node(input = State, goto(start, exit), visits = 2, exhausted(exit))]
    repair: LogicNode<Motor>,
}

held!(Engine, Endless, Safe);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State(String);

impl From<Exhausted<Self>> for State {
    fn from(exhausted: Exhausted<Self>) -> Self {
        exhausted.input
    }
}

struct Driver;

impl HumanHandler<engine::ask> for Driver {
    async fn ask(&self, _: &u32, _: &mut Cx<'_, engine::ask>) -> Result<String, NodeError> {
        Ok("Start or stop?".into())
    }

    async fn answered(&self, _: u32, order: Order, cx: &mut Cx<'_, engine::ask>) -> Route<engine::ask> {
        match order {
            Order::Start => goto!(cx, engine::start, State("started".into())),
            Order::Stop => goto!(cx, engine::exit, State("stopped".into())),
        }
    }
}

/// The motor, which breaks as it happens.
struct Motor {
    chance: Option<Chance>,
    panics: bool,
}

impl LogicHandler<engine::start> for Motor {
    async fn run(&self, state: State, cx: &mut Cx<'_, engine::start>) -> Route<engine::start> {
        // A month, which passes at once in virtual time.
        tokio::time::sleep(Duration::from_secs(30 * 24 * 3_600)).await;
        match &self.chance {
            Some(chance) if !chance.holds("it runs") => goto!(cx, engine::repair, State("broken".into())),
            _ => goto!(cx, engine::exit, state),
        }
    }
}

impl LogicHandler<engine::repair> for Motor {
    async fn run(&self, state: State, cx: &mut Cx<'_, engine::repair>) -> Route<engine::repair> {
        assert!(!self.panics, "no spare parts");
        goto!(cx, engine::start, state)
    }
}

fn engine(chance: Option<Chance>, panics: bool) -> (Run<Engine>, u32) {
    let motor = || Motor { chance: chance.clone(), panics };
    (Run::new(Engine { ask: HumanNode(Driver), start: LogicNode(motor()), repair: LogicNode(motor()) }), 0)
}

#[test]
fn what_hangs_on_nobody_who_is_asked_needs_a_chance() {
    let report = Enumerator::new(|_| engine(None, false)).explore();
    expect![[r#"
        Engine: 3 of 7 routes were taken in 5 runs, and nothing is left to be tried

        NOT TAKEN: start → repair
          `start` ran 2 times, first with no choices, and went to `exit`
          `ask`, the nearest before it that is asked, did all 5 things that there are to be tried: give an answer that leads there, `.with_answer::<engine::ask>(…)`, or vary what `start` meets, `Chance`

        NOT TAKEN: repair → start
          `repair` was never entered: the way there is `start → repair`
          what is said of the way there is to be done first

        NOT TAKEN: repair → exit
          `repair` was never entered: the way there is `start → repair`
          what is said of the way there is to be done first

        NOT TAKEN: repair → exit (exhausted)
          `repair` was never entered: the way there is `start → repair`
          what is said of the way there is to be done first

        taken: ask → start               run 1, no choices
        taken: ask → exit                run 2, ask.1.1=generated-2
        taken: start → exit              run 1, no choices
    "#]].assert_eq(&report.to_string());
}

#[test]
fn a_chance_varies_what_handlers_meet() {
    let report = Enumerator::new(|chance| engine(Some(chance.clone()), false))
        .with_executions(100)
        .with_excused_route("repair -> exit", "no motor is given up")
        .explore();
    report.assert_all_routes();
    expect![[r#"
        Engine: 6 of 7 routes were taken in 3 runs

        taken: ask → start               run 1, no choices
        taken: ask → exit                run 2, ask.1.1=generated-2
        taken: start → repair            run 3, it runs.1=no
        taken: start → exit              run 1, no choices
        taken: repair → start            run 3, it runs.1=no
        taken: repair → exit (exhausted) run 3, it runs.1=no
        excused: repair → exit (no motor is given up)
    "#]]
    .assert_eq(&report.to_string());
}

#[test]
fn a_panic_is_reported_with_the_choices_that_lead_to_it() {
    let report = Enumerator::new(|chance| engine(Some(chance.clone()), true)).explore();
    assert_eq!(report.broken().len(), 1);
    expect![[r#"
        Engine: 4 of 7 routes were taken in 7 runs, and nothing is left to be tried

        NOT TAKEN: repair → start
          `repair` ran 2 times, first with it runs.1=no, and went nowhere; it failed 2 times, at last: no spare parts
          `ask`, the nearest before it that is asked, did all 5 things that there are to be tried: give an answer that leads there, `.with_answer::<engine::ask>(…)`, or vary what `repair` meets, `Chance`

        NOT TAKEN: repair → exit
          `repair` ran 2 times, first with it runs.1=no, and went nowhere; it failed 2 times, at last: no spare parts
          `ask`, the nearest before it that is asked, did all 5 things that there are to be tried: give an answer that leads there, `.with_answer::<engine::ask>(…)`, or vary what `repair` meets, `Chance`

        NOT TAKEN: repair → exit (exhausted)
          `repair` ran 2 times, first with it runs.1=no, and went nowhere; it failed 2 times, at last: no spare parts
          `ask`, the nearest before it that is asked, did all 5 things that there are to be tried: give an answer that leads there, `.with_answer::<engine::ask>(…)`, or vary what `repair` meets, `Chance`

        BROKEN: run 3, it runs.1=no
          node `repair` panicked: no spare parts

        taken: ask → start               run 1, no choices
        taken: ask → exit                run 2, ask.1.1=generated-2
        taken: start → repair            run 3, it runs.1=no
        taken: start → exit              run 1, no choices
    "#]].assert_eq(&report.to_string());
}

#[test]
fn a_search_that_is_stopped_says_so() {
    for most in [1, 0] {
        let report = Enumerator::new(|chance| engine(Some(chance.clone()), false)).with_runs(most).explore();
        assert_eq!(report.runs(), 1);
        assert!(report.to_string().contains("5 were left to be tried (`.with_runs(…)`)"), "{report}");
    }
}

/// Loops for ever unless it is told to stop, which never happens.
#[derive(Graph)]
#[graph(output = u32)]
struct Endless {
    #[node(entry, input = u32, goto(round, exit), visits = unbounded)]
    round: LogicNode<Round>,
}

/// What a round also depends on, from some round on: a choice of two.
struct Round(Option<(Chance, u32)>);

impl LogicHandler<endless::round> for Round {
    async fn run(&self, number: u32, cx: &mut Cx<'_, endless::round>) -> Route<endless::round> {
        if let Some((chance, first)) = &self.0 {
            let options = if number < *first { &["red"][..] } else { &["red", "black"] };
            chance.pick("colour", options);
        }
        goto!(cx, self, number + 1)
    }
}

#[test]
fn a_run_that_does_not_end_is_given_up() {
    let endless = Enumerator::new(|_| (Run::new(Endless { round: LogicNode(Round(None)) }), 0));
    let report = endless.with_executions(50).explore();
    expect![[r#"
        Endless: 1 of 2 routes were taken in 1 run, and nothing is left to be tried

        NOT TAKEN: round → exit
          `round` ran 51 times, first with no choices, and went to `round`
          nobody who is asked comes before it: it hangs on what the run begins with, `Trial::or`, or on what its handlers meet, `Chance`

        BROKEN: run 1, no choices
          given up: it took too long

        taken: round → round run 1, no choices
    "#]].assert_eq(&report.to_string());
}

/// A run that does not end has as many points of choice as it may have executions: only the first hundred are varied.
#[test]
fn a_run_that_is_given_up_is_varied_at_its_first_points_only() {
    let endless = |first| {
        let round = move |chance: &Chance| Round(Some((chance.clone(), first)));
        let run = move |chance: &Chance| (Run::new(Endless { round: LogicNode(round(chance)) }), 0);
        Enumerator::new(run).with_executions(300).with_runs(2).explore().to_string()
    };
    let report = endless(0);
    assert!(report.contains("taken in 2 runs; 198 were left to be tried (`.with_runs(…)`)"), "{report}");
    let report = endless(100);
    let cut = "nothing is left to be tried (a run that is given up is varied at its first 100 choices only)\n";
    assert!(report.contains(&format!("taken in 1 run, and {cut}")), "{report}");
}

/// Opens after the right sequence of digits.
#[derive(Graph)]
#[graph(output = Vec<u32>)]
struct Safe {
    #[node(entry, input = Vec<u32>, goto(dial, opened, exit), attempts = 4)]
    dial: LogicNode<Dial>,
    #[node(input = Vec<u32>, goto(exit))]
    opened: LogicNode<Opened>,
}

struct Dial(Chance);

impl LogicHandler<safe::dial> for Dial {
    async fn run(&self, mut digits: Vec<u32>, cx: &mut Cx<'_, safe::dial>) -> Route<safe::dial> {
        digits.push(self.0.pick("digit", &["0", "1", "2", "3"]).parse()?);
        match digits[..] {
            [2, 0, 3] => goto!(cx, safe::opened, digits),
            [_, _, _] => goto!(cx, safe::exit, digits),
            _ => goto!(cx, self, digits),
        }
    }
}

struct Opened;

impl LogicHandler<safe::opened> for Opened {
    async fn run(&self, digits: Vec<u32>, cx: &mut Cx<'_, safe::opened>) -> Route<safe::opened> {
        goto!(cx, safe::exit, digits)
    }
}

/// All sequences of choices are explored, so a particular sequence of three is found: in at most 64 runs.
#[test]
fn the_one_sequence_that_opens_is_found() {
    let safe = Enumerator::new(|chance| {
        (Run::new(Safe { dial: LogicNode(Dial(chance.clone())), opened: LogicNode(Opened) }), Vec::new())
    });
    let report = safe.explore();
    report.assert_all_routes();
    assert!(report.runs() <= 64, "{report}");
    assert_eq!(report.choices_of("dial → opened").unwrap().to_string(), "digit.1=2; digit.2=0; digit.3=3");
}
