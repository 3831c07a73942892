//! How an extension changes its base.

use crate::support::{Project, key, steps};
use interlocking_envoy::ProtocolFile;
use proptest::prelude::*;
use std::fmt::Write;

const BASE: &str = "\
name: base
description: the base's
inputs: [{name: a, type: string}]
outputs: [{value: of the base}]
steps:
  1: |
    one
  2: |
    two
  3: |
    three
";

fn extended(steps_of_extension: &str) -> Vec<String> {
    let extension = format!("name: x\nextends: base\nsteps:\n{steps_of_extension}");
    steps(&Project::new(&[("base.yaml", BASE), ("x.yaml", &extension)]).resolve("x").unwrap())
}

/// ENV-08, ENV-94: the text of the same number replaces the whole of the base's.
#[test]
fn a_step_is_replaced() {
    assert_eq!(extended("  2: |\n    new\n"), ["1: one", "2: new", "3: three"]);
}

/// ENV-09, ENV-94: `N+` comes after the base's text, on a line of its own (CON-122).
#[test]
fn a_step_is_appended_to() {
    assert_eq!(extended("  2+: |\n    and more\n"), ["1: one", "2: two/and more", "3: three"]);
    // Whatever blanks the base's text ends with.
    let base = BASE.replace("two\n", "two  \n\n\n");
    let project = Project::new(&[("base.yaml", &base), ("x.yaml", "name: x\nextends: base\nsteps: {2+: more}\n")]);
    assert_eq!(steps(&project.resolve("x").unwrap())[1], "2: two/more");
}

/// ENV-10, ENV-94: `N.M` comes after `N` and lower `M`, and before `N+1`. ENV-12: steps that are not named stay.
#[test]
fn a_step_is_inserted() {
    let inserted = extended("  2.10: ten\n  2.2: two\n  1.1: first\n");
    assert_eq!(inserted, ["1: one", "1.1: first", "2: two", "2.2: two", "2.10: ten", "3: three"]);
    assert_eq!(extended("  {}\n"), ["1: one", "2: two", "3: three"]);
}

/// ENV-13: both in one file, in either order: replaced, then appended to (CON-121).
#[test]
fn a_step_is_replaced_and_then_appended_to() {
    for both in ["  2: new\n  2+: more\n", "  2+: more\n  2: new\n"] {
        assert_eq!(extended(both), ["1: one", "2: new/more", "3: three"]);
    }
}

/// An inserted step is appended to, by its own file or a later one (CON-123).
#[test]
fn an_inserted_step_is_appended_to() {
    assert_eq!(extended("  2.1: new\n  2.1+: more\n")[2], "2.1: new/more");
    let project = Project::new(&[
        ("base.yaml", BASE),
        ("x.yaml", "name: x\nextends: base\nsteps: {2.1: new}\n"),
        ("y.yaml", "name: y\nextends: x\nsteps: {2.1+: more, 3+: end}\n"),
    ]);
    assert_eq!(steps(&project.resolve("y").unwrap()), ["1: one", "2: two", "2.1: new/more", "3: three/end"]);
}

/// ENV-14: three levels, each seeing the result of the level below. ENV-15: the nearest outputs win, absent ones are
/// inherited.
#[test]
fn an_extension_is_extended() {
    let project = Project::new(&[
        ("base.yaml", BASE),
        ("x.yaml", "name: x\nextends: base\noutputs: [{value: of x}]\nsteps: {2: second, 2.1: inserted}\n"),
        (
            "y.yaml",
            "name: y\nextends: x\ndescription: its own\nsteps: {2.1: replaced, 2+: and y, 4: four, 4.1: five}\n",
        ),
    ]);
    let x = project.resolve("x").unwrap();
    let y = project.resolve("y").unwrap();
    assert_eq!(steps(&y), ["1: one", "2: second/and y", "2.1: replaced", "3: three", "4: four", "4.1: five"]);
    assert_eq!(y.extends.iter().map(ToString::to_string).collect::<Vec<_>>(), ["x", "base"]);
    assert_eq!((&*x.description, &*y.description), ("the base's", "its own"));
    assert_eq!((&*x.outputs[0].value, &*y.outputs[0].value), ("of x", "of x"));
    assert_eq!(project.resolve("base").unwrap().outputs[0].value, "of the base");
    let none = Project::new(&[("base.yaml", BASE), ("x.yaml", "name: x\nextends: base\noutputs: null\nsteps: {}\n")]);
    assert_eq!(none.resolve("x").unwrap().outputs[0].value, "of the base");
    assert_eq!(none.resolve("x").unwrap().inputs[0].name, "a");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// ENV-11: steps are ordered by their two numbers, however the file orders them.
    #[test]
    fn order_is_by_number(
        mut keys in prop::collection::btree_set((1..40u32, 1..40u32), 1..12)
            .prop_map(|keys| keys.into_iter().collect::<Vec<_>>())
            .prop_shuffle(),
    ) {
        let mut file = "name: x\nsteps:\n".to_owned();
        for (step, inserted) in &keys {
            writeln!(file, "  {step}.{inserted}: text").unwrap();
        }
        let mut whole: Vec<u32> = keys.iter().map(|(step, _)| *step).collect();
        whole.sort_unstable();
        whole.dedup();
        for step in &whole {
            writeln!(file, "  {step}: text").unwrap();
        }
        let parsed = ProtocolFile::parse("x.yaml", file.as_bytes()).unwrap();
        keys.extend(whole.into_iter().map(|step| (step, 0)));
        keys.sort_unstable();
        let wanted: Vec<_> = keys.into_iter().map(|(step, inserted)| match inserted {
            0 => key(&step.to_string()),
            _ => key(&format!("{step}.{inserted}")),
        }).collect();
        prop_assert_eq!(parsed.steps.into_keys().map(|(key, _)| key).collect::<Vec<_>>(), wanted);
        let resolved = Project::new(&[("x.yaml", &file)]).resolve("x").unwrap();
        prop_assert!(resolved.steps.is_sorted_by_key(|step| step.key));
        prop_assert!(resolved.steps.iter().zip(1..).all(|(step, number)| step.number == number));
    }
}
