//! The functions that a failure concerns.

use crate::types::{FunctionSpec, StructuredFailure};
use interlocking::rust_source::{Exercise, TestFile};

/// The functions of the contract a failing property calls; what the fix agent has to look at.
pub fn affected_functions(failure: &StructuredFailure, on_disk: &TestFile, functions: &[FunctionSpec]) -> Vec<String> {
    let bare = failure.property_name.rsplit("::").next().unwrap_or_default();
    let Some(test) = on_disk.named(bare) else { return Vec::new() };
    let called = |function: &&FunctionSpec| on_disk.calls(test, &function.name) == Exercise::Seen;
    functions.iter().filter(called).map(|function| function.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::FailureType;
    use interlocking::rust_source::Sources;

    fn failure(name: &str) -> StructuredFailure {
        StructuredFailure {
            property_name: name.to_owned(),
            failure_type: FailureType::PropertyFailed,
            counterexample: None,
            expected: None,
            actual: None,
            message: "m".to_owned(),
        }
    }

    /// HY-127, HY-180: the functions concerned are those of the contract that the failing property calls.
    #[test]
    fn a_failure_concerns_the_functions_its_property_calls() {
        let function = |name: &str| -> FunctionSpec {
            serde_json::from_value(serde_json::json!({"name": name, "signature": "s", "brief": "b", "behavior": "b",
                "examples": [{"description": "d", "input": "i", "expected": "e", "edgeCase": false}],
                "properties": [{"name": "p", "description": "d", "invariant": "i", "type": "Inverse"}],
                "priority": 0}))
            .unwrap()
        };
        let contract = [function("Stack::push"), function("Stack::pop"), function("Stack::peek")];
        let methods = ["push", "pop", "peek"].map(|name| format!("pub fn {name}(&mut self) {{ todo!() }}")).concat();
        let on_disk = TestFile::read(Sources {
            library: "stack",
            implementation: ("src/lib.rs", &format!("pub struct Stack; impl Stack {{ {methods} }}")),
            tests: ("tests/p.rs", "#[test] fn prop_undo(s: stack::Stack) { s.push(); s.pop(); vec![1].peek(); }"),
            prefix: "prop_",
        })
        .unwrap();
        let affected = |name: &str| affected_functions(&failure(name), &on_disk, &contract);
        assert_eq!(affected("suite::prop_undo"), ["Stack::push", "Stack::pop"]);
        assert_eq!(affected("prop_other"), [""; 0]);
    }
}
