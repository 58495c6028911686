//! A broker's URL, and how its TLS is trusted.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::{Secret, Server, Tls};

use crate::read::Reader;
use crate::read::fields::Fields;
use crate::read::node::Node;
use crate::read::shape::Kind::{Flag, Text};
use crate::read::shape::{Field, Shape};

/// Schemes of a connector: word, whether it means TLS, and the usual port.
pub(super) type Schemes = &'static [(&'static str, bool, u16)];

pub(crate) static TLS: Shape = Shape {
    name: "the TLS settings",
    doc: "How a connection with TLS is made. Certificates are verified unless told otherwise.",
    fields: &[
        Field::new("ca", Text, "File of certificates to trust (PEM), instead of the system's."),
        Field::new("cert", Text, "File of a client certificate (PEM)."),
        Field::new("key", Text, "File of its private key (PEM)."),
        Field::new("name", Text, "Name that the server's certificate carries, if not the host."),
        Field::new("insecure", Flag, "Take any certificate."),
    ],
};

impl Reader<'_> {
    /// The `url` and `tls` of a channel.
    pub(super) fn server(&mut self, fields: &Fields<'_>, schemes: Schemes) -> Option<Server> {
        self.server_at("url", fields, schemes)
    }

    /// The same of a URL by another name.
    pub(in crate::read) fn server_at(
        &mut self,
        name: &str,
        fields: &Fields<'_>,
        schemes: Schemes,
    ) -> Option<Server> {
        let node = fields.get(name);
        let trust = fields.get("tls").map(|node| self.tls(node));
        let mut server = self.server_url(node?, schemes)?;
        if let Some(trust) = trust {
            server.trust = trust?;
            if !server.tls {
                let secure = schemes.iter().find(|(_, tls, _)| *tls);
                let hint = secure.map(|(scheme, ..)| format!("begin it with `{scheme}://`"));
                let message = "`tls` for a URL that does not ask for TLS";
                self.problems.at(fields.get("tls")?, message, hint);
                return None;
            }
        }
        Some(server)
    }

    /// The server that a URL names.
    pub(super) fn server_url(&mut self, node: &Node, schemes: Schemes) -> Option<Server> {
        let text = self.problems.text(node)?.trim();
        let example = schemes
            .first()
            .map(|(scheme, _, port)| format!("such as `{scheme}://127.0.0.1:{port}`"));
        let problem = match Url::parse(text) {
            Ok(url) => match schemes.iter().find(|(scheme, ..)| *scheme == url.scheme()) {
                Some(&(_, tls, port)) => match server_of(&url, tls, port) {
                    Some(server) => {
                        if let Some(password) = &server.password {
                            self.problems.keep_secret(password.reveal());
                        }
                        return Some(server);
                    }
                    None => "a URL without a host".to_owned(),
                },
                None => format!("`{}://` is not spoken here", url.scheme()),
            },
            Err(error) => format!("not a URL: {error}"),
        };
        self.problems.at(node, problem, example);
        None
    }

    fn tls(&mut self, node: &Node) -> Option<Tls> {
        let fields = Fields::of(node, &TLS, &mut self.problems)?;
        let mut file = |name| match fields.get(name) {
            Some(node) => self.problems.text(node).map(|text| Some(PathBuf::from(text))),
            None => Some(None),
        };
        let (ca, cert, key) = (file("ca")?, file("cert")?, file("key")?);
        if cert.is_some() != key.is_some() {
            let hint = Some("a client's certificate and its key go together".to_owned());
            self.problems.at(node, "`cert` or `key` alone", hint);
            return None;
        }
        let name = match fields.get("name") {
            Some(node) => Some(self.problems.text(node)?.to_owned()),
            None => None,
        };
        let insecure = match fields.get("insecure") {
            Some(node) => self.problems.flag(node)?,
            None => false,
        };
        Some(Tls { ca, cert, key, name, insecure })
    }
}

/// The server of a URL; `None`: it has no host.
pub(crate) fn server_of(url: &Url, tls: bool, usual_port: u16) -> Option<Server> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let user = Some(url.username()).filter(|user| !user.is_empty()).map(decoded);
    let mut path = match url.scheme() {
        // Sent on as it is; all other paths name something.
        "http" | "https" | "ws" | "wss" => url.path().replacen('/', "", 1),
        _ => decoded(url.path().trim_start_matches('/')),
    };
    if let Some(query) = url.query() {
        path.push('?');
        path.push_str(query);
    }
    Some(Server {
        host,
        port: url.port_or_known_default().unwrap_or(usual_port),
        tls,
        user,
        password: url.password().map(decoded).map(Secret::new),
        path,
        trust: Tls::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_its_password_never_shown() {
        let url = Url::parse("nats://load:p%40ss@[::1]:4223/a%2Fb?x=1").unwrap();
        let server = server_of(&url, false, 4222).unwrap();
        assert_eq!((server.host.as_str(), server.port), ("::1", 4223));
        assert_eq!(server.address(), "[::1]:4223");
        assert_eq!(server.user.as_deref(), Some("load"));
        assert_eq!(server.password.as_ref().map(Secret::reveal), Some("p@ss"));
        assert_eq!(server.path, "a/b?x=1");
        assert!(!format!("{server:?}").contains("p@ss"));
        let request = server_of(&Url::parse("wss://h/a%2Fb//c%20d").unwrap(), true, 443).unwrap();
        assert_eq!((request.path.as_str(), request.port), ("a%2Fb//c%20d", 443));
        let plain = server_of(&Url::parse("redis://cache").unwrap(), false, 6379).unwrap();
        assert_eq!((plain.port, plain.path.as_str(), plain.user), (6379, "", None));
    }
}
