//! Role bindings from a file and from options, with every error as the user reads it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use expect_test::expect;
use interlocking_agents::backends::{Backends, RoleBinding, RoleBindings, RoleBindingsError};
use interlocking_agents::{
    Agent, AgentError, Conversation, LostSession, NoEvents, Nudges, Reply, SessionOp, Sessions, Slug, Turn, TurnContext,
};
use std::time::Duration;

/// A custom agent, which reports its settings.
struct Parrot {
    words: String,
    sessions: Sessions,
}

#[derive(Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ParrotSettings {
    words: String,
    volume: u8,
}

#[derive(Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OwlSettings {
    tree: String,
}

#[async_trait]
impl Agent for Parrot {
    fn name(&self) -> &str {
        &self.words
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, _: &TurnContext<'_>, _: &Turn) -> Result<Reply, AgentError> {
        unreachable!("nobody asks it")
    }
}

fn parrot(settings: ParrotSettings) -> Result<Arc<dyn Agent>, String> {
    if settings.volume > 11 {
        return Err(format!("a parrot is not as loud as {}", settings.volume));
    }
    Ok(Arc::new(Parrot { words: settings.words, sessions: Sessions::new() }))
}

fn owl(settings: OwlSettings) -> Result<Arc<dyn Agent>, String> {
    Ok(Arc::new(Parrot { words: settings.tree, sessions: Sessions::new() }))
}

fn bindings() -> RoleBindings {
    RoleBindings::new(Backends::none().with_kind("parrot", parrot).with_kind("owl", owl))
}

const FILE: &str = r#"
others = "parrot"

[roles]
critic = "loud:grey"
writer = { agent = "loud", nudges = { idle = "5m", limit = 1 } }
editor = { agent = "parrot:green", nudges = { idle = "never" }, lost_session = "start_fresh" }

[backends.loud]
kind = "parrot"
words = "HELLO"
volume = 11
"#;

/// The role, the agent and the model of each binding.
fn shown(bound: &[RoleBinding]) -> Vec<(&str, &str, Option<&str>)> {
    bound.iter().map(|bound| (bound.role.as_str(), bound.agent.name(), bound.model.as_deref())).collect()
}

fn parse(text: &str) -> Result<RoleBindings, RoleBindingsError> {
    bindings().parse("agents.toml", text, Path::new(""))
}

#[test]
fn a_file_says_who_plays_what() {
    let bound = parse(FILE).unwrap().bind(["critic", "writer", "editor", "extra"]).unwrap();
    let expected = [
        ("critic", "HELLO", Some("grey")),
        ("writer", "HELLO", None),
        ("editor", "", Some("green")),
        ("extra", "", None),
    ];
    assert_eq!(shown(&bound), expected);
    let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
    assert_eq!(bound[1].nudges, Some(Nudges::DEFAULT.with_idle(minutes(5)).with_limit(1)));
    assert_eq!(bound[2].nudges, Some(Nudges::DEFAULT.with_idle(None)));
    assert_eq!([&bound[0], &bound[2]].map(|bound| bound.lost_session), [None, Some(LostSession::StartFresh)]);
    assert_eq!((bound[0].nudges, bound[0].place.as_str()), (None, "agents.toml:5:10"));
    // One backend is one agent, whose sessions its roles share; another backend of the same kind is another agent.
    assert!(Arc::ptr_eq(&bound[0].agent, &bound[1].agent));
    assert!(!Arc::ptr_eq(&bound[0].agent, &bound[2].agent));
    assert!(Arc::ptr_eq(&bound[2].agent, &bound[3].agent));
}

#[test]
fn options_go_before_the_file_and_names_before_all() {
    let said = |options: &[&str]| {
        let file = parse(FILE).unwrap();
        options.iter().fold(file, |bindings, option| bindings.with_option(option, format!("--agent {option}")).unwrap())
    };
    let roles = ["critic", "writer"];
    let bound = said(&["writer=parrot:blue"]).bind(roles.into_iter().chain(["editor"])).unwrap();
    assert_eq!(shown(&bound)[..2], [("critic", "HELLO", Some("grey")), ("writer", "", Some("blue"))]);
    // The option chooses the agent; the file still says how it is reminded.
    assert_eq!(bound[1].nudges.map(|nudges| nudges.limit), Some(1));
    let bound = said(&["writer=parrot:blue", "parrot:red"]).bind(roles.into_iter().chain(["editor"])).unwrap();
    assert_eq!(shown(&bound)[..2], [("critic", "", Some("red")), ("writer", "", Some("blue"))]);
    // Without a file: a role without a binding gets no agent.
    let alone = bindings().with_option("writer=parrot", "").unwrap().bind(["writer", "critic"]).unwrap();
    assert_eq!(shown(&alone), [("writer", "", None)]);
    assert!(bindings().is_empty() && bindings().bind(["writer"]).unwrap().is_empty());
}

