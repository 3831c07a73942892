//! The paths that all programs need, and the paths of some tools.
//!
//! No preset grants a whole home directory, other programs' files in `/proc`, or anything in `/run`, `/tmp` and `/dev/shm`.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::{
    cargo_files::CargoFiles,
    git_settings::GitFiles,
    grant::{Access, Grant},
    secrets::{Format, Settings},
};

/// Programs and libraries.
const PROGRAMS: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// The files in `/etc` that libraries read, without those of services.
const SETTINGS: [&str; 37] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/gitattributes",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];

/// Devices that store nothing. Terminals are left out: a program that can open one could insert input into it.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Files that describe the machine. The rest of `/proc` describes other programs, with their command lines and environments. A
/// program's own links, such as `/proc/self/exe` and `/dev/stdin`, need no grant.
const MACHINE: [&str; 12] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
];

pub(crate) fn system() -> impl Iterator<Item = Grant> {
    let programs = PROGRAMS.iter().map(|path| Grant::optional(path, Access::Execute));
    let settings = SETTINGS.iter().chain(&MACHINE).map(|path| Grant::optional(path, Access::Read));
    let devices = DEVICES.iter().map(|path| Grant::optional(path, Access::Device));
    programs.chain(settings).chain(devices)
}

/// The program, and the directory that contains it (links resolved), if that is a directory of programs or lies in a package
/// below `node_modules`. A bare name is searched in `path`, a value of `PATH`.
pub(crate) fn tool_chain_of(program: &OsStr, path: &OsStr) -> Vec<Grant> {
    let Some(found) = find(program, path) else { return Vec::new() };
    let Ok(real) = std::fs::canonicalize(&found) else { return Vec::new() };
    let mut grants = vec![Grant::optional(real.clone(), Access::Execute)];
    if let Some(directory) = real.parent().filter(|directory| holds_programs(directory)) {
        grants.push(Grant::optional(directory, Access::Execute));
    }
    grants
}

/// Whether a directory contains programs only, judged by its name or path. A program can also be in a home directory or in
/// `/tmp`, which must not be granted.
fn holds_programs(directory: &Path) -> bool {
    let is_named = |name: &OsStr| ["bin", "sbin", "libexec"].iter().any(|expected| name == *expected);
    directory.file_name().is_some_and(is_named)
        || directory.parent().is_some_and(|parent| parent.iter().any(|part| part == "node_modules"))
}

fn find(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program)).filter(|found| found.is_file());
    }
    std::env::split_paths(path).map(|directory| directory.join(program)).find(|found| found.is_file())
}

/// The installed cargo and rustup, and fetched dependencies. The files with credentials are not granted.
pub(crate) fn cargo(cargo_home: &Path, rustup_home: &Path) -> Vec<Grant> {
    let executable =
        [rustup_home.to_owned(), cargo_home.join("bin")].map(|path| Grant::optional(path, Access::Execute));
    let readable = ["registry", "git", "env"].map(|name| Grant::optional(cargo_home.join(name), Access::Read));
    executable.into_iter().chain(readable).collect()
}

/// The files that decide how cargo builds, as far as they are what their names say: an agent can commit an include or a link
/// that leads to anything. The returned settings must be checked for secrets.
pub(crate) fn cargo_files(files: CargoFiles) -> (Vec<Grant>, Vec<Settings>) {
    let CargoFiles { mut settings, mut others } = files;
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let has_its_name = |path: &Path| real(path).file_name() == path.file_name();
    let is_toml = |path: &Path| real(path).extension().is_some_and(|extension| extension == "toml");
    let is_hidden = |path: &Path| real(path).is_dir() || real(path).ends_with("credentials.toml");
    settings.retain(|path| (has_its_name(path) || is_toml(path)) && !is_hidden(path));
    // These are not checked, so no link may lead to other settings.
    others.retain(|path| has_its_name(path) && !is_hidden(path));
    let grants = settings.iter().chain(&others).map(|path| Grant::optional(path, Access::Read)).collect();
    (grants, settings.into_iter().map(|path| Settings::new(path, Format::Cargo)).collect())
}

