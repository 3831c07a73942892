//! rust-analyzer.

use crate::project::{PROPERTIES, STACK, calls, is_not_here, stack, started, symbol, write};
use expect_test::expect;
use interlocking_code_intelligence::{CodeError, CodeIntelligence, LanguageServer, Provider, ServerProgram};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

async fn server(project: &TempDir) -> Option<LanguageServer> {
    started(ServerProgram::rust_analyzer(), project).await
}

/// HY-156, HY-157, HY-163, HY-164, HY-165, TC-13: a file's symbols, a property's calls inside macros and through a value, and
/// types.
#[tokio::test(flavor = "multi_thread")]
async fn symbols_calls_and_types_are_known() {
    let project = stack();
    let Some(code) = server(&project).await else { return };
    let Provider::LanguageServer { name, version } = code.provider() else { panic!("{:?}", code.provider()) };
    assert_eq!((&name[..], version.is_some()), ("rust-analyzer", true));
    let symbols = code.document_symbols(Path::new("src/lib.rs")).await.unwrap();
    let told = symbols
        .iter()
        .map(|it| format!("{} {:?} {}:{} {:?}\n", it.name, it.kind, it.position.line, it.position.column, it.lines));
    expect![[r#"
        Stack Type 5:12 3..=5
        Full Type 9:12 7..=9
        Stack::push Function 12:12 12..=18
        Stack::pop Function 20:12 20..=22
        Stack::height Function 24:12 24..=26
        twice Function 29:8 29..=31
    "#]]
    .assert_eq(&told.collect::<String>());
    for (property, expected) in [
        ("prop_pop", vec!["default@4", "pop@20", "push@12"]),
        ("prop_height", vec!["default@4", "filled@4", "height@24", "push@12"]),
        ("prop_nothing", vec![]),
        ("prop_twice", vec!["twice@29"]),
    ] {
        assert_eq!(calls(&code, "tests/properties.rs", property).await, expected, "{property}");
    }
    let stack = symbol(&code, "src/lib.rs", "Stack").await;
    let said = code.hover(Path::new("src/lib.rs"), stack.position).await.unwrap().unwrap();
    assert!(said.contains("pub struct Stack(Vec<i64>)") && said.contains("Of no more than ten numbers."), "{said}");
    let nothing = code.hover(Path::new("src/lib.rs"), interlocking_code_intelligence::Position { line: 2, column: 1 });
    assert_eq!(nothing.await.unwrap(), None);
}

/// A path may begin with `./`: it is the same file.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_one_however_its_path_is_written() {
    let project = stack();
    let Some(code) = server(&project).await else { return };
    let expected = ["default@4", "filled@4", "height@24", "push@12"];
    for file in ["./tests/properties.rs", "tests/properties.rs", "tests/./properties.rs"] {
        assert_eq!(calls(&code, file, "prop_height").await, expected, "{file}");
    }
    write(&project, "tests/properties.rs", &PROPERTIES.replace("twice(x), x * 2", "2 * x, x * 2"));
    code.files_changed(&[PathBuf::from("./tests/properties.rs")]).await.unwrap();
    assert_eq!(calls(&code, "tests/properties.rs", "prop_twice").await, [""; 0]);
}

/// The server is started once, and answers again after files were changed, created, and deleted.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_change_are_seen() {
    let project = stack();
    let Some(code) = server(&project).await else { return };
    assert_eq!(calls(&code, "tests/properties.rs", "prop_twice").await, ["twice@29"]);
    write(&project, "src/lib.rs", &format!("mod more;\npub use more::thrice;\n{STACK}"));
    write(&project, "src/more.rs", "pub fn thrice(value: i64) -> i64 {\n    value * 3\n}\n");
    let asked = PROPERTIES
        .replace("{Stack, twice}", "{Stack, thrice, twice}")
        .replace("twice(x), x * 2", "thrice(x), x + twice(x)");
    write(&project, "tests/properties.rs", &asked);
    let changed = ["src/lib.rs", "src/more.rs", "tests/properties.rs"].map(PathBuf::from);
    code.files_changed(&changed).await.unwrap();
    assert_eq!(calls(&code, "tests/properties.rs", "prop_twice").await, ["thrice@1", "twice@31"]);
    std::fs::remove_file(project.path().join("src/more.rs")).unwrap();
    code.files_changed(&[PathBuf::from("src/more.rs")]).await.unwrap();
    let gone = code.document_symbols(Path::new("src/more.rs")).await.unwrap_err();
    assert!(matches!(gone, CodeError::Unreadable { .. }), "{gone}");
    assert_eq!(calls(&code, "tests/properties.rs", "prop_twice").await, ["twice@31"]);
    let outside = code.document_symbols(Path::new("../secret.rs")).await.unwrap_err();
    assert_eq!(outside.to_string(), "../secret.rs leads out of the project: give a path within it");
}

