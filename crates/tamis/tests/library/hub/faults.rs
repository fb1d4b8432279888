//! Failing hubs, broken networks and hostile repositories. None of them leaves half a model.

use crate::hub::models::{bert, models, table};
use crate::hub::server::{COMMIT, Fault, Hub, Repository};
use crate::hub::{NAME, User, assert_near};
use crate::support::{StopsAfter, assert_says};
use std::fs;
use std::time::SystemTime;
use tamis::hub::{AddRequest, HubAccess, add};

const TEXT: &str = "oven";

/// What a user hears who adds this model.
fn refusal(repository: Repository) -> String {
    let user = User::of(repository);
    user.refused(&user.request(NAME))
}

#[test]
fn a_broken_transfer_goes_on_where_it_ended() {
    let user = User::of(table().fault("model.safetensors", Fault::Breaks { after: 700, times: 3 }));
    let added = user.added();
    let weights: Vec<_> = user.hub.requests().into_iter().filter(|request| request.is_cdn).collect();
    let ranges: Vec<Option<usize>> = weights.iter().map(|request| request.range).collect();
    assert_eq!(ranges, [None, Some(700), Some(1400), Some(2100)]);
    let configured = user.configured(&added, "");
    assert_near(&configured.embed_query("m", TEXT).expect("embedded").1, &models().of_table("table", TEXT));

    let user = User::of(table().fault("model.safetensors", Fault::BreaksWithoutRanges { after: 700, times: 1 }));
    user.added();

    let user = User::of(table().fault("model.safetensors", Fault::Fails { times: 2 }));
    user.added();

    let user = User::of(table());
    let staging = user.models().path().join(format!(".incoming/house--tiny@{COMMIT}"));
    fs::create_dir_all(&staging).expect("made");
    fs::write(staging.join("model.safetensors.part"), vec![7; 1000]).expect("written");
    fs::write(staging.join("tokenizer.json"), "{}").expect("written");
    user.added();

    let user = User::of(table().fault("model.safetensors", Fault::Breaks { after: 0, times: 1000 }));
    assert_says(user.refused(&user.request(NAME)), &["4 attempts", "the same command goes on"]);
    let part = format!(".incoming/house--tiny@{COMMIT}/model.safetensors.part");
    assert!(user.files().contains(&part), "{:?}", user.files());

    // A part of the right file, as a killed process leaves it, is continued.
    let part = user.models().path().join(part);
    fs::write(&part, &models().file("table.safetensors")[..1000]).expect("written");
    user.hub.change(NAME, |repository| repository.faults.clear());
    user.hub.requests();
    user.added();
    let requests = user.hub.requests();
    let ranges: Vec<_> = requests.iter().filter(|request| request.is_cdn).map(|request| request.range).collect();
    assert_eq!(ranges, [Some(1000)]);
    assert!(!requests.iter().any(|request| request.path.ends_with("tokenizer.json")), "it was complete: {requests:?}");
}

#[test]
fn unknown_and_private_models_and_revisions_are_said() {
    let mut private = table();
    private.token = Some("sesame".to_owned());
    private.revisions = vec!["v1.0".to_owned(), "refs/pr/1".to_owned()];
    let mut user = User::with(&[(NAME, private)]);
    for (name, token, parts) in [
        ("house/other", None, ["401", "check the name, or set HF_TOKEN"]),
        (NAME, None, ["401", "set HF_TOKEN"]),
        (NAME, Some("sesame-open"), ["404", "the name"]),
        ("house/other", Some("sesame"), ["404", "check the name"]),
        ("house/tiny@v2.0", Some("sesame"), ["404", "no revision v2.0"]),
    ] {
        user.token = token;
        assert_says(user.refused(&user.request(name)), &parts);
    }
    user.token = Some("sesame");
    for revision in ["v1.0", "refs/pr/1", COMMIT] {
        let added = user.add(&user.request(&format!("{NAME}@{revision}"))).expect("added");
        assert_eq!(added.model.record.asked.as_deref(), Some(revision));
        assert_eq!(user.models().find(NAME, Some(revision)).as_ref(), Some(&added.model));
    }
    let requests = user.hub.requests();
    assert!(requests.iter().any(|request| request.is_cdn));
    for request in requests {
        assert!(!request.is_cdn || request.authorization.is_none(), "the token stays with the hub: {request:?}");
    }
}

#[test]
fn sizes_are_bounded_whoever_says_them() {
    let user = User::of(table());
    let small = AddRequest { most_bytes: 2000, ..user.request(NAME) };
    assert_says(user.refused(&small), &["the model has", "2000 allowed"]);
    assert_says(refusal(table().fault("model.safetensors", Fault::Says(u64::MAX))), &["18446744073709551615 bytes"]);
    assert_says(refusal(table().fault("model.safetensors", Fault::Says(100))), &["longer than the 100 bytes"]);
    let endless = User::of(table().fault("model.safetensors", Fault::Endless));
    let bounded = AddRequest { most_bytes: 100_000, ..endless.request(NAME) };
    assert_says(endless.refused(&bounded), &["longer than the 100000 bytes"]);
    assert_says(refusal(table().fault("config.json", Fault::Says(2 << 20))), &["config.json has 2097152 bytes"]);
}

