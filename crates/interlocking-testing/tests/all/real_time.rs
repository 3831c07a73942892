//! Handlers that wait for programs, in virtual and in real time.

use std::process::Stdio;
use std::time::Duration;

use interlocking::prelude::*;
use interlocking::testing::{Chance, Enumerator};

/// Runs a program, which passes or fails.
#[derive(Graph)]
#[graph(output = bool)]
struct Build {
    #[node(entry, input = u32, goto(passed, failed), timeout = "10m")]
    build: LogicNode<Runs>,
    #[node(input = u32, goto(exit))]
    passed: LogicNode<Ends>,
    #[node(input = u32, goto(exit))]
    failed: LogicNode<Ends>,
}

held!(Build);

struct Runs(Chance);

impl LogicHandler<build::build> for Runs {
    async fn run(&self, number: u32, cx: &mut Cx<'_, build::build>) -> Route<build::build> {
        let exit = self.0.pick("build", &["0", "1"]);
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", &format!("sleep 0.2; exit {exit}")]).stdin(Stdio::null()).kill_on_drop(true);
        match command.status().await?.success() {
            true => goto!(cx, build::passed, number),
            false => goto!(cx, build::failed, number),
        }
    }
}

struct Ends;

impl LogicHandler<build::passed> for Ends {
    async fn run(&self, _: u32, cx: &mut Cx<'_, build::passed>) -> Route<build::passed> {
        goto!(cx, build::exit, true)
    }
}

impl LogicHandler<build::failed> for Ends {
    async fn run(&self, _: u32, cx: &mut Cx<'_, build::failed>) -> Route<build::failed> {
        goto!(cx, build::exit, false)
    }
}

fn enumerator() -> Enumerator<Build> {
    Enumerator::new(|chance| {
        let build = LogicNode(Runs(chance.clone()));
        (Run::new(Build { build, passed: LogicNode(Ends), failed: LogicNode(Ends) }), 0)
    })
}

#[test]
fn programs_take_the_time_that_they_take() {
    enumerator().in_real_time(Duration::from_secs(60)).explore().assert_all_routes();
}

/// This is why there is real time: a paused clock takes the wait for a program for idleness, and jumps to the timeout.
#[test]
fn in_virtual_time_the_wait_for_a_program_is_a_timeout() {
    let report = enumerator().explore().to_string();
    assert!(report.contains("`build` ran") && report.contains("took longer than"), "{report}");
}

#[test]
fn a_run_that_takes_too_long_is_given_up() {
    let report = enumerator().in_real_time(Duration::from_millis(50)).explore();
    assert!(report.broken()[0].ending.is_broken() && report.taken().is_empty(), "{report}");
}
