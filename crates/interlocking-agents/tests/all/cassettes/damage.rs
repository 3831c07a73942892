//! Damaged cassettes.

use super::*;

/// Any damage to a cassette is found when it is opened, and reported with its place.
#[tokio::test]
async fn damage_to_a_cassette_is_an_error_that_names_the_file() {
    let place = Place::new();
    let record = async || {
        let workspace = tempfile::tempdir().unwrap();
        let script = "[[turn]]\ntimes = 3\n[[turn.append]]\npath = \"a\"\ncontent = \"a\"\n";
        let recorder = place.recorder(agent(script));
        for _ in 0..3 {
            play(&recorder, fresh_in(workspace.path(), "x")).await.0.unwrap();
        }
    };
    let header = place.cassette().join("cassette.json");
    let (one, two, three) = (place.file(1), place.file(2), place.file(3));
    type Damage<'a> = Box<dyn Fn() + 'a>;
    let replace = |file: &Path, from: &'static str, to: &'static str| -> Damage<'_> {
        let file = file.to_owned();
        Box::new(move || {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(from), "{text}");
            std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        })
    };
    let remove = |file: &Path| -> Damage<'_> {
        let file = file.to_owned();
        Box::new(move || std::fs::remove_file(&file).unwrap())
    };
    let cases: Vec<(Damage<'_>, &Path, &str)> = vec![
        (remove(&two), &two, "it is missing, and the cassette has 3 calls; record it with"),
        (remove(&three), &three, "it is missing, and the cassette has 3 calls"),
        (replace(&header, "\"calls\": 3", "\"calls\": 2"), &three, "the cassette has 2 calls, and this is one more"),
        (replace(&header, "\"calls\"", "\"records\""), &header, "`records`: unknown field `records`"),
        (
            replace(&header, "interlocking cassette", "tape"),
            &header,
            "it does not say that it is an interlocking cassette",
        ),
        (
            replace(&header, "\"version\": 1", "\"version\": 2"),
            &header,
            "has format 2, but this version plays format 1; record it",
        ),
        (
            replace(&one, "\"prompt\": \"x\"", "\"prompt\": 7"),
            &one,
            "`asked.prompt`: a text: a string, or a list of its lines",
        ),
        (replace(&one, "\"took_ms\"", "\"took\""), &one, "`took`: unknown field `took`, expected one of"),
        (
            replace(&one, "\"path\": \"a\",", "\"path\": \"../a\","),
            &one,
            "`files[0].path`: `../a` is no path inside a workspace",
        ),
        (replace(&one, "\"path\": \"a\",", "\"path\": \"/etc/a\","), &one, "`/etc/a` is no path inside a workspace"),
        (replace(&one, "\"path\": \"a\",", "\"path\": \"x/.GIT/config\","), &one, "outside of git's own directory"),
        (replace(&one, "\"text\": \"a\"", "\"bytes\": \"!\""), &one, "`a`: Invalid symbol"),
        (replace(&one, "\"mode\": \"6", "\"mode\": \"9"), &one, "are no permissions: three octal digits"),
        (replace(&one, "}\n", "} rest\n"), &one, "expected `,` or `}`"),
        (Box::new(|| std::fs::write(&one, "{\"asked\"").unwrap()), &one, "EOF while parsing"),
        (Box::new(|| std::fs::write(&one, b"\xff").unwrap()), &one, "valid UTF-8"),
    ];
    for (damage, file, reason) in cases {
        record().await;
        damage();
        let error = Replayer::open(place.cassette()).expect_err(reason).to_string();
        assert!(error.starts_with(&file.display().to_string()) && error.contains(reason), "{reason}: {error}");
    }
    let missing = Replayer::open(place.0.path().join("none")).unwrap_err();
    assert!(missing.to_string().starts_with("there is no cassette "), "{missing}");
}

/// An unknown event is found only when its call is played, because there is no list of the known events.
#[tokio::test]
async fn an_unknown_event_is_damage_and_nothing_of_its_call_is_played() {
    let place = Place::new();
    let workspace = place.workspace("desk");
    let recorder = place.recorder(agent("[[turn]]\ntext = \"x\"\n[[turn.write]]\npath = \"a\"\ncontent = \"a\"\n"));
    play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap();
    std::fs::remove_file(workspace.join("a")).unwrap();
    let text = std::fs::read_to_string(place.file(1)).unwrap().replace("\"event\": \"text\"", "\"event\": \"song\"");
    std::fs::write(place.file(1), text).unwrap();
    let (outcome, events) = play(&place.replayer(), fresh_in(&workspace, "x")).await;
    let error = cassette_error(outcome);
    assert!(matches!(&error, CassetteError::Damaged { .. }) && error.to_string().contains("unknown variant `song`"));
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::Started { .. })));
    assert!(!workspace.join("a").exists());
}
