//! Confines threads with Landlock (files, TCP, signals and abstract sockets) and seccomp, and drops their capabilities.
//!
//! Each of these applies to the thread that requests it and to everything that the thread starts later. None can be undone.

use std::collections::BTreeSet;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, make_bitflags,
};

use super::{privileges, system_calls::SystemCalls};
use crate::{
    enter_error::EnterError,
    exceptions::Exceptions,
    grant::{Access, Grant},
    prepare_error::PrepareError,
    protection::{Protection, Support},
};

/// The newest Landlock ABI whose rights are used. Later ABIs add a right for unix sockets with a path; [`SystemCalls`] refuses
/// such sockets instead.
const INTERFACE: ABI = ABI::V7;

pub(crate) struct Enforcement {
    /// `None` if no Landlock protection is enforced, as the caller accepted.
    rules: Option<RulesetCreated>,
    system_calls: Option<SystemCalls>,
    without_privileges: bool,
}

/// Tests which protections the kernel knows, and then whether they can be applied: a container may forbid that.
pub(crate) fn probe() -> Support {
    let mut known = BTreeSet::new();
    let new = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let candidates = [
        (Protection::Files, new().handle_access(AccessFs::from_all(ABI::V1)).is_ok()),
        (Protection::Truncation, new().handle_access(AccessFs::Truncate).is_ok()),
        (Protection::Devices, new().handle_access(AccessFs::IoctlDev).is_ok()),
        (Protection::Tcp, new().handle_access(AccessNet::from_all(ABI::V4)).is_ok()),
        (Protection::AbstractSockets, new().scope(Scope::AbstractUnixSocket).is_ok()),
        (Protection::Signals, new().scope(Scope::Signal).is_ok()),
    ];
    known.extend(candidates.iter().filter(|(_, is_known)| *is_known).map(|(protection, _)| *protection));
    let mut explanations = Vec::new();
    if known.is_empty() {
        explanations.push("the kernel has no Landlock, or it is off".to_owned());
    } else if let Some(cause) = try_out(|| {
        let enforcement =
            Enforcement { rules: Some(forbidding(&known)?.0), system_calls: None, without_privileges: false };
        enforcement.confine_this_thread().map_err(|error| error.to_string())
    }) {
        explanations.push(format!("the kernel has Landlock, but does not take rules here: {cause}"));
        known.clear();
    } else {
        explanations.push("the kernel has Landlock".to_owned());
    }
    match try_out(|| SystemCalls::new(Exceptions::default())?.forbid_on_this_thread()) {
        Some(cause) => explanations.push(format!("system calls cannot be filtered: {cause}")),
        None => {
            known.insert(Protection::SystemCalls);
        }
    }
    match try_out(privileges::give_up_on_this_thread) {
        Some(cause) => explanations.push(cause),
        None => {
            known.insert(Protection::Privileges);
        }
    }
    let explanation = explanations.join("; ");
    Support::of(known, explanation)
}

/// Makes the attempt on a separate thread. Returns the error, or `None` if it succeeds.
fn try_out(attempt: impl FnOnce() -> Result<(), String> + Send) -> Option<String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("sandbox-probe".to_owned()).spawn_scoped(scope, attempt);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result.err(),
            Ok(Err(_)) => Some("trying it ended in a panic".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    })
}

impl Enforcement {
    pub(crate) fn new(
        grants: &[Grant],
        enforced: &BTreeSet<Protection>,
        exceptions: Exceptions,
    ) -> Result<Self, PrepareError> {
        let refused = |cause: String| PrepareError::Refused { cause };
        let by_landlock =
            |protection: &Protection| !matches!(protection, Protection::SystemCalls | Protection::Privileges);
        let rules = if enforced.iter().any(by_landlock) {
            let (mut rules, handled) = forbidding(enforced).map_err(refused)?;
            if enforced.contains(&Protection::Files) {
                // One after the other, as there can be more grants than a process may have open files.
                for grant in grants {
                    if let Some(Opened { file, rights }) = open(grant)?
                        && !(rights & handled).is_empty()
                    {
                        let rule = PathBeneath::new(file, rights & handled);
                        rules = rules.add_rule(rule).map_err(|error| refused(causes(&error)))?;
                    }
                    let is_writing = grant.access == Access::Write && enforced.contains(&Protection::Privileges);
                    if let Some(cause) = is_writing.then(|| privileges::needed_to_write(&grant.path)).flatten() {
                        return Err(PrepareError::Path { path: grant.path.clone(), cause });
                    }
                }
            }
            Some(rules)
        } else {
            None
        };
        let system_calls = enforced
            .contains(&Protection::SystemCalls)
            .then(|| SystemCalls::new(exceptions))
            .transpose()
            .map_err(refused)?;
        Ok(Self { rules, system_calls, without_privileges: enforced.contains(&Protection::Privileges) })
    }

