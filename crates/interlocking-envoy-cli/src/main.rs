//! The command `envoy`: see `docs/book/src/envoy.md` in the repository.

use std::process::ExitCode;

fn main() -> ExitCode {
    envoy::main()
}