#[test]
fn sums_and_commits_are_checked_whoever_gives_them() {
    let mut bare = table();
    bare.is_bare = true;
    User::of(bare.clone()).added();
    assert_says(refusal(bare.clone().fault("model.safetensors", Fault::Wrong)), &["SHA-256"]);
    // The tag of the pointer is no sum of the file.
    assert_says(refusal(bare.fault("model.safetensors", Fault::NoSum)), &["git identifier"]);
    let other = format!("of commit {}", "f".repeat(40));
    assert_says(refusal(table().fault("model.safetensors", Fault::OtherCommit)), &[&other]);
    assert_says(refusal(table().fault("tokenizer.json", Fault::Missing)), &["404"]);

    for file in ["model.safetensors", "tokenizer.json"] {
        let user = User::of(table().fault(file, Fault::Wrong));
        let message = user.refused(&user.request(NAME));
        let kind = if file == "model.safetensors" { "SHA-256" } else { "git identifier" };
        assert_says(message, &[file, kind, "the hub says"]);
        assert!(!user.files().iter().any(|path| path.contains(file)), "{:?}", user.files());
        user.hub.change(NAME, |repository| repository.faults.clear());
        user.added();
    }
}

#[test]
fn trap_redirects_lead_to_no_other_protocol() {
    for location in ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://me:sesame@127.0.0.1/x", "x", ""] {
        let redirected = table().fault("model.safetensors", Fault::Redirects(location.to_owned()));
        assert!(refusal(redirected).contains("not followed"), "{location}");
    }
    let redirected = table().fault("tokenizer.json", Fault::Redirects("/house/tiny/resolve/x".into()));
    assert_says(refusal(redirected), &["404"]);
}

#[test]
fn trap_no_name_of_a_file_leads_out_of_the_directory() {
    let mut repository = bert("mean");
    repository.listed = ["../../escape.json", "/tmp/escape", "..\\escape", "a/../../b"].map(str::to_owned).to_vec();
    let user = User::of(repository.clone());
    let added = user.added();
    assert!(added.model.record.files.iter().all(|file| !file.path.contains("..")), "{:?}", added.model.record);
    for path in ["../../x", "/etc", "a/../b"] {
        let modules = format!(r#"[{{"path": "{path}", "type": "sentence_transformers.models.Transformer"}}]"#);
        let message = refusal(repository.clone().with("modules.json", modules.as_bytes()));
        assert!(message.contains("names the path"), "{path}: {message}");
    }
    // A repository cannot bring its own record along.
    let user = User::of(table().with("tamis-model.json", br#"{"query_prefix": "sesame "}"#));
    assert_eq!(user.added().model.record.settings.values.query_prefix.as_deref(), Some(""));
}

#[test]
fn models_that_do_not_work_are_not_kept() {
    for (file, content, said) in [
        ("model.safetensors", &b"no weights"[..], "model.safetensors is not one"),
        ("tokenizer.json", b"{}", "tokenizer.json"),
        ("config.json", b"no", "config.json: "),
    ] {
        let user = User::of(table().with(file, content));
        assert_says(user.refused(&user.request(NAME)), &[said]);
        assert!(file == "config.json" || user.files().is_empty(), "{:?}", user.files());
    }
    assert_says(refusal(bert("max")), &["max_tokens"]);
}

#[test]
fn a_request_ends_without_a_network_and_when_it_is_stopped() {
    let user = User::of(table());
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let access = HubAccess { endpoint: format!("http://{port}"), token: None };
    let lost = add(&user.request(NAME), &access, &user.models(), &()).expect_err("nobody there");
    assert_says(lost, &["is there a connection to the network?", "3 attempts"]);
    let access = HubAccess { endpoint: "http://hub.example.org".into(), token: None };
    assert!(add(&user.request(NAME), &access, &user.models(), &()).is_err());

    let user = User::of(table());
    let access = HubAccess { endpoint: user.hub.url.clone(), token: None };
    let error = add(&user.request(NAME), &access, &user.models(), &StopsAfter::new(0)).expect_err("stopped");
    assert!(matches!(error, tamis::Error::Cancelled), "{error}");
    assert!(user.models().installed().is_empty());
}

#[test]
fn models_are_found_and_removed_by_name_and_revision() {
    let user = User::of(table());
    let first = user.added();
    assert!(!first.was_there && user.added().was_there);
    let other = "ab".repeat(20);
    user.hub.change(NAME, |repository| repository.commit.clone_from(&other));
    let second = user.added();
    let models = user.models();
    assert_eq!(models.installed().len(), 2);
    assert_eq!(models.find(NAME, None).expect("the newest").record.revision, other);
    assert_eq!(models.find(NAME, Some(&COMMIT[..8])).expect("there").record.revision, COMMIT);
    assert_eq!(models.find(NAME, Some("aba")), None, "too short to be a commit");
    assert_eq!(models.find("house/other", None), None);
    models.remove(&second.model).expect("removed");
    assert_eq!(models.find(NAME, None).expect("the other").record.revision, COMMIT);
    models.remove(&models.find(NAME, None).expect("there")).expect("removed");
    assert_eq!((models.installed().len(), user.files().len()), (0, 0));

    let user = User::of(table());
    let hub: &Hub = &user.hub;
    let access = HubAccess { endpoint: hub.url.clone(), token: None };
    let (models, request) = (user.models(), user.request(NAME));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| add(&request, &access, &models, &()).is_ok())).collect();
        assert!(threads.into_iter().all(|thread| thread.join().expect("no panic")));
    });
    assert_eq!(models.installed().len(), 1);
}

#[test]
fn old_remains_of_other_models_go() {
    let user = User::of(table());
    let incoming = user.models().path().join(".incoming");
    for (name, days) in [("house--old@1", 8), ("house--new@1", 1)] {
        fs::create_dir_all(incoming.join(name)).expect("made");
        let time = SystemTime::now() - std::time::Duration::from_secs(days * 24 * 3600);
        let set = fs::File::open(incoming.join(name)).expect("opened").set_modified(time);
        if set.is_err() {
            // Windows sets no times of directories this way.
            return;
        }
    }
    user.added();
    assert!(!incoming.join("house--old@1").exists() && incoming.join("house--new@1").exists());
}