#[test]
fn everything_wrong_in_a_file_is_told_at_once_with_its_line() {
    let file = r#"other = "parrot"
others = ""

[roles]
critic = { agnet = "parrot" }
writer = { agent = "parrot", nudges = { idle = "soon" } }
editor = 3

[backends.loud]
kind = "parot"

[backends.quiet]
volume = 1

[backends.calm]
kind = "parrot"
volumes = 1

[backends.parrot]
volume = "high"

[backends.barn]
kind = "owl"

[backends."a:b"]
kind = "parrot"
"#;
    expect![[r#"
        agents.toml:1:1: `other`: there is no such field (did you mean `others`?); the fields are `backends`, `others` and `roles`
        agents.toml:2:10: `others`: "" names no agent: write BACKEND or BACKEND:MODEL, such as "claude:haiku"
        agents.toml:5:10: `roles.critic`: the field `agent` is missing: write it
        agents.toml:5:12: `roles.critic.agnet`: there is no such field (did you mean `agent`?); the fields are `agent`, `nudges` and `lost_session`
        agents.toml:6:48: `roles.writer.nudges.idle`: "soon" is not a duration: write a whole number and ms, s, m or h, like "300ms"
        agents.toml:7:10: `roles.editor`: expected an agent, such as "claude:haiku", or a table with `agent`, found `3`
        agents.toml:10:8: `backends.loud.kind`: there is no kind `parot`: did you mean `parrot`?
        agents.toml:12:1: `backends.quiet`: it has no `kind`, and its name is not a kind; the kinds are `owl` and `parrot`
        agents.toml:17:1: `backends.calm.volumes`: there is no such field (did you mean `volume`?); the fields are `words` and `volume`
        agents.toml:20:10: `backends.parrot.volume`: expected a whole number from 0 to 255, found "high"
        agents.toml:22:1: `backends.barn`: the field `tree` is missing: write it
        agents.toml:25:1: `backends."a:b"`: no backend can be named so: it must have neither `:` nor `=`"#]]
    .assert_eq(&parse(file).unwrap_err().to_string());
    expect!["agents.toml:2:10: this is not TOML: string values must be quoted, expected literal string"]
        .assert_eq(&parse("[roles]\ncritic = parrot\n").unwrap_err().to_string());
    expect!["nowhere/agents.toml: No such file or directory (os error 2)"]
        .assert_eq(&bindings().read("nowhere/agents.toml").unwrap_err().to_string());
}

#[test]
fn what_cannot_be_bound_is_told_at_once_with_where_it_was_said() {
    let file =
        "[roles]\nwritter = \"parrot\"\ncritic = \"parot:grey\"\n[backends.loud]\nkind = \"parrot\"\nvolume = 12\n";
    let said = parse(file).unwrap();
    let said = ["writer=loud", "critc=parrot", "editor=critic", "extra=owl"]
        .iter()
        .fold(said, |bindings, option| bindings.with_option(option, format!("--agent {option}")).unwrap());
    expect![[r#"
        --agent critc=parrot: there is no role `critc` in the graph: did you mean `critic`?
        --agent editor=critic: there is no backend `critic`; there are `loud`, `owl` and `parrot`; it is a role: write critic=BACKEND
        agents.toml:3:10: there is no backend `parot`: did you mean `parrot`?
        agents.toml:2:11: there is no role `writter` in the graph: did you mean `writer`?
        agents.toml:4:1: backend `loud`: a parrot is not as loud as 12
        --agent extra=owl: backend `owl`: the field `tree` is missing: write it in a file, under [backends.owl]"#]]
    .assert_eq(&said.bind(["writer", "critic", "editor", "extra"]).unwrap_err().to_string());
    let nobody = bindings().with_option("critic=parrot", "--agent critic=parrot").unwrap().bind([]);
    expect!["--agent critic=parrot: there is no role `critic`: the graph asks for none"]
        .assert_eq(&nobody.unwrap_err().to_string());
    expect![[r#"--agent critic=: "" names no agent: write BACKEND or BACKEND:MODEL, such as "claude:haiku""#]]
        .assert_eq(&bindings().with_option("critic=", "--agent critic=").unwrap_err().to_string());
}

/// An agent that is not needed is not made, so a broken script that no role uses is no error.
#[tokio::test]
async fn scripts_are_backends_and_are_read_when_they_are_needed() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    std::fs::write(at("hello.toml"), "[[turn]]\ntimes = \"any\"\noutput = \"hello\"\n").unwrap();
    let file = "[roles]\ncritic = \"bound\"\n[backends.bound]\nkind = \"scripted\"\nscript = \"hello.toml\"\nmemory = \"memory.json\"\n[backends.absent]\nkind = \"scripted\"\nscript = \"absent.toml\"\n";
    std::fs::write(at("agents.toml"), file).unwrap();
    let option = format!("writer=scripted:{}", at("hello.toml").display());
    let bindings = RoleBindings::default().read(at("agents.toml")).unwrap().with_option(&option, "").unwrap();
    let bound = bindings.bind(["critic", "writer"]).unwrap();
    let beside = RoleBindings::default().with_option_in(place.path(), "scripted:hello.toml", "").unwrap();
    assert_eq!(beside.bind(["critic"]).unwrap().len(), 1);
    let beside = RoleBindings::default().parse("", "others = 'scripted:hello.toml'", place.path()).unwrap();
    assert_eq!(beside.bind(["critic"]).unwrap().len(), 1);
    assert!(!Arc::ptr_eq(&bound[0].agent, &bound[1].agent) && bound[1].model.is_none());
    for RoleBinding { agent, .. } in &bound {
        let turn = Turn::new(SessionOp::StartFresh(Slug::new("greet").unwrap()), "Say hello.");
        assert_eq!(Conversation::new(&**agent).run(turn, &NoEvents).await.unwrap().output, "hello");
    }
    assert!(at("memory.json").exists());

    let wrong = |option: &str| {
        let bindings =
            RoleBindings::default().read(at("agents.toml")).unwrap().with_option(option, format!("--agent {option}"));
        let error = bindings.unwrap().bind(["critic", "writer"]).unwrap_err().to_string();
        error.replace(&*place.path().to_string_lossy(), "PLACE")
    };
    expect![
        "--agent writer=scripted: backend `scripted`: it plays no script: write scripted:FILE, or give it a `script`"
    ]
    .assert_eq(&wrong("writer=scripted"));
    expect!["PLACE/agents.toml:7:1: backend `absent`: PLACE/absent.toml: No such file or directory (os error 2)"]
        .assert_eq(&wrong("writer=absent"));
    expect!["PLACE/agents.toml:3:1: backend `bound`: it has a `script`, so no other can follow the colon"]
        .assert_eq(&wrong("writer=bound:other.toml"));
}

/// Every kind that needs no file is made without one, and its settings are read with their line numbers.
#[test]
fn the_built_in_kinds_are_made_of_their_settings() {
    let said = |option: &str| RoleBindings::default().with_option(option, "--agent").unwrap();
    for name in ["claude", "codex", "gemini"] {
        let bound = said(&format!("{name}:small")).bind(["writer"]).unwrap();
        assert_eq!(shown(&bound), [("writer", name, Some("small"))]);
        let wrong = RoleBindings::default().parse(
            "agents.toml",
            &format!("\n[backends.{name}]\n\nprogramme = 1\n"),
            Path::new(""),
        );
        let error = wrong.unwrap_err().to_string();
        let expected = format!(
            "agents.toml:4:1: `backends.{name}.programme`: there is no such field (did you mean `program`?); the fields"
        );
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[cfg(feature = "http")]
#[test]
fn providers_of_models_are_kinds_too() {
    let bound = |option: &str| RoleBindings::default().with_option(option, "--agent").unwrap().bind(["writer"]);
    for (kind, name) in [("anthropic", "anthropic"), ("openai", "openai"), ("google", "gemini")] {
        assert_eq!(shown(&bound(&format!("{kind}:small")).unwrap()), [("writer", name, Some("small"))]);
    }
    expect!["--agent: backend `openai`: it names no model: write openai:MODEL"]
        .assert_eq(&bound("openai").unwrap_err().to_string());
    let file = "others = 'thinker'\n[backends.thinker]\nkind = 'openai'\nmodel = 'small'\nmax_tokens = 9\n";
    let bindings = RoleBindings::default().parse("agents.toml", file, Path::new("")).unwrap();
    assert_eq!(shown(&bindings.bind(["writer"]).unwrap()), [("writer", "openai", None)]);
    let file = "[backends.openai]\nmodle = 'small'\n";
    let error = RoleBindings::default().parse("agents.toml", file, Path::new("")).unwrap_err().to_string();
    assert!(
        error.starts_with("agents.toml:2:1: `backends.openai.modle`: there is no such field (did you mean `model`?)"),
        "{error}"
    );
}
