use interlocking_agents::real_calls::restrict;
use interlocking_agents::{
    Agent, AgentErrorKind, Disposition, HttpModel, HttpPrices, HttpProvider, HttpSettings, RealCalls,
};
use interlocking_model_server::Reaction;

use crate::common::{always, fresh, key, model, run, settings};

async fn refused(model: HttpModel) -> String {
    let error = model.ready().await.unwrap_err();
    assert_eq!(error.disposition(), Disposition::GiveUp);
    match *error.kind {
        AgentErrorKind::Configuration { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_is_ready_without_asking_anybody() {
    let server = always(Reaction::text("yes"));
    for provider in HttpProvider::ALL {
        let model = model(&server, provider);
        model.ready().await.unwrap();
        assert_eq!(model.name(), provider.name());
    }
    assert!(server.requests().is_empty());
    assert!(server.notes().is_empty());
}

/// For HTTPS the system's root certificates are loaded; no connection is made.
#[tokio::test]
async fn https_is_spoken_where_the_system_trusts_somebody() {
    let base_url = Some("https://127.0.0.1:1/v1".to_owned());
    let settings = HttpSettings { base_url, ..HttpSettings::new(HttpProvider::OpenAi, "model-x") };
    if let Err(error) = HttpModel::new(settings).with_key(key()).ready().await {
        assert!(error.to_string().contains("install ca-certificates"), "{error}");
    }
}

/// `INTERLOCKING_AGENTS` and the restrictions of a program apply to models over HTTP. They apply to the whole process,
/// so the test uses addresses that no other test uses.
#[tokio::test]
async fn real_calls_can_be_forbidden() {
    restrict(RealCalls::Loopback);
    for provider in HttpProvider::ALL {
        let model = HttpModel::new(HttpSettings::new(provider, "model-x")).with_key(key());
        for error in [model.ready().await.unwrap_err(), run(&model, fresh("?")).await.unwrap_err()] {
            assert!(matches!(*error.kind, AgentErrorKind::Forbidden(_)), "{error:?}");
            assert!(error.to_string().contains(provider.base_url()), "{error}");
            assert_eq!(error.usage.calls, 0);
        }
    }
}

#[tokio::test]
async fn what_cannot_work_is_refused_before_anything_runs() {
    let server = always(Reaction::text("yes"));
    let good = || settings(&server, HttpProvider::OpenAi);
    let with_key = |settings| HttpModel::new(settings).with_key(key());
    for (settings, complaint) in [
        (HttpSettings { model: " ".to_owned(), ..good() }, "`model` is empty"),
        (HttpSettings { max_tokens: Some(0), ..good() }, "`max_tokens` = 0"),
        (HttpSettings { time_limit: Some(std::time::Duration::ZERO), ..good() }, "a limit of 0"),
        (
            HttpSettings { prices: Some(HttpPrices { input: -1.0, output: 1.0, cached_input: None }), ..good() },
            "`prices` has -1 in it",
        ),
        (HttpSettings { base_url: Some("localhost:80".to_owned()), ..good() }, "is no address of HTTP"),
        (HttpSettings { base_url: Some("api".to_owned()), ..good() }, "is no URL"),
        (HttpSettings { base_url: Some("http://me:secret@host/v1".to_owned()), ..good() }, "a user or a password"),
        (HttpSettings { base_url: Some("http://me:secret@host:port/v1".to_owned()), ..good() }, "is no URL"),
        (HttpSettings { base_url: Some("htp://me:secret@host/v1".to_owned()), ..good() }, "is no address of HTTP"),
        (HttpSettings { base_url: Some("https://host/v1?key=secret".to_owned()), ..good() }, "has a query"),
        (HttpSettings { sessions: Some("/dev/null/sessions".into()), ..good() }, "the sessions at /dev/null/sessions"),
    ] {
        let reason = refused(with_key(settings)).await;
        assert!(reason.contains(complaint), "{complaint}: {reason}");
        assert!(!reason.contains("secret"), "{reason}");
    }
    let no_key = HttpSettings { api_key_variable: Some("INTERLOCKING_NO_SUCH_KEY".to_owned()), ..good() };
    let reason = refused(HttpModel::new(no_key.clone())).await;
    assert_eq!(
        reason,
        "there is no key for openai: set the environment variable INTERLOCKING_NO_SUCH_KEY, or name another one in \
         `api_key_variable`"
    );
    let error = run(&HttpModel::new(no_key), fresh("?")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Configuration { reason }, "a call says the same");
    assert!(server.requests().is_empty());
}

#[test]
fn settings_are_read_with_defaults_and_nothing_else() {
    let read = |text: &str| toml::from_str::<HttpSettings>(text);
    let least = read("provider = \"gemini\"\nmodel = \"gemini-3-flash\"").unwrap();
    assert_eq!(least, HttpSettings::new(HttpProvider::Gemini, "gemini-3-flash"));
    for provider in HttpProvider::ALL {
        assert_eq!(read(&format!("provider = \"{provider}\"\nmodel = \"m\"")).unwrap().provider, provider);
    }
    for (text, complaint) in [
        ("model = \"m\"", "missing field `provider`"),
        ("provider = \"openai\"", "missing field `model`"),
        ("provider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-1\"", "unknown field `api_key`"),
        ("provider = \"open-ai\"\nmodel = \"m\"", "unknown variant `open-ai`"),
        ("provider = \"openai\"\nmodel = \"m\"\ntime_limit = \"ages\"", "is not a duration"),
        ("provider = \"openai\"\nmodel = \"m\"\nprices = { input = 1.0 }", "missing field `output`"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(complaint), "{complaint}: {error}");
    }
}
