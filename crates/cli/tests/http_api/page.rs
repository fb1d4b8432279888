//! The page: its files, what confines them, and the cookie that stands for a token.

use crate::served::{get, limited_to_sixty_a_minute, send, serve, served_kitchen};
use crate::support::{token, two_namespaces};
use serde_json::json;

#[test]
fn its_files_are_served_with_a_policy_that_confines_them() {
    let (_root, server) = served_kitchen();
    let page = get(&server, "/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; ") && !policy.contains("unsafe"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    for (path, kind) in
        [("/page/main.js", "text/javascript"), ("/page/style.css", "text/css"), ("/page/icon.svg", "image/svg+xml")]
    {
        assert!(page.body.contains(path), "{path}");
        let file = get(&server, path);
        let is_of_kind = file.header("content-type").is_some_and(|is| is.starts_with(kind));
        assert!(file.status == 200 && is_of_kind, "{path} {}", file.head);
        let tag = file.header("etag").expect("a tag").to_owned();
        assert_eq!(send(&server, &format!("GET {path}"), &[("If-None-Match", &tag)], "").status, 304);
    }
    let foreign = send(&server, "GET /", &[("Origin", "http://evil.example")], "");
    let refused = [get(&server, "/page/nothing.js"), send(&server, "POST /", &[], ""), foreign];
    assert_eq!(refused.map(|reply| reply.status), [404, 405, 403]);
    // Without tokens everybody on this machine may read, and nobody needs to sign in.
    let rights = send(&server, "GET /page/session", &[("Tamis-Page", "1")], "").json();
    assert_eq!(
        rights,
        json!({"needs_token": false, "signed_in": true, "may_judge": false, "may_refresh": false, "namespaces": null})
    );
}

#[test]
fn a_token_becomes_a_cookie_that_only_the_page_can_use() {
    let root = two_namespaces();
    let open = token(&root, &["narrow", "--namespace", "open"]);
    let server = serve(&root, &[]);
    assert_eq!(get(&server, "/").status, 200, "the page itself asks for the token");
    let session = |method: &str, headers: &[(&str, &str)], body: &str| {
        let all = [&[("Tamis-Page", "1"), ("Content-Type", "application/json")], headers].concat();
        send(&server, &format!("{method} /page/session"), &all, body)
    };
    assert_eq!(session("GET", &[], "").json()["signed_in"], false);
    for wrong in ["", "{}", "[]", "{\"token\": 1}", "{\"token\": \"a\", \"more\": 1}"] {
        assert_eq!(session("POST", &[], wrong).status, 400, "{wrong}");
    }
    assert_eq!(session("POST", &[], &json!({"token": "not-a-token-of-this-server"}).to_string()).status, 401);
    let body = json!({"token": open}).to_string();
    assert_eq!(send(&server, "POST /page/session", &[("Content-Type", "application/json")], &body).status, 403);
    assert_eq!(session("POST", &[("Origin", "http://evil.example")], &body).status, 403);
    let signed_in = session("POST", &[("Origin", "http://localhost")], &body);
    assert_eq!((signed_in.status, &signed_in.json()["namespaces"]), (200, &json!(["open"])));
    let cookie = signed_in.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a pair");

    let search = "GET /v1/search?query=oven+code";
    let mine = send(&server, search, &[("Cookie", cookie), ("Tamis-Page", "1")], "");
    assert!(mine.status == 200 && !mine.body.contains("4711"), "{}", mine.body);
    assert_eq!(send(&server, search, &[("Cookie", cookie)], "").status, 401, "a form of another site could send this");
    let headers = [("Cookie", cookie), ("Tamis-Page", "1"), ("Content-Type", "application/json")];
    assert_eq!(send(&server, "POST /mcp", &headers, "{}").status, 401, "agents have no cookies");
    let gone = session("DELETE", &[("Cookie", cookie)], "");
    let is_over = gone.header("set-cookie").is_some_and(|value| value.contains("Max-Age=0"));
    assert!(gone.status == 204 && is_over, "{}", gone.head);
}

#[test]
fn tokens_cannot_be_tried_one_after_the_other() {
    let root = two_namespaces();
    token(&root, &["narrow", "--namespace", "open"]);
    let server = limited_to_sixty_a_minute(&root);
    let guess = |number: usize| {
        let cookie = format!("tamis_token=a-guess-at-the-token-{number}");
        send(&server, "GET /page/session", &[("Tamis-Page", "1"), ("Cookie", &cookie)], "").status
    };
    assert!((0..200).map(guess).any(|status| status == 429), "guesses are limited");
}

#[test]
fn a_browser_that_asks_for_the_api_is_led_to_the_page() {
    let (_root, server) = served_kitchen();
    assert!(server.log().contains(&format!("serving http://{}/ for people", server.address)), "{}", server.log());
    for path in ["/v1", "/v1/"] {
        let led = send(&server, &format!("GET {path}"), &[("Accept", "text/html,application/xhtml+xml")], "");
        assert_eq!((led.status, led.header("location")), (303, Some("/")), "{path}: {}", led.head);
        assert_eq!(get(&server, path).status, 404, "a program reads what is there");
    }
}
