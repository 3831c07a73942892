//! What the builds of several checkouts share. A crate with two dependencies is compiled.

use interlocking_toolchain::{Checkout, KnownTests, Runner, TestRun, Toolchain};
use std::fs;
use std::path::Path;

const KNOWN: KnownTests<'_> =
    KnownTests { names: &[], test_path: "tests/p.rs", implementation_path: Some("src/lib.rs") };

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{rest}")
}

/// A checkout of a crate that depends on `shared` of a registry and on its own `inner`, which is no member of its workspace.
fn lay_out(at: &Path, number: usize, profile: &str) -> Checkout {
    let dependencies = "[dependencies]\nshared = \"1\"\ninner = { path = \"inner\" }\n";
    write(&at.join("Cargo.toml"), &manifest("victim", &format!("{dependencies}{profile}")));
    let locked = |name: &str, rest: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n{rest}\n");
    let source = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let packages = [("inner", ""), ("shared", source), ("victim", "dependencies = [\"inner\", \"shared\"]\n")];
    let packages: String = packages.into_iter().map(|(name, rest)| locked(name, rest)).collect();
    write(&at.join("Cargo.lock"), &format!("version = 4\n\n{packages}"));
    write(&at.join("inner/Cargo.toml"), &manifest("inner", ""));
    write(&at.join("inner/src/lib.rs"), &format!("pub fn number() -> usize {{ {number} }}\n"));
    write(&at.join("src/lib.rs"), "pub fn number() -> usize { shared::same(inner::number()) }\n");
    write(
        &at.join("tests/p.rs"),
        &format!("#[test]\nfn prop_number() {{ assert_eq!(victim::number(), {number}); }}\n"),
    );
    Checkout::at(at)
}

/// A dependency from a registry is compiled once for all checkouts. A path dependency differs between them, whether or not it is a
/// member of the workspace. Profiles that the crate sets for its dependencies stay possible.
#[tokio::test(flavor = "multi_thread")]
async fn checkouts_share_the_dependencies_of_a_registry_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let (checkouts, target) = (place.path().join("checkouts"), place.path().join("target"));
    let vendored = place.path().join("vendored");
    write(&vendored.join("shared/Cargo.toml"), &manifest("shared", ""));
    write(&vendored.join("shared/src/lib.rs"), "pub fn same(number: usize) -> usize { number }\n");
    write(&vendored.join("shared/.cargo-checksum.json"), "{\"files\":{}}");
    let source =
        format!("[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = {vendored:?}\n");
    write(&checkouts.join(".cargo/config.toml"), &source);
    let toolchain = Toolchain { readable_paths: vec![vendored], ..Toolchain::default() };
    let every = "[profile.dev.package.\"*\"]\nopt-level = 1\n";
    let one = "[profile.dev.package.shared]\nopt-level = 2\n";
    // All files are older than the first build.
    let laid_out: Vec<Checkout> = ["", "", every, every, one, one]
        .iter()
        .enumerate()
        .map(|(number, profile)| lay_out(&checkouts.join(number.to_string()), number, profile))
        .collect();
    let runner = Runner::new(toolchain, &target, &checkouts).unwrap();
    let compiled = |name: &str| {
        let names = fs::read_dir(target.join("verdicts/debug/deps")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|file| file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")).count()
    };
    for (checkout, shared) in laid_out.iter().zip([1, 1, 2, 2, 3, 4]) {
        let run = runner.test(checkout, KNOWN).await.unwrap();
        assert!(matches!(&run, TestRun::Ran(outcome) if outcome.passed == ["prop_number"]), "{run:?}");
        assert_eq!(compiled("shared"), shared, "{checkout:?}");
    }
    assert_eq!(compiled("inner"), laid_out.len());
}
