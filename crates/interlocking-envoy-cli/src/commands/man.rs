//! `man`: the manual page, with a section for each command.

use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::Io;
use clap_mangen::Man;

pub(crate) fn man(io: &mut Io) -> Result<Exit, CommandError> {
    let mut command = crate::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for below in leaves(&command) {
        let man = Man::new(below);
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    io.print(&String::from_utf8(page)?)?;
    Ok(Exit::Done)
}

/// The commands without subcommands.
fn leaves(command: &clap::Command) -> Vec<clap::Command> {
    let below = command.get_subcommands();
    below.flat_map(|below| if below.has_subcommands() { leaves(below) } else { vec![below.clone()] }).collect()
}
