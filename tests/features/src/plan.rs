//! Chooses the sets of features to check, from `cargo metadata`.

use crate::cargo::UNIFIED;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A package with these of its features and no others, regardless of its default.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set {
    pub(crate) package: String,
    pub(crate) features: BTreeSet<String>,
}

impl Set {
    pub(crate) fn new<'f>(package: &str, features: impl IntoIterator<Item = &'f str>) -> Self {
        Self { package: package.to_owned(), features: features.into_iter().map(str::to_owned).collect() }
    }

    /// Whether the set contains the default. Each of the default's features is also checked alone.
    pub(crate) fn has_default(&self) -> bool {
        self.features.contains("default")
    }

    /// The name of the crate that depends on the package with these features, outside the workspace.
    pub(crate) fn user(&self) -> String {
        let features = self.features.iter().map(|feature| format!("-{feature}"));
        format!("set{}", features.collect::<String>())
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

/// The programs that are built without their features: those whose manifest says `[package.metadata.features] alone = true`, as
/// people build them by themselves.
pub(crate) fn programs(metadata: &Value) -> BTreeSet<Set> {
    let alone = packages(metadata).filter(|package| package["metadata"]["features"]["alone"] == true);
    alone.map(|package| Set::new(name_of(package), [])).collect()
}

/// The sets of every published package: without features, each feature by itself, and each beside the default, as when a user
/// adds a feature to a dependency. Clippy checks all features together.
pub(crate) fn sets(metadata: &Value) -> BTreeSet<Set> {
    let mut sets = BTreeSet::new();
    for package in packages(metadata).filter(is_published) {
        let (name, features) = (name_of(package), features_in(package));
        sets.insert(Set::new(name, []));
        for feature in &features {
            sets.insert(Set::new(name, [*feature]));
            sets.extend(features.get("default").map(|default| Set::new(name, [*default, feature])));
        }
    }
    sets
}

/// The sets with which tests are compiled. For packages with few features: without features. For packages whose manifest says
/// `[package.metadata.features] tests = "compile"`: also with each feature by itself. With all features, tests are compiled with
/// the workspace. The tests of a package with many features are written for its default, which has all of them.
pub(crate) fn with_tests(metadata: &Value) -> BTreeSet<Set> {
    let few = |package: &&Value| (1..=FEW).contains(&features_in(package).len());
    let without = packages(metadata).filter(is_published).filter(few).map(|package| Set::new(name_of(package), []));
    without.chain(each_alone(metadata, "compile")).collect()
}

/// The sets with which tests are run: without features and with each by itself, for packages whose manifest says `tests = "run"`.
/// These are packages whose tests take seconds and behave differently with fewer features. Other tests run with the workspace,
/// and with `http` in a step of their own.
pub(crate) fn run_tests(metadata: &Value) -> BTreeSet<Set> {
    each_alone(metadata, "run").collect()
}

/// Sets without features and with each feature by itself, for the packages whose manifest has this value of `tests`.
fn each_alone<'m>(metadata: &'m Value, tests: &'m str) -> impl Iterator<Item = Set> + 'm {
    let says_so = move |package: &&Value| package["metadata"]["features"]["tests"] == *tests;
    packages(metadata).filter(says_so).flat_map(|package| {
        let alone = features_in(package).into_iter().filter(|feature| *feature != "default").map(Some);
        [None].into_iter().chain(alone).map(|feature| Set::new(name_of(package), feature))
    })
}

/// What a package that is checked alone has as the workspace has it, so that it is not compiled again for each package. The features
/// of third-party crates that the package itself names stay as it names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    /// What runs in builds, and what lies below third-party crates: the package names none of those with other features.
    Below,
    /// What runs in builds.
    Build,
    /// Nothing: the package itself runs in builds, or depends on crates that do.
    Nothing,
}

