//! Holding what the types agent claims against what is on disk.

use super::PublicFunction;

/// A claim about the contract's functions that the file does not bear out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContractMismatch {
    /// A function of the contract is not there, or not public (HY-143).
    #[error("`{name}` is in the contract, but the file has no one public function of that name")]
    ClaimedFunctionNotOnDisk {
        /// The function's name in the contract.
        name: String,
    },
    /// A public function is not in the contract (HY-144).
    #[error("`{name}` is public, but not in the contract: specify it or make it private")]
    UndeclaredFunctionOnDisk {
        /// The function's name in the file.
        name: String,
    },
    /// A function that ought to be a stub has a body (HY-142).
    #[error("`{name}` is not a stub: it must hold nothing but a stub marker until the tests are written")]
    StubNotUndefined {
        /// The function's name in the file.
        name: String,
    },
}

/// Compares the contract's functions with the public functions on disk, both ways (HY-161). Private functions
/// are nobody's business (CON-95).
pub fn check_claimed_functions(claimed: &[&str], on_disk: &[PublicFunction]) -> Vec<ContractMismatch> {
    let names = || on_disk.iter().map(|function| function.name.as_str());
    let meant: Vec<Option<&str>> = claimed.iter().map(|name| meant_among(names(), name)).collect();
    let absent = claimed
        .iter()
        .zip(&meant)
        .filter(|(_, meant)| meant.is_none())
        .map(|(name, _)| ContractMismatch::ClaimedFunctionNotOnDisk { name: (*name).to_owned() });
    let undeclared = names()
        .filter(|name| !meant.contains(&Some(name)))
        .map(|name| ContractMismatch::UndeclaredFunctionOnDisk { name: name.to_owned() });
    absent.chain(undeclared).collect()
}

/// Names every public function with a body that is not a stub (HY-154).
pub fn check_stubs(on_disk: &[PublicFunction]) -> Vec<ContractMismatch> {
    on_disk
        .iter()
        .filter(|function| function.is_stub == Some(false))
        .map(|function| ContractMismatch::StubNotUndefined { name: function.name.clone() })
        .collect()
}

/// The one of several functions that a name means: the one that bears it, or the only one that it can mean.
pub fn meant_among<'n>(functions: impl Iterator<Item = &'n str>, name: &str) -> Option<&'n str> {
    let mut fitting: Vec<&str> = functions.filter(|function| named_by(function, name)).collect();
    if fitting.contains(&name) {
        fitting.retain(|function| *function == name);
    }
    match fitting[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// Whether two names can mean the same function: equal, or one is the other without its leading modules or
/// type (`push` and `BoundedStack::push`, but not `Queue::push` and `BoundedStack::push`).
fn named_by(function: &str, name: &str) -> bool {
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|front| front.is_empty() || front.ends_with("::"))
    };
    ends_with(function, name) || ends_with(name, function)
}
