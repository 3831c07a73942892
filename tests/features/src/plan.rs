//! Which sets of features are checked, of what `cargo metadata` says that there are.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// A package with these of its features and no others, whatever its default is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set {
    pub(crate) package: String,
    pub(crate) features: BTreeSet<String>,
}

impl Set {
    pub(crate) fn new<'f>(package: &str, features: impl IntoIterator<Item = &'f str>) -> Self {
        Self { package: package.to_owned(), features: features.into_iter().map(str::to_owned).collect() }
    }

    pub(crate) fn list(&self) -> String {
        self.features.iter().map(String::as_str).collect::<Vec<_>>().join(",")
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.features.is_empty() {
            true => write!(f, "{}", self.package),
            false => write!(f, "{} with {}", self.package, self.list()),
        }
    }
}

/// Of every package that is published: without features; each by itself; and each beside the default, which is what adding a
/// feature to a dependency gives. Clippy has all of them together.
pub(crate) fn sets(metadata: &Value) -> BTreeSet<Set> {
    let mut sets = BTreeSet::new();
    // An empty list of registries says that it is none's.
    for package in packages(metadata).filter(|package| package["publish"].as_array().is_none_or(|to| !to.is_empty())) {
        let (name, features) = (name_of(package), features_in(package));
        sets.insert(Set::new(name, []));
        for feature in &features {
            sets.insert(Set::new(name, [*feature]));
            sets.extend(features.get("default").map(|default| Set::new(name, [*default, feature])));
        }
    }
    sets
}

/// The tests of packages that have features, without any; with features they are compiled where they run. Those of a package
/// with many are of all of it, which is its default.
pub(crate) fn with_tests(metadata: &Value) -> BTreeSet<Set> {
    let few = |package: &&Value| (1..=FEW).contains(&features_in(package).len());
    packages(metadata).filter(few).map(|package| Set::new(name_of(package), [])).collect()
}

/// The tests that are run with each set: of the packages that say so in their manifest, `[package.metadata.features] run-tests = true`.
/// They are those whose tests take seconds. The others' run with the workspace, and with `http` in a step of their own.
pub(crate) fn run_tests(metadata: &Value) -> BTreeSet<Set> {
    let says_so = |package: &&Value| package["metadata"]["features"]["run-tests"] == true;
    packages(metadata)
        .filter(says_so)
        .flat_map(|package| {
            let alone = features_in(package).into_iter().filter(|feature| *feature != "default").map(Some);
            [None].into_iter().chain(alone).map(|feature| Set::new(name_of(package), feature))
        })
        .collect()
}

/// So many features are few.
const FEW: usize = 3;

/// The features of one package, but its default.
pub(crate) fn features_of<'m>(metadata: &'m Value, package: &str) -> BTreeSet<&'m str> {
    let mut features = packages(metadata).find(|found| name_of(found) == package).map(features_in).unwrap_or_default();
    features.remove("default");
    features
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn name_of(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

fn features_in(package: &Value) -> BTreeSet<&str> {
    package["features"].as_object().into_iter().flat_map(|features| features.keys().map(String::as_str)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facade() -> Value {
        json!({ "packages": [
            { "name": "facade", "features": {
                "default": ["fast"], "fast": ["dep:fast"], "run": ["dep:run"], "store": ["run", "dep:store"],
            } },
            { "name": "core", "features": {} },
            { "name": "example", "publish": [], "features": {} },
        ] })
    }

    fn listed(sets: BTreeSet<Set>) -> Vec<String> {
        sets.iter().map(Set::to_string).collect()
    }

    #[test]
    fn each_feature_is_alone_and_beside_the_default() {
        assert_eq!(
            listed(sets(&facade())),
            [
                "core",
                "facade",
                "facade with default",
                "facade with default,fast",
                "facade with default,run",
                "facade with default,store",
                "facade with fast",
                "facade with run",
                "facade with store",
            ]
        );
    }

    #[test]
    fn tests_run_without_features_and_with_each_alone() {
        let mut metadata = facade();
        assert_eq!(listed(run_tests(&metadata)), [""; 0]);
        metadata["packages"][0]["metadata"] = json!({ "features": { "run-tests": true } });
        assert_eq!(
            listed(run_tests(&metadata)),
            ["facade", "facade with fast", "facade with run", "facade with store"]
        );
    }

    #[test]
    fn a_new_feature_is_checked_without_a_word() {
        let mut metadata = facade();
        metadata["packages"][1]["features"] = json!({ "new": [] });
        let new = |sets: BTreeSet<Set>| listed(sets).into_iter().filter(|set| set.contains("core")).collect::<Vec<_>>();
        assert_eq!(new(sets(&metadata)), ["core", "core with new"]);
        assert_eq!(new(with_tests(&metadata)), ["core"]);
    }
}
