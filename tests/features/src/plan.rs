//! Which sets of features are checked, of what `cargo metadata` says that there are.

use crate::names;
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
    fn new<'f>(package: &str, features: impl IntoIterator<Item = &'f str>) -> Self {
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

/// Of every package that is published: without features; each by itself; beside the default, which is what adding a feature
/// to a dependency gives; beside each feature that others turn on; and all of them.
pub(crate) fn sets(metadata: &Value) -> BTreeSet<Set> {
    let mut sets = BTreeSet::new();
    // An empty list of registries says that it is none's.
    for package in packages(metadata).filter(|package| package["publish"].as_array().is_none_or(|to| !to.is_empty())) {
        let name = name_of(package);
        let features = features_in(package);
        let turned_on =
            |by: &str| names(&package["features"][by]).filter(|on| features.contains(on)).collect::<Vec<_>>();
        let mut bases: BTreeSet<&str> =
            features.iter().filter(|by| **by != "default").flat_map(|by| turned_on(by)).collect();
        bases.extend(features.get("default"));
        sets.insert(Set::new(name, []));
        sets.insert(Set::new(name, features.iter().copied()));
        for feature in &features {
            sets.insert(Set::new(name, [*feature]));
            sets.extend(bases.iter().map(|base| Set::new(name, [*base, feature])));
        }
    }
    sets
}

/// With more features than these, only the default's tests are checked: each set takes a while.
const FEW: usize = 3;

/// The tests of packages that have features: without any, and with each by itself, or with the default where there are many.
pub(crate) fn with_tests(metadata: &Value) -> BTreeSet<Set> {
    let mut sets = BTreeSet::new();
    for package in packages(metadata) {
        let features = features_in(package);
        if !features.is_empty() {
            sets.insert(Set::new(name_of(package), []));
            let is_checked = |feature: &&&str| features.len() <= FEW || **feature == "default";
            sets.extend(features.iter().filter(is_checked).map(|feature| Set::new(name_of(package), [*feature])));
        }
    }
    sets
}

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
    fn each_feature_is_alone_beside_the_default_and_beside_what_others_turn_on() {
        assert_eq!(
            listed(sets(&facade())),
            [
                "core",
                "facade",
                "facade with default",
                "facade with default,fast",
                "facade with default,fast,run,store",
                "facade with default,run",
                "facade with default,store",
                "facade with fast",
                "facade with fast,run",
                "facade with run",
                "facade with run,store",
                "facade with store",
            ]
        );
    }

    #[test]
    fn a_new_feature_is_checked_without_a_word() {
        let mut metadata = facade();
        metadata["packages"][1]["features"] = json!({ "new": [] });
        let new = |sets: BTreeSet<Set>| listed(sets).into_iter().filter(|set| set.contains("core")).collect::<Vec<_>>();
        assert_eq!(new(sets(&metadata)), ["core", "core with new"]);
        assert_eq!(new(with_tests(&metadata)), ["core", "core with new"]);
    }
}
