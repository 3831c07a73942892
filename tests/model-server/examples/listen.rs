//! Shows the requests of a program: answers each with `hello` and prints it as JSON, until it is stopped.
//!
//! ```console
//! cargo run -p interlocking-model-server --example listen
//! ```

use std::io::{self, Write};

use interlocking_model_server::{ModelServer, Reaction, Script};

fn main() -> io::Result<()> {
    let script = Script::computed(|request| {
        let mut out = io::stdout().lock();
        let shown = writeln!(out, "{}\n{:?}\n{:#}\n", request.summary(), request.headers, request.body);
        match shown.and_then(|()| out.flush()) {
            Ok(()) => Reaction::text("hello"),
            Err(error) => Reaction::status(500, format!("the request cannot be shown: {error}")),
        }
    });
    let server = ModelServer::start(script)?;
    writeln!(io::stdout(), "{}", server.url())?;
    loop {
        std::thread::park();
    }
}
