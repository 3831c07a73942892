//! Text that is written to crash its reader: every check ends with a result.

use interlocking_rust_source::{
    Denied, Exercise, MAX_BYTES, MAX_DEPTH, PublicApi, Rebased, Side, Sources, StubMarkers, TestFile, called_names,
    denied_code, hidden_functions, mutants, public_functions, refused_constructs, rewritten_by_rebase, stubs_in,
    symbols, test_functions,
};

/// Runs every check. The results do not matter here: a stack overflow would end the process.
fn check_all(text: &str) -> Result<(), String> {
    let markers = StubMarkers::default();
    let own_markers = StubMarkers::parse(["undefined()", "{ a; }"]).map_err(|error| error.to_string())?;
    let sources =
        Sources { library: "own", implementation: ("src/lib.rs", text), tests: ("tests/p.rs", text), prefix: "prop_" };
    let denied = Denied { unsafe_code: true, crates: vec!["a".to_owned()], paths: vec!["A::a".to_owned()] };
    let rebased = Rebased { old_base: text, old_tip: text, new_base: text, merged: Some(text), new_tip: text };
    let mut all = vec![
        public_functions("src/lib.rs", text, &markers).map(drop),
        hidden_functions("src/lib.rs", text, &markers, &[]).map(drop),
        refused_constructs("src/lib.rs", text, Side::Implementation, &[]).map(drop),
        test_functions("src/lib.rs", text).map(drop),
        stubs_in("src/lib.rs", text, &markers).map(drop),
        denied_code("src/lib.rs", text, &denied).map(drop),
        rewritten_by_rebase("src/lib.rs", rebased).map(drop),
        TestFile::read(sources).map(drop),
        mutants("src/lib.rs", text).map(drop),
        symbols("src/lib.rs", text).map(drop),
        called_names("src/lib.rs", text).map(drop),
        stubs_in("src/lib.rs", text, &own_markers).map(drop),
    ];
    all.drain(..).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    PublicApi::of_file("src/lib.rs", text).map(drop).map_err(|error| error.to_string())
}

/// Syntax with this nesting depth, as the body of a property.
fn deep(times: usize) -> Vec<(&'static str, String)> {
    let body = |text: String| format!("#[test] fn prop_x() {{ {text} }}");
    let item = |text: String| text;
    let again = |text: &str| text.repeat(times);
    let around = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
    vec![
        ("parentheses", body(around("(", "1", ")"))),
        ("brackets", body(around("[", "1", "]"))),
        ("braces", body(around("{", "1", "}"))),
        ("calls", body(around("f(", "1", ")"))),
        ("macros", body(around("assert!(", "1", ")"))),
        ("vectors", body(around("vec![", "1", "]"))),
        ("modules", item(around("mod m {", "", "}"))),
        ("functions", item(around("fn f() {", "", "}"))),
        ("not", body(format!("{}1", again("!")))),
        ("minus", body(format!("{}1", again("-")))),
        ("references", body(format!("{}1", again("&")))),
        ("dereferences", body(format!("{}x", again("*")))),
        ("returns", body(format!("{}1", again("return ")))),
        ("closures", body(format!("{}1", again("|| ")))),
        ("closures with arguments", body(format!("{}1", again("|a, b| ")))),
        ("assignments", body(format!("{}1", again("a = ")))),
        ("sums", body(format!("{}1", again("1 + ")))),
        ("comparisons and sums", body(format!("{}1", again("1 + 2 * ")))),
        ("methods", body(format!("x{}", again(".f()")))),
        ("fields", body(format!("x{}", again(".a")))),
        ("questions", body(format!("x{}", again("?")))),
        ("indices", body(format!("x{}", again("[0]")))),
        ("casts", body(format!("x{}", again(" as u8")))),
        ("else if", body(format!("if a {{}} {} {{}}", again("else if a {} ").trim_end()).replace("  {}", " else {}"))),
        ("if in if", body(format!("{}a{}", again("if "), again(" {}")))),
        ("match in match", body(format!("{}a{}", again("match "), again(" {}")))),
        ("for in for", body(format!("{}a{}", again("for A {} in "), again(" {}")))),
        ("unsafe", body(around("unsafe {", "", "}"))),
        ("types in angles", item(format!("type T = {}u8{};", again("A<"), again(">")))),
        ("types in angles after commas", item(format!("type T = {}u8{};", again("A<u8, "), again(">")))),
        (
            "types in angles after shifts",
            body(format!("{}1; let x: {}u8{};", again("1 >> "), again("A<u8, "), again(">"))),
        ),
        ("types in angles after numbers", item(format!("type T = {}u8{};", again("A<1, "), again(">")))),
        ("types of traits in angles", item(format!("type T = {}u8{};", again("A<<u8 as T>::X, "), again(">")))),
        ("types in types of traits", item(format!("type T = {}u8{};", again("A<<"), again(" as T>::X>")))),
        ("borrowed types", item(format!("type T = {}u8;", again("&")))),
        ("pointers", item(format!("type T = {}u8;", again("*const ")))),
        ("functions that give functions", item(format!("type T = {}u8;", again("fn() -> ")))),
        ("patterns", body(format!("let {}x = 1;", again("&")))),
        ("patterns in patterns", body(format!("let {}x = 1;", again("a @ ")))),
        ("imports", item(format!("use {}a;", again("a::")))),
        ("imports in braces", item(format!("use {};", around("a::{", "a", "}")))),
        ("attributes", item(format!("{} fn f() {{}}", around("#[a(", "1", ")]")))),
        ("bounds", item(format!("fn f<T: {}A>() {{}}", again("for<'a> ")))),
        ("guards", body(format!("match a {{ {} => 1 }}", again("A {} if ")))),
        ("open", again("(")),
        ("open braces", again("fn f() {")),
        ("open angles", item(format!("fn f() {{ {}", again("a::<")))),
    ]
}

