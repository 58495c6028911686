//! What goes wrong on a connection: for now, or for good.

use sojourn_broker::BrokerError;

use crate::config::Target;
use crate::resp::{Malformed, Token};

/// Why something did not work.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The connection is gone, or the server can't answer yet: another try may work.
    Lost(String),
    /// Trying again would not help.
    Fatal(BrokerError),
}

impl Failure {
    /// As an error of who does not try again.
    pub(crate) fn into_error(self, target: &Target) -> BrokerError {
        match self {
            Self::Fatal(error) => error,
            Self::Lost(reason) => {
                BrokerError::new(format!("cannot reach {}: {reason}", target.name()))
                    .with_hint("is the server running, and is this its address?")
            }
        }
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::Lost(malformed.0.to_owned())
    }
}

/// What an error that the server answered means for whoever asked.
pub(crate) fn refusal(target: &Target, said: &[u8]) -> Failure {
    let said = String::from_utf8_lossy(said);
    let (code, rest) = said.split_once(' ').unwrap_or((&said, ""));
    let user = target.server.user.as_deref().unwrap_or("default");
    let fatal = |what: String, hint: &str| Failure::Fatal(target.error(what).with_hint(hint));
    match code {
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "BUSY" | "TRYAGAIN" => {
            Failure::Lost(format!("it answers `{said}`"))
        }
        "ERR" if rest.starts_with("max number of clients") => Failure::Lost(rest.to_owned()),
        "WRONGPASS" => fatal(
            format!("it refuses user `{user}` with this password"),
            "check user and password of the channel's `url`",
        ),
        "NOAUTH" => fatal(
            "it asks for a password".to_owned(),
            "write it into the channel's `url`: `redis://USER:PASSWORD@HOST`",
        ),
        "NOPERM" => fatal(
            format!("user `{user}` may not do this: {rest}"),
            "docs/brokers/redis.md lists what a tap, a publisher and a backlog need",
        ),
        "MOVED" | "ASK" => fatal(
            "it is a node of a cluster and does not have this key".to_owned(),
            "connect to the node that has it",
        ),
        "WRONGTYPE" => {
            fatal("a key of this name is not a stream".to_owned(), "`TYPE key` says what it is")
        }
        _ if rest.contains("called without any password configured") => fatal(
            "it has no password, but the channel's `url` has".to_owned(),
            "leave the password out",
        ),
        _ if rest.contains("DB index is out of range") => fatal(
            format!("it has no database {}", target.database),
            "the path of the channel's `url` is the database's number; most servers have 0 to 15",
        ),
        _ => Failure::Fatal(target.error(format!("it answers `{said}`"))),
    }
}

/// The token, unless it is an error.
pub(crate) fn accepted<'a>(target: &Target, token: Token<'a>) -> Result<Token<'a>, Failure> {
    match token {
        Token::Error(said) => Err(refusal(target, said)),
        token => Ok(token),
    }
}
