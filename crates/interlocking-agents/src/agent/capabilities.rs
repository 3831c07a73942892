//! What a kind of agent can do, as data: for tables, and for whoever refuses what cannot be had before anything runs.

/// What an agent's program or API can do. What it cannot is refused at start-up where it was asked for, and otherwise with
/// [`Unsupported`](crate::AgentErrorKind::Unsupported).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own in a table")]
pub struct Capabilities {
    /// A session can go on in a later call.
    pub continues: bool,
    /// A session can be forked.
    pub forks: bool,
    /// What becomes of a turn's schema. The output is validated by the conversation in any case.
    pub schemas: SchemaSupport,
    /// It can change files and run commands in its workspace.
    pub works: bool,
    /// It says what a call cost in money.
    pub costs: bool,
    /// The steps of one turn can be limited.
    pub limits_steps: bool,
    /// The money of one turn can be limited.
    pub limits_money: bool,
    /// A call can be interrupted so that it says what it had used up.
    pub interrupts: bool,
}

/// What an agent does with a turn's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSupport {
    /// The program or the provider holds the model to it.
    Enforced,
    /// It is passed on, and whether the model keeps to it is not looked at.
    Sent,
    /// It is a part of the prompt, and the answer is looked for in the text.
    Prompted,
}

impl Capabilities {
    /// Everything: of an agent that leaves nothing out, such as a scripted one.
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
