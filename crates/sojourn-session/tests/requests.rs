//! Requests: URLs, parameters, bodies, header fields, targets.

use crate::util::{Reply, defined, lines, play, program, script};

/// The header fields of the first request of a session.
fn fields(steps: &str) -> Vec<(String, String)> {
    play(&program(&script(steps)), 0, 0, 10, |_| Some(Reply::ok(""))).headers.remove(0)
}

fn field(steps: &str, name: &str) -> Option<String> {
    let fields = fields(steps);
    let found = fields.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

#[test]
fn every_verb_asks() {
    let steps = "for (const verb of ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']) session[verb]('/x');";
    let expected: Vec<_> = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        .iter()
        .map(|verb| format!("{verb} http://a.example/x"))
        .collect();
    assert_eq!(lines(steps), expected);
}

#[test]
fn parameters_are_text_in_path_and_query() {
    let steps =
        "session.get('/:a/:b?x=:a&p=:8080&t=12:30&u=::a', { params: { a: 'ä/%41', c: 1 } });";
    assert_eq!(
        lines(steps),
        ["GET http://a.example/%C3%A4/%41/:b?x=%C3%A4/%41&p=:8080&t=12:30&u=:%C3%A4/%41"]
    );
    let warnings: Vec<_> = defined(&script(steps)).unwrap().warnings;
    let messages: Vec<_> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the parameter `c` is not in the URL",
            "`:b` in the URL has no parameter and is sent as it stands"
        ]
    );
}

#[test]
fn bodies_are_text_or_forms_or_files() {
    let steps = "session.setVar('v', 'a&b ä');
        const v = session.getVar('v');
        session.post('/t', { payload: 'as it is & so on' });
        session.post('/f', { payload: { 'a b': 1, c: v, d: 'x' + v, e: true, f: '&' } });
        session.post('/r', { payload_from_file: session.ds.getRawFile('body.bin') });
        session.delete('/d', { payload: '' });";
    let expected = [
        "POST http://a.example/t as it is & so on",
        "POST http://a.example/f a+b=1&c=a%26b+%C3%A4&d=xa%26b+%C3%A4&e=true&f=%26",
        "POST http://a.example/r raw \u{1} bytes",
        "DELETE http://a.example/d",
    ];
    assert_eq!(lines(steps), expected);
    let form = "session.post('/', { payload: { a: 1 } });";
    assert_eq!(field(form, "content-type").as_deref(), Some("application/x-www-form-urlencoded"));
    let own = "session.post('/', { payload: { a: 1 }, headers: { 'content-type': 'x/y' } });";
    assert_eq!(field(own, "Content-Type").as_deref(), Some("x/y"));
    assert_eq!(field("session.post('/', { payload: 'a' });", "content-type"), None);
}

#[test]
fn gzip_authentication_and_defaults() {
    assert_eq!(field("session.get('/');", "accept-encoding"), None);
    assert_eq!(
        field("session.get('/', { gzip: true });", "accept-encoding").as_deref(),
        Some("gzip")
    );
    let defaults = "session.defaults.setGzip(true); session.defaults.setHeader('X-A', '1');
        session.defaults.setHeader('x-b', 'b'); session.defaults.setHeader('x-a', '2');";
    let steps =
        format!("{defaults} session.get('/', {{ headers: {{ 'X-B': 'own' }}, gzip: false }});");
    let expected = [("x-a".to_owned(), "2".to_owned()), ("X-B".to_owned(), "own".to_owned())];
    assert_eq!(fields(&steps), expected);
    let steps = format!("{defaults} session.get('/');");
    assert_eq!(fields(&steps).len(), 3);
    let basic =
        "session.get('/', { authentication: { username: 'Aladdin', password: 'open sesame' } });";
    // The example of RFC 7617.
    let expected = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert_eq!(field(basic, "authorization").as_deref(), expected);
    for form in ["session.setAuthentication", "session.defaults.setAuthentication"] {
        let steps = format!(
            "session.setVar('p', 'open sesame'); {form}({{ username: 'Aladdin', password: session.getVar('p') }});
             session.get('/');"
        );
        assert_eq!(field(&steps, "authorization").as_deref(), expected, "{form}");
    }
}

