//! SQS queues and SNS topics.

use crate::{Secret, SqsChannel, SqsCredentials, SqsSource};

use crate::read::Reader;
use crate::read::fields::Fields;
use crate::read::node::Node;
use crate::read::shape::Kind::{Either, Flag, List, Map, Text};
use crate::read::shape::{Field, Shape};

pub(crate) static SQS: Shape = Shape {
    name: "an sqs channel",
    doc: "A queue made for the test, or a topic through a queue of its own.",
    fields: &[
        Field::new("queue", Text, "Queue, by name or URL. The tap takes what it reads."),
        Field::new("topic", Text, "SNS topic, by its ARN: a queue is made and subscribed."),
        Field::new("endpoint", Text, "Another endpoint than AWS's, such as a local server's."),
        Field::new("region", Text, "Region; by default the environment's."),
        Field::new("credentials", Map(&CREDENTIALS), "Keys; by default the environment's."),
        Field::new("discard", Flag, "Throw away what waits in the queue when the tap opens."),
        Field::new(
            "publish",
            Either(&[Text, List(&Text)]),
            "Queues that a message published here goes to, a copy each; by default the source.",
        ),
    ],
};

pub(crate) static CREDENTIALS: Shape = Shape {
    name: "the credentials",
    doc: "Keys that requests are signed with. Write them as `${NAME}`.",
    fields: &[
        Field::new("access_key_id", Text, "Access key id.").required(),
        Field::new("secret_access_key", Text, "Secret access key.").required(),
        Field::new("session_token", Text, "Session token, of temporary keys."),
    ],
};

impl Reader<'_> {
    pub(super) fn sqs(&mut self, node: &Node) -> Option<SqsChannel> {
        let fields = Fields::of(node, &SQS, &mut self.problems)?;
        let (word, source) = self.only(node, &fields, &["queue", "topic"])?;
        let name = self.problems.text(source)?.to_owned();
        let source = match word {
            "queue" => SqsSource::Queue(name),
            _ => SqsSource::Topic(name),
        };
        let endpoint = self.text_of(&fields, "endpoint")?;
        let region = self.text_of(&fields, "region")?;
        let credentials = match fields.get("credentials") {
            Some(node) => Some(self.sqs_credentials(node)?),
            None => None,
        };
        let discard = match fields.get("discard") {
            Some(node) => self.problems.flag(node)?,
            None => false,
        };
        let publish = match fields.get("publish") {
            Some(node) => self.texts(node)?,
            None => Vec::new(),
        };
        Some(SqsChannel { endpoint, region, credentials, source, discard, publish })
    }

    fn sqs_credentials(&mut self, node: &Node) -> Option<SqsCredentials> {
        let fields = Fields::of(node, &CREDENTIALS, &mut self.problems)?;
        let id = self.text_of(&fields, "access_key_id")?;
        let secret = self.text_of(&fields, "secret_access_key")?;
        let token = self.text_of(&fields, "session_token")?;
        for kept in secret.iter().chain(&token) {
            self.problems.keep_secret(kept);
        }
        let (secret, token) = (Secret::new(secret?), token.map(Secret::new));
        Some(SqsCredentials { id: id?, secret, token })
    }
}
