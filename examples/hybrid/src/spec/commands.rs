//! The table `[toolchain.commands]`: commands by name.

use interlocking::document::{Field, Fields, Problems};
use interlocking::toolchain::{CommandLine, NamedCommand, Toolchain};
use std::collections::BTreeMap;

/// Reads the table; an empty one if there is none.
pub(super) fn read_commands(
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> Option<BTreeMap<String, NamedCommand>> {
    let Some(table) = fields.take("commands") else { return Some(BTreeMap::new()) };
    let mut commands = Some(BTreeMap::new());
    for (name, field) in table.entries(problems)? {
        let name = name.name.as_str();
        let command = match name {
            "build" | "test" => {
                let message = format!("not a name for one of these; write `{name}Command` in `[toolchain]`");
                field.refuse(message, problems);
                None
            }
            _ => read_command(&field, problems),
        };
        match (&mut commands, command) {
            (Some(commands), Some(command)) => _ = commands.insert(name.to_owned(), command),
            _ => commands = None,
        }
    }
    commands
}

fn read_command(table: &Field<'_>, problems: &mut Problems) -> Option<NamedCommand> {
    let mut fields = super::fields_of(table, "", problems)?;
    let command = fields.required::<CommandLine>("command", problems);
    let default = NamedCommand::new(CommandLine::new("true", &[]));
    let harness = fields.optional("harness", default.harness, problems);
    let timeout_seconds = fields.optional("timeoutSeconds", default.timeout_seconds, problems);
    let named = command.zip(harness).zip(timeout_seconds);
    let named = named.map(|((command, harness), timeout_seconds)| NamedCommand { command, harness, timeout_seconds });
    if let Some(named) = &named {
        let alone = [("alone".to_owned(), named.clone())].into();
        super::refuse_mistakes(&Toolchain { commands: alone, ..Toolchain::default() }, &fields, problems);
    }
    fields.finish(problems);
    named
}
