use interlocking_agents::scripted::ScriptProblem;
use interlocking_agents::{Script, ScriptError};

fn error(text: &str) -> String {
    Script::parse("script.toml", text).unwrap_err().to_string()
}

#[test]
fn a_mistake_in_a_turn_is_named_with_file_line_and_field() {
    for (turn, expected) in [
        (
            "contain = [\"a\"]",
            "2: `turn.contain`: unknown field `contain`, expected one of `agent`, `contains`, `session`, `times`, \
             `delay`, `write`, `append`, `replace`, `remove`, `run`, `output`, `output_json`, `decide`, `text`, `cost`, \
             `tokens`, `fail`, `retry_after`",
        ),
        ("contains = \"a\"", "2: `turn.contains`: invalid type: string \"a\", expected a sequence"),
        ("\ncontains = [\"a\", 3]", "3: `turn.contains`: invalid type: integer `3`, expected a string"),
        ("session = \"new\"", "2: `turn.session`: unknown variant `new`, expected one of `fresh`, `continue`, `fork`"),
        ("times = 0", "2: `turn.times`: invalid value: integer `0`, expected a number from 1, or \"any\""),
        ("times = \"often\"", "2: `turn.times`: invalid value: string \"often\", expected a number from 1, or \"any\""),
        ("times = 1.5", "2: `turn.times`: invalid type: floating point `1.5`, expected a number from 1, or \"any\""),
        (
            "delay = \"soon\"",
            "2: `turn.delay`: \"soon\" is not a duration: write a whole number and ms, s, m or h, like \"300ms\"",
        ),
        ("delay = 3", "2: `turn.delay`: invalid type: integer `3`, expected a string"),
        ("cost = -1", "2: `turn.cost`: -1 is not a cost in dollars: use a number from 0 to 1,000,000,000"),
        ("tokens = { inputs = 1 }", "2: `turn.tokens.inputs`: unknown field `inputs`, expected `input` or `output`"),
        ("tokens = { input = -1 }", "2: `turn.tokens.input`: invalid value: integer `-1`, expected u64"),
        (
            "fail = \"meteor\"",
            "2: `turn.fail`: unknown variant `meteor`, expected one of `rate_limited`, `overloaded`, `connection`, \
             `refused`, `prompt_too_long`, `step_limit`, `budget_limit`, `crash`",
        ),
        ("output = { a = nan }", "2: `turn.output`: NaN is not a number in JSON"),
        ("output_json = '{ \"a\": }'", "2: `turn.output_json`: not JSON: expected value at line 1 column 8"),
        ("output = 1\noutput_json = '1'", "3: `turn.output_json`: give `output` or `output_json`, not both"),
        ("output = 1\nfail = \"crash\"", "3: `turn.fail`: a turn that fails gives no output"),
        ("output = 1\ndecide = [{ tool = \"A\" }]", "3: `turn.decide`: give an output or decide, not both"),
        ("decide = [{ tool = \"A\" }]\nfail = \"crash\"", "3: `turn.fail`: a turn that fails decides nothing"),
        (
            "fail = \"crash\"\nretry_after = \"5s\"",
            "3: `turn.retry_after`: only `fail = \"rate_limited\"` says when to try again",
        ),
        ("[[turn.decide]]\ninput = { a = 1 }", "2: `turn.decide`: missing field `tool`"),
        ("[[turn.decide]]\ntool = 3", "3: `turn.decide.tool`: invalid type: integer `3`, expected a string"),
        (
            "[[turn.decide]]\ntool = \"A\"\ninputs = {}",
            "4: `turn.decide.inputs`: unknown field `inputs`, expected `tool` or `input`",
        ),
        ("[[turn.decide]]\ntool = \"A\"\ninput = { a = inf }", "4: `turn.decide.input`: inf is not a number in JSON"),
        ("text = \"a\"\ntext = \"b\"", "3: duplicate key"),
    ] {
        assert_eq!(error(&format!("[[turn]]\n{turn}")), format!("script.toml:{expected}"));
    }
}

