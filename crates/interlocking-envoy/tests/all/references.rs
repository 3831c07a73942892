//! Steps are printed with numbers, and refer to each other by these numbers.

use crate::support::{Project, key, shipped};
use interlocking_envoy::Warning;

/// ENV-19, ENV-100: in `debugging`, two steps are inserted before 7, so the file's step 10 is printed as 12, and the
/// file's step 12 sends to it (CON-116, CON-117).
#[test]
fn references_of_debugging_are_right() {
    let debugging = shipped("debugging");
    let number = |of: &str| debugging.step(key(of)).unwrap().number;
    assert_eq!((number("7"), number("10"), number("13.1"), number("15")), (9, 12, 16, 18));
    let text = |of: &str| &*debugging.step(key(of)).unwrap().text;
    assert!(text("12").contains("**Go to step 12**"), "{}", text("12"));
    // Inherited, and located before all inserted steps.
    assert!(text("4").contains("of step 2,"), "{}", text("4"));
    assert!(shipped("implementation").step(key("12")).unwrap().text.contains("**Go to step 7**"));
    for name in ["implementation", "debugging", "discovery", "bug-discovery"] {
        assert_eq!(shipped(name).warnings, [], "{name}");
    }
}

/// ENV-100: a replaced step keeps its identity; a reference to a missing step is a warning with its location.
#[test]
fn a_reference_to_nothing_is_a_warning() {
    let project = Project::new(&[
        ("base.yaml", "name: base\nsteps:\n  1: |\n    first\n    then steps 2 and 9\n  2: two\n"),
        ("x.yaml", "name: x\nextends: base\nsteps:\n  1.1: inserted\n  2: as in step 1.1\n  2+: |\n    or step 2.1\n"),
    ]);
    let resolved = project.resolve("x").unwrap();
    let texts: Vec<_> = resolved.steps.iter().map(|step| &*step.text).collect();
    assert_eq!(texts, ["first\nthen steps 3 and 9", "inserted", "as in step 2\nor step 2.1"]);
    let told: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
    let directory = project.root().join(".claude/protocols");
    let directory = directory.display();
    assert_eq!(
        told,
        [
            format!("{directory}/base.yaml:5:22: `step 9` refers to no step of `x`: it is printed as it is written"),
            format!("{directory}/x.yaml:7:13: `step 2.1` refers to no step of `x`: it is printed as it is written"),
        ]
    );
    assert!(matches!(&resolved.warnings[0], Warning::UnresolvedReference { key, .. } if key == "9"));
}

/// ENV-99: the number comes first, then the key in brackets if it differs; an excerpt keeps both.
#[test]
fn an_excerpt_is_lines_of_the_whole() {
    let debugging = shipped("debugging");
    let excerpt = debugging.excerpt(key("6"), key("7")).unwrap();
    assert_eq!(excerpt.steps.len(), 4);
    let lines = excerpt.to_string();
    assert!(debugging.to_string().contains(&lines));
    let first: Vec<_> =
        excerpt.steps.iter().map(|step| step.to_string().split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(first, ["6: Create", "7: [6.1]", "8: [6.2]", "9: [7]"]);
    assert_eq!(debugging.excerpt(key("7"), key("6")).unwrap().to_string(), "");
    let error = debugging.excerpt(key("6"), key("16")).unwrap_err();
    assert!(error.to_string().starts_with("protocol `debugging` has no step `16`: its steps are 1, 2,"), "{error}");
}
