//! The service, on a port of this machine: `service [ADDRESS] [JOURNAL]`. Ctrl-C drains it; the next one takes its runs up.

#![expect(clippy::print_stderr, reason = "it reports to whoever starts it")]

use interlocking::agents::ScriptedAgent;
use interlocking::runtime::SharedLimits;
use interlocking::runtime::service::Service;
use interlocking::sqlite::SqliteJournal;
use service::{Office, router};
use std::sync::Arc;
use std::time::Duration;

/// A scripted writer stands in for a model here.
const SCRIPT: &str = r#"turn = [
    { times = "any", contains = ["What is wanted"], output = { text = "As you wish. Regards." } },
    { times = "any", contains = ["Write a letter"], output = { text = "All is well. Regards." } },
]"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let journal = SqliteJournal::open(arguments.next().unwrap_or_else(|| ".interlocking".to_owned()))?;
    let service = Service::new(Arc::new(journal)).with_limits(SharedLimits::new(Some(16)));
    let office = Office { service: service.clone(), writer: Arc::new(ScriptedAgent::parse("writer.toml", SCRIPT)?) };

    let unfinished = service.resume_unfinished(|_| office.run()).await?;
    for (run, error) in &unfinished.refused {
        eprintln!("run {run} is left as it is: {error}");
    }
    eprintln!("{} runs taken up; listening on http://{address}", unfinished.resumed.len());

    let listener = tokio::net::TcpListener::bind(address).await?;
    let server = axum::serve(listener, router(office));
    tokio::select! {
        ended = server => ended?,
        pressed = tokio::signal::ctrl_c() => pressed?,
    }
    service.drain(Duration::from_secs(20)).await;
    Ok(())
}