/// The user's git configuration, ignore rules and attributes, with the files that the configuration names. Files in
/// which git keeps credentials are not granted.
pub(crate) fn git(home: &Path) -> (Vec<Grant>, Vec<Settings>) {
    let GitFiles { mut settings, rules } = GitFiles::of(home);
    settings.retain(|path| !path.is_dir());
    let grants = settings.iter().chain(&rules).map(|path| Grant::optional(path, Access::Read)).collect();
    (grants, settings.into_iter().map(|path| Settings::new(path, Format::Git)).collect())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// An agent can commit settings and links, and its commit may land in a directory above the places.
    #[test]
    fn of_what_cargos_settings_include_only_settings_are_granted() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["home/sub.toml", "above/.cargo/d"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        let home = at("home");
        let includes = ["/", "../../home/sub.toml", "../../home/credentials.toml", "../../home/key"].map(str::to_owned);
        let links = ["a.toml", "b.toml", "c.toml", "d/e.toml"].map(str::to_owned);
        let files = ["settings.toml", "absent.toml"].map(str::to_owned);
        let include: Vec<_> = includes.iter().chain(&links).chain(&files).collect();
        for (name, text) in [
            ("above/.cargo/config.toml", format!("include = {include:?}\n").as_str()),
            ("above/.cargo/settings.toml", ""),
            ("home/credentials.toml", "[registry]\ntoken = 'x'\n"),
            ("home/credentials", ""),
            ("home/key", ""),
            ("home/other.toml", "token = 'x'"),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        for (target, link) in [
            ("home", "above/.cargo/a.toml"),
            ("home/credentials", "above/.cargo/b.toml"),
            ("home/key", "above/.cargo/c.toml"),
            ("above/.cargo/settings.toml", "above/.cargo/d/e.toml"),
            ("home/other.toml", "above/Cargo.toml"),
            ("home", "above/rust-toolchain"),
            ("home", "above/.cargo/config"),
        ] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let files = CargoFiles::with_homes(&at("above"), Some(&home), Some(&home));
        let (grants, settings) = cargo_files(files);
        let granted = |path: &Path| grants.iter().any(|grant| grant.path == path);
        for name in ["config.toml", "settings.toml", "absent.toml", "d/e.toml"] {
            let path = at("above/.cargo").join(name);
            assert!(granted(&path) && settings.iter().any(|one| one.path == path), "{name}");
        }
        assert!(granted(&at("above/rust-toolchain.toml")));
        for hidden in ["", "sub.toml", "credentials.toml", "credentials", "key", "other.toml"] {
            let hidden = std::fs::canonicalize(home.join(hidden)).unwrap();
            assert!(!grants.iter().any(|grant| grant.covers(&hidden)), "{hidden:?}");
        }
        assert!(settings.iter().all(|one| one.secrets() == Ok(Vec::new())), "{settings:?}");
    }

    fn granted(program: &Path) -> Vec<PathBuf> {
        tool_chain_of(program.as_os_str(), OsStr::new("")).into_iter().map(|grant| grant.path).collect()
    }

    #[test]
    fn beside_a_program_only_programs_are_granted() {
        let home = tempfile::tempdir().unwrap();
        let home = std::fs::canonicalize(home.path()).unwrap();
        let program = |path: &str| {
            let file = home.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            file
        };
        let loose = program("agent");
        assert_eq!(granted(&loose), [loose]);
        let installed = program(".local/bin/agent");
        assert_eq!(granted(&installed), [installed.clone(), home.join(".local/bin")]);
        let script = program("lib/node_modules/agent/cli.js");
        assert_eq!(granted(&script), [script.clone(), home.join("lib/node_modules/agent")]);
        assert_eq!(granted(&home.join("absent")), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_program_is_found_in_the_path_and_behind_links() {
        let directory = tempfile::tempdir().unwrap();
        let directory = std::fs::canonicalize(directory.path()).unwrap();
        std::fs::create_dir_all(directory.join("opt/bin")).unwrap();
        std::fs::create_dir_all(directory.join("links")).unwrap();
        std::fs::write(directory.join("opt/bin/tool"), "").unwrap();
        std::os::unix::fs::symlink("../opt/bin/tool", directory.join("links/tool")).unwrap();
        let path = std::env::join_paths([directory.join("empty"), directory.join("links")]).unwrap();
        let grants = tool_chain_of(OsStr::new("tool"), &path);
        assert_eq!(grants[0].path, directory.join("opt/bin/tool"));
        assert_eq!(grants[1].path, directory.join("opt/bin"));
    }
}
