//! Makes the contexts of prompts from states. Worktrees, sessions and costs are left out (HY-106).

use crate::types::{
    EchoChannel, FunctionSpec, GatedState, HardeningHint, Identifier, ImplAgentOutput, ImplTemplateCtx,
    MutationTemplateCtx, StackSpec, TestsAgentOutput, TestsTemplateCtx, TrivialTestsFeedback,
};

/// The context of the tests agent (HY-107).
pub fn tests_context(
    gated: &GatedState,
    prior_feedback: Option<TrivialTestsFeedback>,
    echoes: Option<EchoChannel>,
    hardening_hints: Vec<HardeningHint>,
) -> TestsTemplateCtx {
    let types = &gated.skeleton.types_result.output;
    TestsTemplateCtx {
        type_name: types.type_name.clone(),
        constructors: types.constructors.clone(),
        functions: types.functions.clone(),
        test_path: gated.skeleton.test_path.clone(),
        prior_feedback,
        echoes,
        hardening_hints,
    }
}

/// The context of the implementation agent (HY-108); the tests are no reason to refuse its work.
pub fn impl_context(
    gated: &GatedState,
    echoes: Option<EchoChannel>,
    hardening_hints: Vec<HardeningHint>,
) -> ImplTemplateCtx {
    let types = &gated.skeleton.types_result.output;
    ImplTemplateCtx {
        type_name: types.type_name.clone(),
        constructors: types.constructors.clone(),
        functions: types.functions.clone(),
        impl_path: gated.skeleton.impl_path.clone(),
        echoes,
        hardening_hints,
    }
}

/// The context of the mutation adversary (HY-110). Paths come from the task, the contract from the types agent (CON-85), and the
/// list of functions from the analysis of the code.
pub fn mutation_context(
    spec: &StackSpec,
    functions: &[FunctionSpec],
    targets: Vec<String>,
    targets_by: String,
) -> MutationTemplateCtx {
    MutationTemplateCtx {
        impl_path: spec.impl_path.clone(),
        test_path: spec.test_path.clone(),
        functions: functions.to_vec(),
        targets,
        targets_by,
    }
}

