//! How far a workspace isolates an agent.

use interlocking_core::table::Isolation;
use interlocking_sandbox::{Sandbox, Support};

/// How far a place isolates an agent on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsolationOffer {
    /// The strongest level that holds.
    pub level: Isolation,
    /// What the next stronger level lacks: "the kernel has no Landlock". For a message.
    pub lacks: Option<String>,
}

impl IsolationOffer {
    /// A place that offers `level`, and was never meant to offer more.
    pub fn of(level: Isolation) -> Self {
        Self { level, lacks: None }
    }

    /// A place whose agents are confined by `sandbox`, if this machine enforces all of it; otherwise the place offers
    /// `without`, and at most a clone.
    pub fn sandboxed(sandbox: &Sandbox, without: Isolation) -> Self {
        Self::sandboxed_on(sandbox, without, Support::of_this_system())
    }

    /// The same on a machine that enforces what `support` says.
    pub fn sandboxed_on(sandbox: &Sandbox, without: Isolation, support: &Support) -> Self {
        let missing: Vec<String> = sandbox.missing_on(support).iter().map(ToString::to_string).collect();
        if missing.is_empty() {
            return Self::of(Isolation::Sandbox);
        }
        let lacks =
            format!("this machine cannot keep a program from {}: {}", missing.join(", "), support.explanation());
        Self { level: without.min(Isolation::Clone), lacks: Some(lacks) }
    }
}