#[test]
fn no_value_can_add_a_line() {
    let steps = "session.setVar('v', 'a\\r\\nX-Evil: 1');
        session.get('/' + session.getVar('v'), { headers: { 'X-A': session.getVar('v') } });";
    assert_eq!(field(steps, "x-a").as_deref(), Some("a  X-Evil: 1"));
    assert_eq!(lines(steps), ["GET http://a.example/a%0D%0AX-Evil:%201"]);
}

#[test]
fn targets_replace_or_add() {
    let with = |targets: &str| {
        defined(&format!(
            "{targets}\n{}",
            script("session.get('/');").replacen("definition.setTarget", "(() => {})", 1)
        ))
    };
    let origins = |targets: &str| -> Vec<String> {
        with(targets).unwrap().targets.all().iter().map(|target| target.origin.clone()).collect()
    };
    let text = "definition.addTarget('a'); definition.addTarget('b'); definition.setTarget('https://c:8443/path');";
    assert_eq!(origins(text), ["https://c:8443"]);
    let both =
        with("definition.setTarget('a'); definition.addTarget('b');").unwrap_err().to_string();
    assert!(both.contains("`/` is relative, but there are 2 targets"), "{both}");
    assert!(with("").unwrap_err().to_string().contains("no target is set"));
    assert!(
        with("definition.setTargets([])").unwrap_err().to_string().contains("no target is given")
    );
    assert!(
        with("definition.setTarget()").unwrap_err().to_string().contains("a target must be text")
    );
}

#[test]
fn hosts_that_are_no_targets_are_denied() {
    let steps = "session.get('http://other.example/x');
        session.setVar('h', 'A.EXAMPLE'); session.setVar('u', 'https://evil.example/'); session.setVar('r', 'rel/x');
        session.get(`http://${session.getVar('h')}:81/y`);
        session.get(session.getVar('u'));
        session.get(session.getVar('r'));
        session.log(session.lastHttpStatus());";
    let expected = [
        "denied http://other.example/x",
        "GET http://A.EXAMPLE:81/y",
        "denied https://evil.example/",
        "GET http://a.example/rel/x",
        "log 200",
    ];
    assert_eq!(lines(steps), expected);
    let warnings = defined(&script(steps)).unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].message, "`other.example` is no target: requests to it are denied");
    assert_eq!(
        lines("session.get('http://a.example/x'); session.log(session.lastHttpStatus())")[1],
        "log 200"
    );
    assert_eq!(
        lines("session.get('http://b/x'); session.log(session.lastHttpStatus())")[1],
        "log 0"
    );
}

/// What connects reads a backslash as a slash: the host is what stands before it.
#[test]
fn a_backslash_hides_no_other_host() {
    let steps = r"session.get('http://evil.example\\@a.example/x');
        session.setVar('to', 'http://evil.example\\@a.example/y');
        session.get(session.getVar('to'));
        session.get('http://a.example\\@evil.example/z');";
    let expected = [
        r"denied http://evil.example\@a.example/x",
        r"denied http://evil.example\@a.example/y",
        r"GET http://a.example\@evil.example/z",
    ];
    assert_eq!(lines(steps), expected);
}

#[test]
fn a_relative_url_of_a_value_may_name_another_url() {
    let steps = "session.setVar('next', '/login?then=https://b.example/x');
        session.get(session.getVar('next'));
        session.setVar('next', 'login?then=https://b.example/x');
        session.get(session.getVar('next'));
        session.setVar('next', 'ftp://a.example/x');
        session.get(session.getVar('next'));
        session.setVar('next', '//b.example/x');
        session.get(session.getVar('next'));";
    let expected = [
        "GET http://a.example/login?then=https://b.example/x",
        "GET http://a.example/login?then=https://b.example/x",
        "denied ftp://a.example/x",
        "denied //b.example/x",
    ];
    assert_eq!(lines(steps), expected);
}
