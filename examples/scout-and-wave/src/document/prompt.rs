//! An agent's prompt in the document: nine numbered fields (SAW-57 to SAW-67).

use crate::protocol::agent::AgentLetter;
use interlocking::document::markdown::{self, Section};
use interlocking::document::{Position, Problems};
use std::fmt;

/// A field of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Field {
    /// Where the agent has to be before it changes anything.
    Isolation = 0,
    /// The files that it alone may touch.
    FileOwnership,
    /// Signatures that it provides.
    InterfacesToImplement,
    /// Signatures that it may call.
    InterfacesToCall,
    /// What its work has to do.
    WhatToImplement,
    /// The tests that it writes.
    TestsToWrite,
    /// The commands that must pass before it reports.
    VerificationGate,
    /// Errors, compatibility, what to avoid.
    Constraints,
    /// How it reports.
    Report,
}

/// An agent's prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPrompt {
    /// The agent.
    pub agent: AgentLetter,
    /// The nine fields, in their order.
    pub fields: [String; 9],
}

impl Field {
    /// All nine.
    pub const ALL: [Self; 9] = [
        Self::Isolation,
        Self::FileOwnership,
        Self::InterfacesToImplement,
        Self::InterfacesToCall,
        Self::WhatToImplement,
        Self::TestsToWrite,
        Self::VerificationGate,
        Self::Constraints,
        Self::Report,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Isolation => "Isolation verification",
            Self::FileOwnership => "File ownership",
            Self::InterfacesToImplement => "Interfaces to implement",
            Self::InterfacesToCall => "Interfaces to call",
            Self::WhatToImplement => "What to implement",
            Self::TestsToWrite => "Tests to write",
            Self::VerificationGate => "Verification gate",
            Self::Constraints => "Constraints",
            Self::Report => "Report",
        }
    }

    /// Its number, 0 to 8.
    pub fn number(self) -> usize {
        self as usize
    }
}

impl AgentPrompt {
    /// The text of a field.
    pub fn field(&self, field: Field) -> &str {
        self.fields.get(field.number()).map_or("", String::as_str)
    }

    /// Reads the section of an agent's prompt; mistakes are added to `problems`, for example a missing or empty field.
    pub(super) fn read(agent: AgentLetter, section: &Section<'_>, problems: &mut Problems) -> Option<Self> {
        let at = |line: usize| Position { line, column: 1 };
        let parts = markdown::sections(section.body);
        let before = problems.len();
        let fields = Field::ALL.map(|field| {
            let prefix = format!("{}. ", field.number());
            let mut found =
                parts.iter().filter(|part| part.heading.level == 4 && part.heading.text.starts_with(&prefix));
            let said = found.next();
            if let Some(second) = found.next() {
                let message = format!("agent {agent} has field {} twice: keep one of them", field.number());
                problems.add(at(section.heading.line + second.heading.line), "", message);
            }
            let text = said.map_or("", |part| part.body.trim());
            if text.is_empty() {
                let line = said.map_or(section.heading.line, |part| section.heading.line + part.heading.line);
                let heading = format!("#### {}. {}", field.number(), field.title());
                let message =
                    format!("the prompt of agent {agent} says nothing under `{heading}`: write it, or `None.`");
                problems.add(at(line), "", message);
            }
            text.to_owned()
        });
        (problems.len() == before).then_some(Self { agent, fields })
    }
}

/// As a section of the document.
impl fmt::Display for AgentPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "### Agent {} - Prompt", self.agent)?;
        for field in Field::ALL {
            write!(f, "\n#### {}. {}\n\n{}\n", field.number(), field.title(), self.field(field))?;
        }
        Ok(())
    }
}
