//! `gate`.

use crate::exit::Exit;
use crate::surroundings::Surroundings;
use crate::trouble::Trouble;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn gate(_: Arguments, _: bool, _: &mut Surroundings) -> Result<Exit, Trouble> {
    Err(Trouble::new("not yet"))
}
