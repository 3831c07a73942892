//! The rules: what is allowed, and what is refused for which reason.

use super::Side;

/// The modules of the standard library that only compute. Macros are listed too, as their paths look like those of modules.
const COMPUTING: [&str; 48] = [
    "any",
    "array",
    "ascii",
    "assert",
    "assert_eq",
    "assert_ne",
    "borrow",
    "boxed",
    "cell",
    "char",
    "clone",
    "cmp",
    "collections",
    "convert",
    "debug_assert",
    "default",
    "error",
    "fmt",
    "format",
    "future",
    "hash",
    "hint",
    "io",
    "iter",
    "marker",
    "matches",
    "mem",
    "num",
    "ops",
    "option",
    "pin",
    "prelude",
    "primitive",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "sync",
    "task",
    "thread",
    "time",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Names of primitive types, which are also names of modules.
const PRIMITIVE: [&str; 15] =
    ["f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "bool"];

/// The modules that tests may use in addition: their sandbox confines them.
const OF_TESTS: [&str; 4] = ["fs", "net", "path", "ffi"];

/// Words that are refused anywhere: they mean more than safe Rust, or manipulate panics.
const WORDS: [(&str, &str); 10] = [
    ("unsafe", "it can write to the memory of the program that judges it"),
    ("extern", "it calls code that was not examined"),
    ("catch_unwind", "it hides failures"),
    ("resume_unwind", "it can imitate another failure"),
    ("panic_any", "it can imitate another failure"),
    ("set_hook", "it hears of failures before the harness does"),
    ("take_hook", "it hears of failures before the harness does"),
    ("update_hook", "it hears of failures before the harness does"),
    ("panicking", "it tells a test that fails from one that does not"),
    ("current_exe", "it looks at the program that tests it"),
];

const MACROS: [(&str, &str); 11] = [
    ("include", "it is code from a file that was not examined"),
    ("include_str", "it reads a file when it is compiled"),
    ("include_bytes", "it reads a file when it is compiled"),
    ("env", "it reads the environment when it is compiled"),
    ("option_env", "it reads the environment when it is compiled"),
    ("asm", "it is more than safe Rust"),
    ("global_asm", "it is more than safe Rust"),
    ("naked_asm", "it is more than safe Rust"),
    ("concat_idents", "it makes names that cannot be seen"),
    ("llvm_asm", "it is more than safe Rust"),
    ("cfg_select", "code must be the same where it is tested and where it is used"),
];

const ATTRIBUTES: [(&str, &str); 25] = [
    ("no_mangle", "it takes the place of another's function"),
    ("export_name", "it takes the place of another's function"),
    ("link", "it calls code that was not examined"),
    ("link_name", "it calls code that was not examined"),
    ("link_section", "it runs before its program begins"),
    ("used", "it runs before its program begins"),
    ("ctor", "it runs before its program begins"),
    ("dtor", "it runs after its program has ended"),
    ("global_allocator", "it is called at every allocation"),
    ("panic_handler", "it hears of failures before the harness does"),
    ("alloc_error_handler", "it hears of failures before the harness does"),
    ("path", "it is code from a file of another name"),
    ("macro_use", "the names that it brings in cannot be seen"),
    ("macro_export", "the tests may mean another macro by its name"),
    ("track_caller", "it tells who calls it"),
    ("feature", "it is more than stable Rust"),
    ("no_main", "it takes the harness's place"),
    ("main", "it takes the harness's place"),
    ("start", "it takes the harness's place"),
    ("test_runner", "it takes the harness's place"),
    ("reexport_test_harness_main", "it takes the harness's place"),
    ("proc_macro", "it runs while it is compiled"),
    ("proc_macro_derive", "it runs while it is compiled"),
    ("proc_macro_attribute", "it runs while it is compiled"),
    ("naked", "it is more than safe Rust"),
];

/// Crates that offer to safe code what is refused above.
const PACKAGES: [&str; 11] = [
    "libc",
    "nix",
    "rustix",
    "ctor",
    "dtor",
    "inventory",
    "linkme",
    "syscalls",
    "signal_hook",
    "windows_sys",
    "winapi",
];

/// Macros by which tests assert. No file may give their names to others.
const ASSERTIONS: [&str; 14] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "assert_matches",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "prop_assert",
    "prop_assert_eq",
    "prop_assert_ne",
    "prop_assume",
    "proptest",
    "matches",
];

/// Other macros whose arguments are code: of the standard library, of `proptest`, and of `quote`.
const CODE_MACROS: [&str; 19] = [
    "dbg",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "parse_quote",
    "print",
    "println",
    "prop_compose",
    "prop_oneof",
    "quote",
    "quote_spanned",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Attributes without effect in stable code that has neither `unsafe` nor `extern`. As words they are common.
const COMMON_WORDS: [&str; 5] = ["feature", "link", "main", "start", "used"];

/// The names that a condition may contain: properties of the target, and features.
const CONDITIONS: [&str; 14] = [
    "feature",
    "unix",
    "windows",
    "target_os",
    "target_arch",
    "target_family",
    "target_env",
    "target_endian",
    "target_pointer_width",
    "target_vendor",
    "target_has_atomic",
    "not",
    "any",
    "all",
];

/// The rules for one side.
pub(super) struct Rules(Side);

impl Rules {
    pub(super) fn of(side: Side) -> Self {
        Self(side)
    }

    pub(super) fn is_implementation(&self) -> bool {
        self.0 == Side::Implementation
    }

    pub(super) fn is_primitive(name: &str) -> bool {
        PRIMITIVE.contains(&name)
    }

    pub(super) fn word(name: &str) -> Option<&'static str> {
        reason(&WORDS, name)
    }

    pub(super) fn macro_named(&self, name: &str) -> Option<&'static str> {
        reason(&MACROS, name).filter(|_| !(self.0 == Side::Tests && name == "env"))
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'static str> {
        let is_of_tests = self.0 == Side::Tests && matches!(name, "path" | "main" | "macro_use" | "track_caller");
        reason(&ATTRIBUTES, name).filter(|_| !is_of_tests)
    }

    /// Why a word is refused where a macro may make it an attribute's name.
    pub(super) fn attribute_word(&self, name: &str) -> Option<&'static str> {
        self.attribute(name).filter(|_| !COMMON_WORDS.contains(&name))
    }

    /// Why a word is refused where a macro may make it a macro's name.
    pub(super) fn macro_word(&self, name: &str) -> Option<&'static str> {
        let is_general = matches!(name, "cfg" | "macro_rules");
        self.macro_named(name).or(is_general.then_some("a macro can make a call of it that cannot be seen"))
    }

    pub(super) fn package(name: &str) -> Option<&'static str> {
        PACKAGES.contains(&name).then_some("it gives safe code what is otherwise refused")
    }

    pub(super) fn is_module_allowed(&self, name: &str) -> bool {
        COMPUTING.contains(&name)
            || PRIMITIVE.contains(&name)
            || (self.0 == Side::Tests && OF_TESTS.contains(&name))
            || matches!(name, "print" | "println" | "eprint" | "eprintln" | "dbg" | "thread_local" | "cfg")
    }

    pub(super) fn module(name: &str) -> &'static str {
        match name {
            "process" => "it can end the program that tests it, with whatever exit code",
            "env" => "it tells which program runs it, and how that was called",
            "fs" | "path" | "os" => "it can look at the program that tests it",
            "net" => "it can get answers over the network",
            "ffi" | "arch" | "alloc" | "intrinsics" | "ptr" => "it is of use only to more than safe Rust",
            "backtrace" => "it tells who calls it",
            "panic" => "it hides failures, hears of them before the harness does, and tells who calls",
            _ => "it is not among the modules that only compute",
        }
    }

    pub(super) fn is_assertion(name: &str) -> bool {
        ASSERTIONS.contains(&name)
    }

    /// Whether the arguments of a macro are code.
    pub(super) fn takes_code(name: &str) -> bool {
        ASSERTIONS.contains(&name) || CODE_MACROS.contains(&name)
    }

    pub(super) fn is_condition_allowed(&self, name: &str) -> bool {
        CONDITIONS.contains(&name) || (self.0 == Side::Tests && name == "test")
    }
}

fn reason(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}
