//! What a kind of agent can do, as data: for tables, and so that unsupported requests are refused before anything runs.

/// What an agent's program or API can do. A request for a missing capability is refused at start-up where it is
/// configured, and otherwise with [`Unsupported`](crate::AgentErrorKind::Unsupported).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own in a table")]
pub struct Capabilities {
    /// A session can be continued in a later call.
    pub continues: bool,
    /// A session can be forked.
    pub forks: bool,
    /// How a turn's schema is used. The conversation validates the output in any case.
    pub schemas: SchemaSupport,
    /// The agent can change files and run commands in its workspace.
    pub works: bool,
    /// The agent reports what a call cost in money.
    pub costs: bool,
    /// The steps of one turn can be limited.
    pub limits_steps: bool,
    /// The money of one turn can be limited.
    pub limits_money: bool,
    /// A call can be interrupted in a way that still reports what it used up.
    pub interrupts: bool,
}

/// What an agent does with a turn's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSupport {
    /// The program or the provider forces the model's output to fit the schema.
    Enforced,
    /// The schema is passed on, but neither the program nor the provider checks that the model keeps to it.
    Sent,
    /// The schema is part of the prompt, and the answer is extracted from the text.
    Prompted,
}

impl Capabilities {
    /// All capabilities, for an agent without limitations, such as a scripted agent.
    pub const ALL: Self = Self {
        continues: true,
        forks: true,
        schemas: SchemaSupport::Enforced,
        works: true,
        costs: true,
        limits_steps: true,
        limits_money: true,
        interrupts: true,
    };
}
