//! Commands that a program adds: in the help, with the same console, exit codes and errors; some of them execute runs.

use crate::review::{Review, Topic};
use crate::support::{Ink, Program, Ran, call, writer};
use clap::Args;
use interlocking::cli::{Cli, CommandContext, CommandError, CommonArguments, ExecuteArguments, Exit};
use interlocking::prelude::*;
use interlocking::run_id::RunId;
use interlocking::runtime::journal::Journal;
use serde_json::json;

/// Looks, and executes nothing.
#[derive(Args)]
struct Check {
    /// The shortest topic that is let through
    #[arg(long, value_name = "LETTERS")]
    at_least: usize,

    /// The topic
    topic: String,

    #[command(flatten)]
    common: CommonArguments,
}

async fn check(arguments: Check, cx: CommandContext) -> Result<Exit, CommandError> {
    let Check { at_least, topic, common } = arguments;
    let runs = common.open_journal()?.runs().await.map_err(CommandError::of_journal)?.len();
    if topic.len() < at_least {
        let error = CommandError::new(format!("`{topic}` is shorter than {at_least} letters"));
        return Err(error.at("TOPIC").remedy(format!("`{} check` a longer one", cx.program())).with_exit(Exit::Failed));
    }
    common.print(cx.console(), &json!({ "runs": runs }), || format!("{runs} runs\n"))?;
    Ok(Exit::Done)
}

/// Executes a run that begins otherwise than those of `run`.
#[derive(Args)]
struct Wave {
    /// How many of them
    number: u32,

    #[command(flatten)]
    ink: Ink,

    #[command(flatten)]
    execute: ExecuteArguments,
}

async fn wave(arguments: Wave, cx: CommandContext) -> Result<Exit, CommandError> {
    let Wave { number, ink, execute } = arguments;
    let run = Run::new(Review::default()).with_agent("draft", writer(&ink));
    let start = cx.start(&execute, Some(format!("wave-{number}").parse()?))?;
    cx.execute(&execute, start, run, Topic(format!("{number} waves"))).await
}

/// Takes it up again.
#[derive(Args)]
struct Again {
    /// The run's name
    run: RunId,

    #[command(flatten)]
    ink: Ink,

    #[command(flatten)]
    execute: ExecuteArguments,
}

async fn again(arguments: Again, cx: CommandContext) -> Result<Exit, CommandError> {
    let Again { run, ink, execute } = arguments;
    let set_up = |_| async { Ok(Run::new(Review::default()).with_agent("draft", writer(&ink))) };
    cx.resume(&execute, run, false, set_up).await
}

fn program() -> Program {
    let mut program = Program::new();
    program.cli = program
        .cli
        .with_command("check", "Looks whether a topic will do", check)
        .with_command("wave", "Starts a run about waves", wave)
        .with_command("again", "Takes such a run up again", again);
    program
}

#[tokio::test]
async fn they_are_in_the_help_and_their_options_are_typed() {
    let program = program();
    let help = program.call(&["--help"]).await;
    let own = "\nOf this graph:\n  check           Looks whether a topic will do\n  wave            Starts a run about waves\n";
    assert!(help.stdout.contains(own), "{own:?} in {}", help.stdout);
    let own = program.call(&["wave", "--help"]).await.stdout;
    assert!(own.starts_with("Starts a run about waves\n\nUsage: program wave [OPTIONS] <NUMBER>\n"), "{own}");
    assert!(own.contains("--max-dollars <DOLLARS>") && own.contains("--crash"), "{own}");
    let refused = program.call(&["check", "tides", "--at-least", "many"]).await;
    assert_eq!(refused.exit, 2);
    let said = "error: invalid value 'many' for '--at-least <LETTERS>': invalid digit found in string\n";
    assert!(refused.stderr.starts_with(said), "{}", refused.stderr);
}

#[tokio::test]
async fn one_that_executes_nothing_prints_and_refuses_as_the_others_do() {
    let program = program();
    program.waiting("r1").await;
    let page = |ran: Ran| ran.page();
    let mut pages = page(program.call(&["check", "tides", "--at-least", "3"]).await);
    pages += &page(program.call(&["check", "tides", "--at-least", "3", "--json"]).await);
    pages += &page(program.call(&["check", "t", "--at-least", "3"]).await);
    pages += &page(program.call(&["check", "t", "--at-least", "3", "--json"]).await);
    expect_test::expect![[r#"
        exit 0
        1 runs
        exit 0
        {
          "runs": 1
        }
        exit 1
        ! error: `t` is shorter than 3 letters
        !   at: TOPIC
        !   to do: `review check` a longer one
        exit 1
        ! {"error":{"causes":[],"exit":1,"remedy":"`review check` a longer one","what":"`t` is shorter than 3 letters","where":"TOPIC"}}
    "#]]
    .assert_eq(&pages);
    let nowhere = tempfile::tempdir().unwrap();
    let none = call(&program.cli, &nowhere, &["check", "tides", "--at-least", "3"], None).await;
    assert_eq!(none.exit, 2);
    assert!(none.stderr.starts_with("error: there is no journal\n"), "{}", none.stderr);
}

/// Progress, closing lines, exit codes and JSON are as for `run` and `resume`, and the other commands know the run.
#[tokio::test]
async fn one_that_executes_a_run_does_it_as_run_does() {
    let program = program();
    let waits = program.call(&["wave", "3"]).await;
    assert_eq!(waits.exit, 3, "{waits:?}");
    assert!(waits.stderr.contains("wave-3 waits for an answer to 1 question:"), "{}", waits.stderr);
    let taken = program.call(&["wave", "3"]).await;
    assert!(taken.exit == 2 && taken.stderr.contains("\nerror: run `wave-3` has "), "{taken:?}");
    assert_eq!(program.call(&["answer", "wave-3", r#"{"approved": true}"#]).await.exit, 0);
    let told = program.call(&["again", "wave-3", "--json"]).await;
    assert_eq!(told.exit, 0, "{told:?}");
    let told = told.json();
    assert_eq!(
        (&told["outcome"], &told["result"], &told["exit"]),
        (&json!("finished"), &json!("The tide rises."), &json!(0))
    );
    let none = program.call(&["again", "wave-4"]).await;
    assert_eq!(none.exit, 2);
    assert!(none.stderr.starts_with("error: there is no run `wave-4` to resume\n"), "{}", none.stderr);
    let spent = program.call(&["wave", "5", "--max-calls", "0"]).await;
    assert_eq!(spent.exit, 4, "{spent:?}");
    let fails = program.call(&["wave", "6", "--crash"]).await;
    assert_eq!(fails.exit, 1, "{fails:?}");
}

#[test]
#[should_panic(expected = "there is a command `show` already")]
fn one_of_a_name_that_is_taken_is_a_mistake() {
    let set_up = |ink: Ink, _| async move { Ok(Run::new(Review::default()).with_agent("draft", writer(&ink))) };
    let _ = Cli::new("review", set_up).with_command("show", "Shows", check);
}
