use expect_test::{Expect, expect};
use interlocking_agents::scripted::Problem;
use interlocking_agents::{Script, ScriptError};

fn error(text: &str) -> String {
    Script::parse("script.toml", text).unwrap_err().to_string()
}

/// Checks the errors of scripts with one turn that begins like this, as the user reads them.
#[track_caller]
fn check(turns: &[&str], expected: Expect) {
    let told: String = turns.iter().map(|turn| error(&format!("[[turn]]\n{turn}")) + "\n").collect();
    expected.assert_eq(&told);
}

#[test]
fn a_mistake_in_a_turn_is_named_with_its_place_and_field() {
    check(
        &[
            "contain = [\"a\"]",
            "contains = \"a\"",
            "\ncontains = [\"a\", 3]",
            "session = \"new\"",
            "times = 0",
            "times = \"often\"",
            "times = 1.5",
            "delay = \"soon\"",
            "delay = 3",
            "cost = -1",
            "tokens = { inputs = 1 }",
            "tokens = { input = -1 }",
            "fail = \"meteor\"",
            "output = { a = nan }",
            "output_json = '{ \"a\": }'",
            "output = 1\noutput_json = '1'",
            "output = 1\nfail = \"crash\"",
            "output = 1\ndecide = [{ tool = \"A\" }]",
            "decide = [{ tool = \"A\" }]\nfail = \"crash\"",
            "fail = \"crash\"\nretry_after = \"5s\"",
            "[[turn.decide]]\ninput = { a = 1 }",
            "[[turn.decide]]\ntool = 3",
            "[[turn.decide]]\ntool = \"A\"\ninputs = {}",
            "[[turn.decide]]\ntool = \"A\"\ninput = { a = inf }",
            "text = \"a\"\ntext = \"b\"",
        ],
        expect![[r#"
            script.toml:2:1: `turn.contain`: there is no such field (did you mean `contains`?); the fields are `agent`, `contains`, `session`, `times`, `delay`, `write`, `append`, `replace`, `remove`, `run`, `commit`, `output`, `output_json`, `decide`, `text`, `cost`, `tokens`, `fail` and `retry_after`
            script.toml:2:12: `turn.contains`: expected a list, found "a"
            script.toml:3:18: `turn.contains`: expected text, found `3`
            script.toml:2:11: `turn.session`: expected `fresh`, `continue` or `fork`, found "new"
            script.toml:2:9: `turn.times`: expected a number from 1, or "any", found `0`
            script.toml:2:9: `turn.times`: expected a number from 1, or "any", found "often"
            script.toml:2:9: `turn.times`: expected a number from 1, or "any", found `1.5`
            script.toml:2:9: `turn.delay`: "soon" is not a duration: write a whole number and ms, s, m or h, like "300ms"
            script.toml:2:9: `turn.delay`: expected text, found `3`
            script.toml:2:8: `turn.cost`: -1 is not a cost in dollars: use a number from 0 to 1,000,000,000
            script.toml:2:12: `turn.tokens.inputs`: there is no such field (did you mean `input`?); the fields are `input` and `output`
            script.toml:2:20: `turn.tokens.input`: expected a whole number from 0 to 18446744073709551615, found `-1`
            script.toml:2:8: `turn.fail`: expected `rate_limited`, `overloaded`, `connection`, `refused`, `prompt_too_long`, `step_limit`, `budget_limit` or `crash`, found "meteor"
            script.toml:2:16: `turn.output`: NaN is not a number in JSON
            script.toml:2:15: `turn.output_json`: not JSON: expected value at line 1 column 8
            script.toml:3:15: `turn.output_json`: give `output` or `output_json`, not both
            script.toml:3:8: `turn.fail`: a turn that fails gives no output
            script.toml:3:10: `turn.decide`: give an output or decide, not both
            script.toml:3:8: `turn.fail`: a turn that fails decides nothing
            script.toml:3:15: `turn.retry_after`: only `fail = "rate_limited"` says when to try again
            script.toml:2:1: `turn.decide`: the field `tool` is missing: write it
            script.toml:3:8: `turn.decide.tool`: expected text, found `3`
            script.toml:4:1: `turn.decide.inputs`: there is no such field (did you mean `input`?); the fields are `tool` and `input`
            script.toml:4:15: `turn.decide.input`: inf is not a number in JSON
            script.toml:3:1: this is not TOML: duplicate key
        "#]],
    );
}

#[test]
fn a_mistake_in_an_action_is_named_with_its_place_and_field() {
    check(
        &[
            "[[turn.write]]\ncontent = \"x\"",
            "[[turn.write]]\npath = \"../x\"\ncontent = \"\"",
            "\n[[turn.append]]\npath = \"/etc/x\"\ncontent = \"\"",
            "[[turn.replace]]\npath = \"a/../../b\"\nfind = \"x\"\nwith = \"\"",
            "[[turn.remove]]\npath = \"\"",
            "[[turn.remove]]\npath = \".\"",
            "[[turn.remove]]\npath = 'C:\\x'",
            "[[turn.replace]]\npath = \"a\"\nfind = \"\"\nwith = \"\"",
            "[[turn.run]]\ncommand = \"cargo test\"",
            "[[turn.run]]\ncommand = []",
            "[[turn.run]]\ncommand = [\"a\"]\nexit = \"bad\"",
            "[[turn.run]]\ncommand = [\"a\"]\nexpect = 1",
            "[[turn.commit]]\nmessage = \" \"",
            "commit = \"Add it\"",
        ],
        expect![[r#"
            script.toml:2:1: `turn.write`: the field `path` is missing: write it
            script.toml:3:8: `turn.write.path`: "../x" is not a path inside the workspace: write it relative, with `/` and without `..`
            script.toml:4:8: `turn.append.path`: "/etc/x" is not a path inside the workspace: write it relative, with `/` and without `..`
            script.toml:3:8: `turn.replace.path`: "a/../../b" is not a path inside the workspace: write it relative, with `/` and without `..`
            script.toml:3:8: `turn.remove.path`: "" is not a path inside the workspace: write it relative, with `/` and without `..`
            script.toml:3:8: `turn.remove.path`: "." is not a path inside the workspace: write it relative, with `/` and without `..`
            script.toml:3:8: `turn.remove.path`: "C:\\x" is not a path inside the workspace: write it relative, with `/` and without `..`
            script.toml:4:8: `turn.replace.find`: there is nothing to find in an empty text
            script.toml:3:11: `turn.run.command`: expected a list, found "cargo test"
            script.toml:3:11: `turn.run.command`: a command needs a program: write it as a list, like ["cargo", "test"]
            script.toml:4:8: `turn.run.exit`: expected an exit code, or "any", found "bad"
            script.toml:4:1: `turn.run.expect`: there is no such field; the fields are `command` and `exit`
            script.toml:3:11: `turn.commit.message`: a commit needs a message: write what it is for
            script.toml:2:10: `turn.commit`: expected a list, found "Add it"
        "#]],
    );
}

#[test]
fn what_is_no_script_at_all_is_refused() {
    let told = ["[[turn]\n", "\n[[turns]]\n", "\n\nturn = 3"].map(error).join("\n");
    expect![[r#"
        script.toml:1:8: this is not TOML: unclosed array table, expected `]`
        script.toml:2:3: `turns`: there is no such field (did you mean `turn`?); the only one is `turn`
        script.toml:3:8: `turn`: expected a list, found `3`"#]]
    .assert_eq(&told);
}

#[test]
fn all_mistakes_are_shown_at_once() {
    let text = "[[turn]]\noutput = 1\noutput_json = '1'\nfail = \"crash\"\n\n[[turn]]\noutput_json = '['\ntimes = 0\ndelai = 1";
    let ScriptError::Bad { problems } = Script::parse("script.toml", text).unwrap_err() else { panic!("not bad") };
    let place = |problem: &Problem| (problem.place.line, problem.field.clone().unwrap());
    let expected =
        [(3, "turn.output_json"), (4, "turn.fail"), (7, "turn.output_json"), (8, "turn.times"), (9, "turn.delai")];
    assert_eq!(problems.iter().map(place).collect::<Vec<_>>(), expected.map(|(line, field)| (line, field.to_owned())));
    assert_eq!(error(text).lines().count(), 5);
}

#[test]
fn a_script_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.toml");
    let missing = Script::read(&file).unwrap_err().to_string();
    assert_eq!(missing, format!("{}: No such file or directory (os error 2)", file.display()));
    std::fs::write(&file, "[[turn]]\ntimes = 0").unwrap();
    assert!(Script::read(&file).unwrap_err().to_string().starts_with(&format!("{}:2:9: `turn.times`", file.display())));
    std::fs::write(&file, "[[turn]]").unwrap();
    assert_eq!(Script::read(&file).unwrap().name(), file.display().to_string());
}
