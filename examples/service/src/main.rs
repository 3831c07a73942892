//! The service, on a port of this machine, and the operator's commands for its runs.

use clap::Args;
use interlocking::agents::ScriptedAgent;
use interlocking::cli::{Cli, CommandContext, CommandError, CommonArguments, Exit, NoArguments, Style};
use interlocking::runtime::SharedLimits;
use interlocking::runtime::service::Service;
use service::{Office, router, run};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const ABOUT: &str = "\
Has letters written: an agent writes each, and it goes out once a person has approved it. Each letter is a run.

`serve` answers HTTP requests. The other commands work on the same journal: `answer` approves what the service waits for.";

/// A scripted writer stands in for a model here.
const SCRIPT: &str = r#"turn = [
    { times = "any", contains = ["What is wanted"], output = { text = "As you wish. Regards." } },
    { times = "any", contains = ["Write a letter"], output = { text = "All is well. Regards." } },
]"#;

/// What `serve` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  service serve\n  service serve 127.0.0.1:4711 --journal /var/lib/letters")]
struct Serve {
    /// The address and port to listen on
    #[arg(default_value = "127.0.0.1:8080")]
    address: SocketAddr,

    #[command(flatten)]
    common: CommonArguments,
}

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("service", |_: NoArguments, _| async { Ok(run(writer()?)) })
        .with_about(ABOUT)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_command("serve", "Answer HTTP requests, until interrupted", serve)
        .main()
        .await
}

fn writer() -> Result<Arc<ScriptedAgent>, CommandError> {
    Ok(Arc::new(ScriptedAgent::parse("writer.toml", SCRIPT)?))
}

/// Serves until the program is interrupted; the next process resumes the runs that are under way then.
async fn serve(Serve { address, common }: Serve, cx: CommandContext) -> Result<Exit, CommandError> {
    let journal = common.open_or_make_journal()?;
    let service = Service::new(Arc::new(journal)).with_limits(SharedLimits::new(Some(16)));
    let office = Office { service: service.clone(), writer: writer()? };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        CommandError::from(error).at(address.to_string()).remedy("give another address: `service serve ADDRESS`")
    })?;

    let unfinished = service.resume_unfinished(|_| office.run()).await?;
    for (run, error) in &unfinished.refused {
        cx.console().line(Style::Bad, &format!("run {run} is left as it is: {error}"));
    }
    let (resumed, address) = (unfinished.resumed.len(), listener.local_addr()?);
    let runs = if resumed == 1 { "run" } else { "runs" };
    cx.console().line(Style::Plain, &format!("{resumed} {runs} taken up; listening on http://{address}"));

    tokio::select! {
        ended = async { axum::serve(listener, router(office)).await } => ended?,
        () = cx.cancel_token().cancelled() => {}
    }
    service.drain(Duration::from_secs(20)).await;
    Ok(Exit::Done)
}
