//! A text is drafted by an agent, and published once a person has read it: a program with all commands of
//! `interlocking::cli`.
//!
//! ```console
//! $ cargo run -p interlocking-cli --example review -- run tides --run-id r1      # exit code 3: it waits for a person
//! $ cargo run -p interlocking-cli --example review -- answer r1 '{"approved": true}'
//! $ cargo run -p interlocking-cli --example review -- resume r1
//! ```

mod graph;

use graph::{Review, Topic};
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::{Cli, CommandError, Start};
use interlocking::prelude::*;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The options of a new run.
#[derive(clap::Args)]
struct About {
    /// What to write about
    topic: String,
}

/// How the scripted writer behaves; for any run, new or resumed.
#[derive(clap::Args)]
struct Writer {
    /// How long the writer takes for a draft, such as `10s`
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    delay: String,

    /// How long the writer takes before the run begins
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    warm_up: u64,

    /// Let the writer crash
    #[arg(long)]
    crash: bool,
}

impl Writer {
    fn script(&self) -> String {
        let fails =
            if self.crash { "fail = 'crash'\ntext = 'out of ink'" } else { "output_json = '\"The tide rises.\"'" };
        format!("[[turn]]\ndelay = '{}'\ntimes = 'any'\ncost = 0.0125\n{fails}\n", self.delay)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let set_up = |writer: Writer, _: Start| async move {
        tokio::time::sleep(Duration::from_secs(writer.warm_up)).await;
        let script = Script::parse("the writer's script", &writer.script())?;
        Ok(Run::new(Review::default()).with_agent("draft", Arc::new(ScriptedAgent::new(script))))
    };
    Cli::new("review", set_up)
        .with_about("Drafts a text, and publishes it once a person has read it")
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_entry(|entry: About, _| match entry.topic.trim() {
            "" => Err(CommandError::new("the topic is empty").at("TOPIC").remedy("say what to write about")),
            topic => Ok(Topic(topic.to_owned())),
        })
        .main()
        .await
}