/// An agent's build script and its procedural macros are not run, nor are programs that its settings name, and the
/// server answers.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_project_is_run() {
    let project = stack();
    let at = |name: &str| project.path().join(name);
    // Each program would leave a mark in the server's temporary directory, where it could write.
    let marked = format!("ran-{}-", project.path().file_name().unwrap().display());
    let touch = |name: &str| format!("std::fs::write(std::env::temp_dir().join(\"{marked}{name}\"), \"\").unwrap();");
    write(&project, "build.rs", &format!("fn main() {{ {} }}", touch("build")));
    let programs = ["rustc", "wrapper", "workspace-wrapper", "rustdoc", "runner", "linker", "credentials", "analyzer"];
    for name in programs {
        write(&project, name, &format!("#!/bin/sh\ntouch \"$TMPDIR/{marked}{name}\"\nexec \"$@\"\n"));
        std::fs::set_permissions(at(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let configuration = format!(
        "[build]\nrustc = {:?}\nrustc-wrapper = {:?}\nrustc-workspace-wrapper = {:?}\nrustdoc = {:?}\n\
         [target.'cfg(all())']\nrunner = {:?}\nlinker = {:?}\n[registry]\nglobal-credential-providers = [{:?}]\n\
         [env]\nPATH = {{ value = {:?}, force = true }}\n",
        at("rustc"),
        at("wrapper"),
        at("workspace-wrapper"),
        at("rustdoc"),
        at("runner"),
        at("linker"),
        at("credentials"),
        std::env::join_paths([project.path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap(),
    );
    write(&project, ".cargo/config.toml", &configuration);
    let settings = format!(
        "[cargo]\nsysroot = {:?}\nbuildScripts = {{ enable = true, overrideCommand = [{:?}] }}\n[procMacro]\nenable = true\n",
        project.path(),
        at("analyzer")
    );
    write(&project, "rust-analyzer.toml", &settings);
    let manifest = "[package]\nname = \"hostile\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n[workspace]\n";
    write(&project, "hostile/Cargo.toml", manifest);
    let derive = format!(
        "#[proc_macro_derive(H)]\npub fn h(_: proc_macro::TokenStream) -> proc_macro::TokenStream {{ {} Default::default() }}",
        touch("macro")
    );
    write(&project, "hostile/src/lib.rs", &format!("extern crate proc_macro;\n{derive}"));
    let own = std::fs::read_to_string(project.path().join("Cargo.toml")).unwrap();
    write(&project, "Cargo.toml", &format!("{own}\n[dependencies]\nhostile = {{ path = \"hostile\" }}\n"));
    write(&project, "src/lib.rs", &format!("{STACK}\n#[derive(hostile::H)]\npub struct Derived;\n"));
    let Some(code) = server(&project).await else { return };
    assert_eq!(calls(&code, "tests/properties.rs", "prop_twice").await, ["twice@29"]);
    symbol(&code, "src/lib.rs", "Derived").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let directories = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let within = directories.filter_map(|directory| std::fs::read_dir(directory.ok()?.path()).ok()).flatten();
    let names = within.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    assert_eq!(names.filter(|name| name.starts_with(&marked)).collect::<Vec<_>>(), Vec::<String>::new());
}

/// A file of the project names a toolchain inside the project.
#[tokio::test(flavor = "multi_thread")]
async fn a_toolchain_of_the_project_is_not_run() {
    const NAME: &str = "rust::a_toolchain_of_the_project_is_not_run";
    // The test user's choice of a toolchain would override the project's.
    if std::env::var_os("RUSTUP_TOOLCHAIN").is_some() {
        let mut without = std::process::Command::new(std::env::current_exe().unwrap());
        assert!(without.args([NAME, "--exact"]).env_remove("RUSTUP_TOOLCHAIN").status().unwrap().success());
        return;
    }
    let project = stack();
    let (toolchain, mark) = (project.path().join("toolchain"), project.path().join("mark"));
    for name in ["rust-analyzer", "rustc", "cargo"] {
        write(&project, &format!("toolchain/bin/{name}"), &format!("#!/bin/sh\ntouch {}\n", mark.display()));
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(toolchain.join("bin").join(name), executable).unwrap();
    }
    write(&project, "rust-toolchain.toml", &format!("[toolchain]\npath = {:?}\n", toolchain.to_str().unwrap()));
    let Err(error) = LanguageServer::start(ServerProgram::rust_analyzer(), project.path()).await else {
        return assert!(!mark.exists(), "there is no rustup");
    };
    assert!(!mark.exists());
    if !is_not_here(&error) {
        let said = format!("a toolchain by its path, {}, is not run", toolchain.display());
        assert!(error.to_string().contains(&said), "{error}");
    }
}
