//! `man`: the manual page, with a section for each command.

use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use clap::Command;
use clap_mangen::Man;

pub(crate) fn man(command: Command, console: &Console) -> Result<Exit, CommandError> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for below in command.get_subcommands() {
        let man = Man::new(below.clone());
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    // `render_version_section` panics if the program has no version.
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    console.print(&String::from_utf8(page)?)?;
    Ok(Exit::Done)
}