    pub(crate) fn confine_this_thread(&self) -> Result<(), EnterError> {
        let refused = |cause: String| EnterError::Refused { cause };
        if self.without_privileges {
            privileges::give_up_on_this_thread().map_err(refused)?;
        }
        if let Some(rules) = &self.rules {
            let status = rules.try_clone()?.restrict_self().map_err(|error| refused(causes(&error)))?;
            if status.ruleset != RulesetStatus::FullyEnforced {
                return Err(refused(format!("the rules were taken in part: {:?}", status.ruleset)));
            }
        }
        // Last, as the filter refuses system calls that the steps above need on some systems.
        if let Some(system_calls) = &self.system_calls {
            system_calls.forbid_on_this_thread().map_err(refused)?;
        }
        Ok(())
    }
}

struct Opened {
    file: PathFd,
    rights: BitFlags<AccessFs>,
}

fn open(grant: &Grant) -> Result<Option<Opened>, PrepareError> {
    let failed = |cause: String| PrepareError::Path { path: grant.path.clone(), cause };
    let metadata = match std::fs::metadata(&grant.path) {
        Err(_) if grant.if_present => return Ok(None),
        metadata => metadata.map_err(|error| failed(error.to_string()))?,
    };
    let file = PathFd::new(&grant.path).map_err(|error| failed(error.to_string()))?;
    let rights = rights(grant.access);
    let rights = if metadata.is_dir() { rights } else { rights & AccessFs::from_file(INTERFACE) };
    Ok(Some(Opened { file, rights }))
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    match access {
        Access::Read => read,
        Access::Execute => read | AccessFs::Execute,
        // A root program that can make a device could read the disk through it.
        Access::Write => AccessFs::from_all(INTERFACE) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev}),
        Access::Device => make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev}),
    }
}

/// Rules that forbid everything that `enforced` covers, and the accesses to files that they can permit again.
fn forbidding(enforced: &BTreeSet<Protection>) -> Result<(RulesetCreated, BitFlags<AccessFs>), String> {
    let build = || -> Result<_, RulesetError> {
        // The kernel is known to support all of `enforced`, so a refusal is an error.
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let mut handled = BitFlags::EMPTY;
        if enforced.contains(&Protection::Files) {
            handled |= AccessFs::from_all(ABI::V1);
        }
        if enforced.contains(&Protection::Truncation) {
            handled |= AccessFs::Truncate;
        }
        if enforced.contains(&Protection::Devices) {
            handled |= AccessFs::IoctlDev;
        }
        if !handled.is_empty() {
            ruleset = ruleset.handle_access(handled)?;
        }
        if enforced.contains(&Protection::Files) {
            // Moving files between directories. A kernel that cannot permit it always forbids it, which is stricter.
            if Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::Refer).is_ok()
            {
                ruleset = ruleset.handle_access(AccessFs::Refer)?;
                handled |= AccessFs::Refer;
            }
        }
        if enforced.contains(&Protection::Tcp) {
            ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        if enforced.contains(&Protection::AbstractSockets) {
            ruleset = ruleset.scope(Scope::AbstractUnixSocket)?;
        }
        if enforced.contains(&Protection::Signals) {
            ruleset = ruleset.scope(Scope::Signal)?;
        }
        Ok((ruleset.create()?, handled))
    };
    build().map_err(|error| causes(&error))
}

/// The messages of an error and of all its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
