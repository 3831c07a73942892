//! The paths that programs need everywhere, and those of some tools.
//!
//! Nothing here reaches a home directory as a whole, other programs in `/proc`, `/run`, `/tmp` or `/dev/shm`.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::grant::{Access, Grant};

/// Programs and libraries.
const PROGRAMS: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// Of `/etc` what libraries read, and not what services keep there.
const SETTINGS: [&str; 33] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/environment",
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
    "/etc/pki",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/terminfo",
    "/etc/timezone",
];

/// Devices without a memory. No terminal: whoever writes to one could type into it.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Facts about the machine. The rest of `/proc` is other programs: their command lines, their environment. A program's
/// own links, such as `/proc/self/exe` and `/dev/stdin`, need no grant.
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
    let programs = PROGRAMS.iter().map(|path| Grant::may(path, Access::Execute));
    let settings = SETTINGS.iter().chain(&MACHINE).map(|path| Grant::may(path, Access::Read));
    let devices = DEVICES.iter().map(|path| Grant::may(path, Access::Device));
    programs.chain(settings).chain(devices)
}

/// The program, the links on the way to it and the directory that it really lies in. Its name is looked for in `PATH`
/// unless it is a path.
pub(crate) fn tool_chain_of(program: &OsStr, path: &OsStr) -> Vec<Grant> {
    let Some(found) = find(program, path) else { return Vec::new() };
    let Ok(real) = std::fs::canonicalize(&found) else { return Vec::new() };
    let mut grants = vec![Grant::may(found, Access::Execute), Grant::may(real.clone(), Access::Execute)];
    // A program often reads what lies beside it. A directory of unrelated programs shows no more than programs.
    if let Some(directory) = real.parent().filter(|directory| directory.parent().is_some()) {
        grants.push(Grant::may(directory, Access::Execute));
    }
    grants
}

fn find(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program)).filter(|found| found.is_file());
    }
    std::env::split_paths(path).map(|directory| directory.join(program)).find(|found| found.is_file())
}

/// Cargo and rustup as they are installed: tool chains, and dependencies that were fetched before. Not the credentials.
pub(crate) fn cargo(cargo_home: &Path, rustup_home: &Path) -> Vec<Grant> {
    let mut grants =
        vec![Grant::may(rustup_home, Access::Execute), Grant::may(cargo_home.join("bin"), Access::Execute)];
    for readable in ["registry", "git", "config.toml", "config", "env"] {
        grants.push(Grant::may(cargo_home.join(readable), Access::Read));
    }
    grants
}

/// What git reads of the user's: name, ignore rules, filters. Not the credentials.
pub(crate) fn git(home: &Path) -> Vec<Grant> {
    [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"]
        .iter()
        .map(|file| Grant::may(home.join(file), Access::Read))
        .collect()
}