/// What each package shares.
pub(crate) fn shared(metadata: &Value) -> BTreeMap<String, Shared> {
    let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let unified = packages(metadata).find(|package| name_of(package) == UNIFIED);
    let named_by_unified = unified.map(|package| listed(&package["dependencies"])).unwrap_or_default();
    let below = unified.map(|package| listed(&package["features"]["below"])).unwrap_or_default();
    let below = below.iter().filter_map(|feature| feature.as_str()?.strip_prefix("dep:"));
    let below: BTreeMap<&str, &Value> = below
        .filter_map(|name| {
            let named = |one: &&Value| name_of(one) == name && one["kind"].is_null();
            Some((name, named_by_unified.iter().find(named)?))
        })
        .collect();
    let same = |one: &Value, other: &Value| {
        let features = |one: &Value| listed(&one["features"]).iter().map(Value::to_string).collect::<BTreeSet<_>>();
        features(one) == features(other) && one["uses_default_features"] == other["uses_default_features"]
    };
    let by_package = packages(metadata).map(|package| {
        let dependencies = listed(&package["dependencies"]);
        let runs_in_builds = |target: &Value| listed(&target["kind"]).iter().any(|kind| kind == "proc-macro");
        let shared = if dependencies.iter().any(|one| one["kind"] == "build")
            || listed(&package["targets"]).iter().any(runs_in_builds)
        {
            Shared::Nothing
        } else if dependencies
            .iter()
            .filter(|one| one["kind"] != "dev")
            .all(|one| below.get(name_of(one)).is_none_or(|unified| same(one, unified)))
        {
            Shared::Below
        } else {
            Shared::Build
        };
        (name_of(package).to_owned(), shared)
    });
    by_package.collect()
}

/// The number of features up to which a package has few.
const FEW: usize = 3;

/// The features of a package, without `default`.
pub(crate) fn features_of<'m>(metadata: &'m Value, package: &str) -> BTreeSet<&'m str> {
    let mut features = packages(metadata).find(|found| name_of(found) == package).map(features_in).unwrap_or_default();
    features.remove("default");
    features
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

/// Whether a package is published: an empty list of registries means that it is not.
fn is_published(package: &&Value) -> bool {
    package["publish"].as_array().is_none_or(|to| !to.is_empty())
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
            { "name": "program", "publish": [], "features": {}, "metadata": { "features": { "alone": true } } },
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
        assert_eq!(listed(programs(&facade())), ["program"]);
    }

    #[test]
    fn tests_are_run_or_compiled_without_features_and_with_each_alone() {
        const EACH: [&str; 4] = ["facade", "facade with fast", "facade with run", "facade with store"];
        let mut metadata = facade();
        assert_eq!([run_tests(&metadata), with_tests(&metadata)], [BTreeSet::new(), BTreeSet::new()]);
        metadata["packages"][0]["metadata"] = json!({ "features": { "tests": "run" } });
        assert_eq!(
            (listed(run_tests(&metadata)), with_tests(&metadata)),
            (EACH.map(String::from).into(), BTreeSet::new())
        );
        metadata["packages"][0]["metadata"] = json!({ "features": { "tests": "compile" } });
        assert_eq!(
            (run_tests(&metadata), listed(with_tests(&metadata))),
            (BTreeSet::new(), EACH.map(String::from).into())
        );
    }

    #[test]
    fn packages_share_what_they_do_not_name_with_other_features() {
        let lib = json!([{ "kind": ["lib"] }]);
        let low = json!({ "name": "low", "kind": null, "features": ["std"], "uses_default_features": false });
        let more = json!({ "name": "low", "kind": null, "features": ["std", "fs"], "uses_default_features": false });
        let metadata = json!({ "packages": [
            { "name": "interlocking-unified", "targets": lib, "features": { "below": ["dep:low"] }, "dependencies": [low] },
            { "name": "above", "targets": lib, "dependencies": [{ "name": "other" }, { "name": "low", "kind": "dev" }] },
            { "name": "same", "targets": lib, "dependencies": [low] },
            { "name": "more", "targets": lib, "dependencies": [more] },
            { "name": "built", "targets": lib, "dependencies": [{ "name": "other", "kind": "build" }] },
            { "name": "derive", "targets": [{ "kind": ["proc-macro"] }], "dependencies": [{ "name": "other", "kind": null }] },
        ] });
        let expected = [
            ("above", Shared::Below),
            ("built", Shared::Nothing),
            ("derive", Shared::Nothing),
            ("interlocking-unified", Shared::Below),
            ("more", Shared::Build),
            ("same", Shared::Below),
        ];
        assert_eq!(shared(&metadata), expected.map(|(name, shared)| (name.to_owned(), shared)).into());
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
