//! Who may look: on a loopback address whoever sits at this machine, elsewhere whoever has the
//! token.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};

/// Which requests are answered.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The cookie that has the token once it was shown: one for each port, since browsers send
    /// those of a host to all its ports.
    cookie: String,
    /// What must be shown; `None` on a loopback address.
    token: Option<String>,
}

impl Guard {
    /// The guard of a server that listens there.
    pub(crate) fn of(address: SocketAddr) -> Self {
        let is_open = address.ip().is_loopback();
        let cookie = format!("sojourn_token_{}", address.port());
        Self { cookie, token: (!is_open).then(|| uuid::Uuid::new_v4().simple().to_string()) }
    }

    /// What goes behind the address in the link that lets one in.
    pub(crate) fn query(&self) -> String {
        self.token.as_ref().map_or_else(String::new, |token| format!("?token={token}"))
    }

    /// Without a token, a page elsewhere must not reach the server by a name of its own that it
    /// has made to mean this machine: so only a machine's own names are answered to.
    fn is_ours(headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| {
            let name = match host.strip_prefix('[') {
                Some(rest) => rest.split(']').next().unwrap_or_default(),
                None => host.rsplit_once(':').map_or(host, |(name, _)| name),
            };
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        })
    }
}

/// Lets a request in, or not.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let Some(token) = &guard.token else {
        return match Guard::is_ours(request.headers()) {
            true => next.run(request).await,
            false => (StatusCode::MISDIRECTED_REQUEST, "ask for localhost\n").into_response(),
        };
    };
    let shown = request.uri().query().into_iter().flat_map(|query| query.split('&'));
    let mut shown = shown.filter_map(|pair| pair.strip_prefix("token="));
    if shown.any(|shown| is_same(shown, token)) {
        // The address in the browser's history has no token then.
        let mut response = Redirect::to(request.uri().path()).into_response();
        // Lax: the link may stand on another's page, and the redirect must have the cookie.
        let cookie = format!("{}={token}; HttpOnly; SameSite=Lax; Path=/", guard.cookie);
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        return response;
    }
    let cookies = request.headers().get_all(header::COOKIE).iter();
    let has_cookie = cookies
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(guard.cookie.as_str())?.strip_prefix('='))
        .any(|shown| is_same(shown, token));
    if has_cookie {
        next.run(request).await
    } else {
        (StatusCode::UNAUTHORIZED, "open the link that the run printed: it has the token\n")
            .into_response()
    }
}

/// Compares in a time that does not tell how much is right.
fn is_same(shown: &str, token: &str) -> bool {
    let differing = shown.bytes().zip(token.bytes()).fold(0, |so_far, (a, b)| so_far | (a ^ b));
    shown.len() == token.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_names_are_ours() {
        let is_ours = |host: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            Guard::is_ours(&headers)
        };
        for host in ["localhost", "localhost:8089", "127.0.0.1:1", "127.9.9.9", "[::1]:80", "[::1]"]
        {
            assert!(is_ours(host), "{host}");
        }
        for host in ["evil.example", "evil.example:80", "10.0.0.1", "localhost.evil.example", ""] {
            assert!(!is_ours(host), "{host}");
        }
        assert!(!Guard::is_ours(&HeaderMap::new()));
    }

    #[test]
    fn a_token_is_compared_whole() {
        assert!(is_same("abc", "abc"));
        for wrong in ["", "ab", "abcd", "abd"] {
            assert!(!is_same(wrong, "abc"), "{wrong}");
        }
    }
}