#[test]
fn a_mistake_in_an_action_is_named_with_file_line_and_field() {
    let outside = "is not a path inside the workspace: write it relative, with `/` and without `..`";
    for (action, expected) in [
        ("[[turn.write]]\ncontent = \"x\"", "2: `turn.write`: missing field `path`".to_owned()),
        ("[[turn.write]]\npath = \"../x\"\ncontent = \"\"", format!("3: `turn.write.path`: \"../x\" {outside}")),
        (
            "\n[[turn.append]]\npath = \"/etc/x\"\ncontent = \"\"",
            format!("4: `turn.append.path`: \"/etc/x\" {outside}"),
        ),
        (
            "[[turn.replace]]\npath = \"a/../../b\"\nfind = \"x\"\nwith = \"\"",
            format!("3: `turn.replace.path`: \"a/../../b\" {outside}"),
        ),
        ("[[turn.remove]]\npath = \"\"", format!("3: `turn.remove.path`: \"\" {outside}")),
        ("[[turn.remove]]\npath = \".\"", format!("3: `turn.remove.path`: \".\" {outside}")),
        ("[[turn.remove]]\npath = 'C:\\x'", format!("3: `turn.remove.path`: \"C:\\\\x\" {outside}")),
        (
            "[[turn.replace]]\npath = \"a\"\nfind = \"\"\nwith = \"\"",
            "4: `turn.replace.find`: there is nothing to find in an empty text".to_owned(),
        ),
        (
            "[[turn.run]]\ncommand = \"cargo test\"",
            "3: `turn.run.command`: invalid type: string \"cargo test\", expected a sequence".to_owned(),
        ),
        (
            "[[turn.run]]\ncommand = []",
            "3: `turn.run.command`: a command needs a program: write it as a list, like [\"cargo\", \"test\"]"
                .to_owned(),
        ),
        (
            "[[turn.run]]\ncommand = [\"a\"]\nexit = \"bad\"",
            "4: `turn.run.exit`: invalid value: string \"bad\", expected an exit code, or \"any\"".to_owned(),
        ),
        (
            "[[turn.run]]\ncommand = [\"a\"]\nexpect = 1",
            "4: `turn.run.expect`: unknown field `expect`, expected `command` or `exit`".to_owned(),
        ),
    ] {
        assert_eq!(error(&format!("[[turn]]\n{action}")), format!("script.toml:{expected}"));
    }
}

#[test]
fn what_is_no_script_at_all_is_refused() {
    assert_eq!(error("[[turn]\n"), "script.toml:1: unclosed array table, expected `]`");
    assert_eq!(error("\n[[turns]]\n"), "script.toml:2: `turns`: unknown field `turns`, expected `turn`");
    assert_eq!(error("\n\nturn = 3"), "script.toml:3: `turn`: invalid type: integer `3`, expected a sequence");
}

#[test]
fn all_contradictions_are_shown_at_once() {
    let text = "[[turn]]\noutput = 1\noutput_json = '1'\nfail = \"crash\"\n\n[[turn]]\noutput_json = '['";
    let ScriptError::Bad { problems } = Script::parse("script.toml", text).unwrap_err() else { panic!("not bad") };
    let place = |problem: &ScriptProblem| (problem.line, problem.field.clone().unwrap());
    let expected = [(3, "turn.output_json"), (4, "turn.fail"), (7, "turn.output_json")];
    assert_eq!(problems.iter().map(place).collect::<Vec<_>>(), expected.map(|(line, field)| (line, field.to_owned())));
    assert_eq!(error(text).lines().count(), 3);
}

#[test]
fn a_script_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.toml");
    let missing = Script::read(&file).unwrap_err().to_string();
    assert_eq!(missing, format!("{}: No such file or directory (os error 2)", file.display()));
    std::fs::write(&file, "[[turn]]\ntimes = 0").unwrap();
    assert!(Script::read(&file).unwrap_err().to_string().starts_with(&format!("{}:2: `turn.times`", file.display())));
    std::fs::write(&file, "[[turn]]").unwrap();
    assert_eq!(Script::read(&file).unwrap().name(), file.display().to_string());
}