/// Names, aliases, closures and functions that refer to each other in cycles.
#[test]
fn whatever_goes_round_in_circles_comes_to_an_end() {
    let many = |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<String>();
    let globs =
        many(12, &|at| format!("mod m{at} {{ {} }}", many(12, &|other| format!("pub use super::m{other}::*;"))));
    let chain = many(2_000, &|at| format!("fn f{at}() {{ f{}() }}", at + 1));
    let closures = many(2_000, &|at| format!("let c{at} = || 1;"));
    let methods = format!("struct S; impl S {{ {} }}", many(3_000, &|at| format!("fn m{at}(&self) {{ 1 + 1; }}")));
    for (name, text) in [
        ("aliases of each other", "type A = B; type B = A; #[test] fn prop_x() { let a: A = 1; a.f(); }".to_owned()),
        ("alias of itself", "type A = Option<A>; #[test] fn prop_x(a: A) {}".to_owned()),
        ("imports of each other", "use self::b as a; use self::a as b; #[test] fn prop_x() { a(); }".to_owned()),
        ("all from all", format!("{globs} use m0::*; #[test] fn prop_x() {{ nowhere(); }}")),
        ("functions in a row", format!("{chain} #[test] fn prop_x() {{ f0(); }}")),
        ("a function of itself", "fn f() { f() } #[test] fn prop_x() { f(); }".to_owned()),
        ("closures that keep closures", format!("#[test] fn prop_x() {{ {closures} }}")),
        ("methods", methods),
        ("calls in one line", format!("#[test] fn prop_x() {{ {} }}", "f();".repeat(20_000))),
        ("words in braces", format!("fn f() {{ {}{}{} }}", "{".repeat(500), "a;".repeat(2_000), "}".repeat(500))),
    ] {
        assert!(text.len() <= MAX_BYTES, "{name}");
        assert_eq!(check_all(&text), Ok(()), "{name}");
    }
}

/// What was not followed to its end is not reported as followed.
#[test]
fn what_was_left_undone_is_said() {
    let chain: String = (0..400).map(|at| format!("fn f{at}() {{ f{}() }}\n", at + 1)).collect();
    let tests = format!("{chain} fn f400() {{ own::pop(); }}\n#[test] fn prop_x() {{ f0(); }}");
    let implementation = ("src/lib.rs", "pub fn pop() {}");
    let file =
        TestFile::read(Sources { library: "own", implementation, tests: ("tests/p.rs", &tests), prefix: "prop_" })
            .unwrap();
    let said = "the file is too long or too tangled to be followed to its end; write it more plainly";
    assert_eq!(file.calls(&file.tests[0], "pop"), Exercise::Unclear(said.to_owned()));
}

#[test]
fn whatever_is_nested_is_read_or_refused_with_its_place() {
    for times in [100, MAX_DEPTH / 4, MAX_DEPTH - 64, MAX_DEPTH * 2] {
        for (name, text) in deep(times) {
            if text.len() > MAX_BYTES {
                continue;
            }
            let said = check_all(&text);
            if times > MAX_DEPTH && !name.starts_with("open") {
                let said = said.expect_err(name);
                assert!(said.contains("nested deeper than") || said.contains("not valid Rust"), "{name}: {said}");
            }
        }
    }
}

/// A text in an attribute is also parsed as tokens.
#[test]
fn what_is_nested_in_a_text_is_read_or_refused() {
    let deep = MAX_BYTES / 2 - 64;
    let text = format!("#[a = \"std::{}{}\"] fn f() {{}}", "(".repeat(deep), ")".repeat(deep));
    let found = refused_constructs("src/lib.rs", &text, Side::Implementation, &[]).unwrap();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.to_string(), "src/lib.rs:1:7: `text` is refused: it is nested too deep to be read");
}

/// Text whose names are many: the time that it takes grows with its length, and not with the square of it.
#[test]
fn what_is_long_is_read_in_one_pass() {
    let many = |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<String>();
    let aliases = many(4_000, &|at| format!("pub use a as b{at};"));
    let text = "mod a {}".repeat(40_000) + &aliases;
    assert!(PublicApi::of_file("src/lib.rs", &text).is_err(), "each alias means every module of that name");

    for (name, tests) in [("tests", "#[test]fn prop_a(){}\n".repeat(10_000)), ("modules", "mod a{}".repeat(40_000))] {
        let implementation = ("src/lib.rs", "");
        let sources = Sources { library: "own", implementation, tests: ("tests/p.rs", &tests), prefix: "prop_" };
        assert_eq!(TestFile::read(sources).unwrap().tests.len(), tests.matches("prop_a").count(), "{name}");
    }
}

/// Modules that re-export each other one through the other.
#[test]
fn a_long_chain_of_glob_imports_is_followed_or_refused() {
    let chain = |length: usize| {
        let module = |at: usize| format!("mod m{at} {{ pub use super::m{}::*; }}\n", at + 1);
        (0..length).map(module).collect::<String>() + &format!("mod m{length} {{ pub struct S; }} pub use m0::*;")
    };
    for (length, is_followed) in [(2_000, true), (20_000, false)] {
        let text = chain(length);
        let api = PublicApi::of_file("src/lib.rs", &text);
        assert_eq!(api.is_ok_and(|api| api.items[0].path == "S"), is_followed, "{length}");
    }
    // A name that only the last module has.
    let named = chain(20_000).replace("pub use m0::*;", "pub use m0::S;");
    assert_eq!(PublicApi::of_file("src/lib.rs", &named).unwrap().items[0].path, "S");
}
