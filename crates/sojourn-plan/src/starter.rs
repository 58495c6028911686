//! First journey files, for `sojourn init`.

/// What the first file is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StarterKind {
    /// An HTTP API alone.
    #[default]
    Http,
    /// An HTTP API and the events it causes on Kafka.
    Kafka,
    /// An HTTP API and the webhook it calls back.
    Webhook,
}

/// A journey file to start from: complete, commented, and read without an error as it is.
pub fn starter(kind: StarterKind) -> String {
    let text = match kind {
        StarterKind::Http => include_str!("starter/http.yaml"),
        StarterKind::Kafka => include_str!("starter/kafka.yaml"),
        StarterKind::Webhook => include_str!("starter/webhook.yaml"),
    };
    text.to_owned()
}
