//! Configuration, attributes and ignore rules that an agent writes.

use crate::{
    arena::{Arena, Target},
    noise::Noise,
};

pub(crate) fn any(arena: &Arena, target: Target, noise: &mut Noise) {
    let victim = arena.victim();
    let precious = victim.join("precious.txt").display().to_string();
    // A program that would leave a trace in the victim.
    let program = format!("touch {}", victim.join("ran").display());
    let mut lines = Vec::new();
    for _ in 0..=noise.below(4) {
        let section = *noise.pick(&[
            "core",
            "filter \"x\"",
            "merge \"x\"",
            "diff \"x\"",
            "extensions",
            "include",
            "includeIf \"gitdir:/\"",
            "index",
            "gitoxide \"objects\"",
            "interlocking \"limits\"",
            "remote \"x\"",
            "alias",
            "core][",
        ]);
        let key = *noise.pick(&[
            "worktree",
            "bare",
            "hooksPath",
            "fsmonitor",
            "attributesFile",
            "excludesFile",
            "path",
            "clean",
            "smudge",
            "process",
            "driver",
            "required",
            "repositoryFormatVersion",
            "partialClone",
            "objectFormat",
            "worktreeConfig",
            "refStorage",
            "autocrlf",
            "eol",
            "symlinks",
            "fileMode",
            "ignoreCase",
            "allocLimit",
            "index",
            "threads",
            "logAllRefUpdates",
            "compression",
            "bigFileThreshold",
            "deltaBaseCacheLimit",
            "sparseCheckout",
            "splitIndex",
            "abbrev",
        ]);
        let value = match noise.below(12) {
            0 => precious.clone(),
            1 => victim.display().to_string(),
            2 | 3 => program.clone(),
            4 => "./tool".to_owned(),
            5 => (*noise.pick(&[
                "0",
                "1",
                "-1",
                "99999999999999999999",
                "true",
                "false",
                "always",
                "sha256",
                "reftable",
            ]))
            .to_owned(),
            6 => "/dev/zero".to_owned(),
            7 => "config".to_owned(),
            8 => "\\\n".repeat(noise.below(2_000)),
            9 => "\"".to_owned(),
            _ => "x".repeat(noise.below(3_000)),
        };
        lines.push(format!("[{section}]\n\t{key} = {value}\n"));
    }
    if noise.one_in(20) {
        lines.push("[a]\n".repeat(1 << noise.below(19)));
    }
    let file = arena.common_directory(target).join("config");
    let before = std::fs::read_to_string(&file).unwrap();
    let text = if noise.one_in(4) { lines.concat() } else { before + &lines.concat() };
    std::fs::write(&file, text).unwrap();

    let rules = [
        "* filter=x\n",
        "*.txt merge=x diff=x text eol=crlf\n",
        "[attr]a b c\n",
        "* working-tree-encoding=UTF-16\n",
        "*\n",
        "/**/\n",
        "!a.txt\n",
        "\\",
        "[[:alpha:]]*[!a-z]\n",
        "**/**/**/**/**/**/**/**/x\n",
        "\0\n",
    ];
    for name in [".gitattributes", ".gitignore", "src/.gitattributes", "src/.gitignore", ".gitmodules"] {
        if noise.one_in(3) {
            let count = if noise.one_in(20) { 20_000 } else { noise.below(10) };
            let text: String = (0..count).map(|_| *noise.pick(&rules)).collect();
            std::fs::write(arena.place(target).join(name), text).unwrap();
        }
    }
    for name in ["info/exclude", "info/attributes"] {
        if noise.one_in(4) {
            let file = arena.common_directory(target).join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let text: String = (0..noise.below(10)).map(|_| *noise.pick(&rules)).collect();
            std::fs::write(file, text).unwrap();
        }
    }
    std::fs::write(arena.place(target).join("tool"), format!("#!/bin/sh\n{program}\ncat\n")).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    let _ = std::fs::set_permissions(arena.place(target).join("tool"), std::fs::Permissions::from_mode(0o755));
}