/// The names both sides have published so far; `None` on the first run, when there are none (CON-79). Only names cross the
/// barrier (HY-101).
pub fn echoes(tests: Option<&TestsAgentOutput>, implementation: Option<&ImplAgentOutput>) -> Option<EchoChannel> {
    let names = |names: Vec<&String>| -> Vec<Identifier> {
        names.into_iter().filter_map(|name| Identifier::new(name.as_str()).ok()).collect()
    };
    let written = tests.map(|output| output.properties.iter().map(|property| &property.name).collect());
    let implemented = implementation.map(|output| output.functions.iter().map(|function| &function.name).collect());
    let channel = EchoChannel {
        from_impl: names(implemented.unwrap_or_default()),
        from_tests: names(written.unwrap_or_default()),
    };
    (!channel.from_impl.is_empty() || !channel.from_tests.is_empty()).then_some(channel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{
        ConcreteExample, CratePath, FunctionImplemented, NonEmpty, PropertySketch, PropertyType, SkeletonState,
        StrictnessConfig, TypeAdversaryOutput, TypesAgentOutput, TypesResult,
    };
    use crate::verdicts::type_adversary_result;
    use interlocking::agents::{Cost, SessionId};

    fn function(name: &str) -> FunctionSpec {
        FunctionSpec {
            name: name.to_owned(),
            signature: "s".to_owned(),
            brief: "b".to_owned(),
            behavior: "b".to_owned(),
            examples: NonEmpty::of(ConcreteExample {
                description: "d".to_owned(),
                input: "i".to_owned(),
                expected: "e".to_owned(),
                edge_case: false,
            }),
            properties: NonEmpty::of(PropertySketch {
                name: "p".to_owned(),
                description: "d".to_owned(),
                invariant: "i".to_owned(),
                property_type: PropertyType::Identity,
            }),
            priority: 0,
        }
    }

    fn gated() -> GatedState {
        let output = TypesAgentOutput {
            type_name: "Stack".to_owned(),
            type_kind: "struct".to_owned(),
            type_description: "d".to_owned(),
            constructors: vec!["Stack::new".to_owned()],
            functions: vec![function("push"), function("pop")],
            imports: vec![],
            design_notes: "n".to_owned(),
            blocker: None,
        };
        GatedState {
            skeleton: SkeletonState {
                types_result: TypesResult {
                    output,
                    session_id: SessionId::new("session-1").unwrap(),
                    cost: Cost::from_micro_dollars(31_000),
                },
                impl_path: CratePath::new("src/lib.rs").unwrap(),
                test_path: CratePath::new("tests/p.rs").unwrap(),
                project_path: "/run/skeleton".into(),
            },
            type_adversary: type_adversary_result(TypeAdversaryOutput {
                holes: vec![],
                analysis: "a".to_owned(),
                confident: true,
            }),
        }
    }

    fn hint() -> HardeningHint {
        HardeningHint { context: "c".to_owned(), guidance: "g".to_owned(), source: "typeAdversary".to_owned() }
    }

    /// HY-106: both sides get the same contract, each its own path, neither the other's.
    #[test]
    fn both_sides_get_the_same_contract() {
        let feedback = TrivialTestsFeedback {
            why_rejected: "w".to_owned(),
            properties_wrote: vec!["p".to_owned()],
            suggestion: "s".to_owned(),
        };
        let names = |name: &str| vec![Identifier::new(name).unwrap()];
        let echoes = EchoChannel { from_impl: names("push"), from_tests: names("prop_push") };
        let tests = tests_context(&gated(), Some(feedback.clone()), Some(echoes.clone()), vec![hint()]);
        let implementation = impl_context(&gated(), Some(echoes.clone()), vec![hint()]);
        // HY-81
        assert_eq!(tests.functions, implementation.functions);
        // HY-107, HY-108: the types' name, constructors and functions, and what else was given.
        for (type_name, constructors, functions, given, hints) in [
            (&tests.type_name, &tests.constructors, &tests.functions, &tests.echoes, &tests.hardening_hints),
            (
                &implementation.type_name,
                &implementation.constructors,
                &implementation.functions,
                &implementation.echoes,
                &implementation.hardening_hints,
            ),
        ] {
            assert_eq!((type_name.as_str(), &constructors[..]), ("Stack", &["Stack::new".to_owned()][..]));
            assert_eq!(functions, &[function("push"), function("pop")]);
            assert_eq!((given.as_ref(), &hints[..]), (Some(&echoes), &[hint()][..]));
        }
        assert_eq!(tests.prior_feedback, Some(feedback));
        assert_eq!((tests.test_path.as_str(), implementation.impl_path.as_str()), ("tests/p.rs", "src/lib.rs"));
        let (tests, implementation) =
            (serde_json::to_string(&tests).unwrap(), serde_json::to_string(&implementation).unwrap());
        assert!(tests.contains("tests/p.rs") && !tests.contains("src/lib.rs"));
        assert!(implementation.contains("src/lib.rs") && !implementation.contains("tests/p.rs"));
        for private in ["session-1", "31000", "/run/skeleton"] {
            assert!(!tests.contains(private) && !implementation.contains(private), "{private}");
        }
    }

    /// HY-105, HY-110
    #[test]
    fn the_mutation_adversary_gets_paths_and_contract() {
        let spec = StackSpec {
            module_name: "m".to_owned(),
            description: "d".to_owned(),
            acceptance_criteria: vec!["a".to_owned()],
            impl_path: CratePath::new("src/a.rs").unwrap(),
            test_path: CratePath::new("tests/a.rs").unwrap(),
            shared_paths: Vec::new(),
            strictness: StrictnessConfig::default(),
        };
        let context =
            mutation_context(&spec, &[function("push")], vec!["Stack::push".to_owned()], "the syntax alone".to_owned());
        assert_eq!((context.impl_path.as_str(), context.test_path.as_str()), ("src/a.rs", "tests/a.rs"));
        assert_eq!(context.functions, [function("push")]);
        assert_eq!(
            (&context.targets[..], context.targets_by.as_str()),
            (&["Stack::push".to_owned()][..], "the syntax alone")
        );
    }

    /// HY-11, HY-101, CON-79: nothing at first, names later, never more than names.
    #[test]
    fn only_names_cross_the_barrier() {
        assert_eq!(echoes(None, None), None);
        let implemented = |name: &str| FunctionImplemented {
            name: name.to_owned(),
            approach: "a".to_owned(),
            complexity: None,
            handles_edges: vec![],
        };
        let implementation = ImplAgentOutput {
            functions: vec![implemented("Stack::push"), implemented("fn push() { self.items.push(1) }")],
            data_repr: "d".to_owned(),
            design_notes: "n".to_owned(),
            build_passed: true,
            commit_msg: "c".to_owned(),
            blocker: None,
        };
        let channel = echoes(None, Some(&implementation)).unwrap();
        assert_eq!(channel.from_impl, [Identifier::new("Stack::push").unwrap()]);
        assert_eq!(channel.from_tests, []);
    }
}
