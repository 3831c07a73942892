//! Checks the types agent's claims against the files.

use interlocking::rust_source::{PublicFunction, resolve_name};

/// A claim about the contract's functions that the file contradicts.
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

/// Compares the contract's functions with the public functions on disk, both ways (HY-161). Private functions are not compared
/// (CON-95).
pub fn check_claimed_functions(claimed: &[&str], on_disk: &[PublicFunction]) -> Vec<ContractMismatch> {
    let names = || on_disk.iter().map(|function| function.name.as_str());
    let meant: Vec<Option<&str>> = claimed.iter().map(|name| resolve_name(names(), name)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking::rust_source::{Side, StubMarkers, public_functions, refused_constructs};

    /// HY-143, HY-144, HY-161: claims and disk differ, in both directions.
    #[test]
    fn claims_are_held_against_the_disk_both_ways() {
        let text = "pub struct S; impl S { pub fn push(&self) { todo!() } pub fn extra(&self) { todo!() } }";
        let on_disk = public_functions("src/lib.rs", text, &StubMarkers::default()).unwrap();
        assert_eq!(
            check_claimed_functions(&["S::push", "pop"], &on_disk),
            [
                ContractMismatch::ClaimedFunctionNotOnDisk { name: "pop".to_owned() },
                ContractMismatch::UndeclaredFunctionOnDisk { name: "S::extra".to_owned() },
            ]
        );
        assert_eq!(check_claimed_functions(&["push", "extra"], &on_disk), []);
        // Another type's method of the same name is another function.
        assert_eq!(check_claimed_functions(&["Queue::push", "extra"], &on_disk).len(), 2);
    }

    /// HY-142, HY-154: bodies in the skeleton are named.
    #[test]
    fn bodies_in_a_skeleton_are_named() {
        let text = "pub fn done() -> u32 { 1 }\npub fn open() -> u32 { todo!() }\nfn helper() -> u32 { 2 }";
        let on_disk = public_functions("src/lib.rs", text, &StubMarkers::default()).unwrap();
        assert_eq!(check_stubs(&on_disk), [ContractMismatch::StubNotUndefined { name: "done".to_owned() }]);
    }

    /// The demonstration's own code contains nothing that is refused.
    #[test]
    fn the_demonstration_only_computes() {
        for file in ["types/lib.rs", "implementation/lib.rs", "implementation_buggy/lib.rs"] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/work").join(file);
            let text = std::fs::read_to_string(path).unwrap();
            assert_eq!(refused_constructs("src/lib.rs", &text, Side::Implementation, &[]).unwrap(), [], "{file}");
        }
    }
}
