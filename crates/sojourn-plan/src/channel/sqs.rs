//! SQS queues and SNS topics.

use super::Secret;

/// A queue of SQS, or a topic of SNS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqsChannel {
    /// Another endpoint than AWS's, such as `http://127.0.0.1:9324`.
    pub endpoint: Option<String>,
    /// Region; `None`: from the environment.
    pub region: Option<String>,
    /// The keys that sign requests; `None`: from the environment, as AWS's own tools take them.
    pub credentials: Option<SqsCredentials>,
    /// What is listened to.
    pub source: SqsSource,
    /// Whether what waits in the queue may be thrown away when the tap opens.
    pub discard: bool,
    /// Queues that a message published to the channel itself goes to, a copy each, as a topic
    /// would send it on; empty: to the source.
    pub publish: Vec<String>,
}

/// Keys that sign requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqsCredentials {
    /// Access key id.
    pub id: String,
    /// Secret access key.
    pub secret: Secret,
    /// Session token, of temporary keys.
    pub token: Option<Secret>,
}

/// What is listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqsSource {
    /// A queue made for the test, by name or URL: what the tap reads it takes away, so that it must
    /// never be the system's own.
    Queue(String),
    /// A topic, by its ARN: a queue is made, subscribed to it, and deleted at the end.
    Topic(String),
}

impl SqsSource {
    /// The queue's name or URL, or the topic's ARN.
    pub fn name(&self) -> &String {
        match self {
            Self::Queue(name) | Self::Topic(name) => name,
        }
    }
}

impl Default for SqsSource {
    fn default() -> Self {
        Self::Queue(String::new())
    }
}
