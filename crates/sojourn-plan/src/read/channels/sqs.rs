//! SQS queues and SNS topics.

use crate::{SqsChannel, SqsSource};

use crate::read::Reader;
use crate::read::fields::Fields;
use crate::read::node::Node;
use crate::read::shape::Kind::{Either, Flag, List, Text};
use crate::read::shape::{Field, Shape};

pub(crate) static SQS: Shape = Shape {
    name: "an sqs channel",
    doc: "A queue made for the test, or a topic through a queue of its own.",
    fields: &[
        Field::new("queue", Text, "Queue, by name or URL. The tap takes what it reads."),
        Field::new("topic", Text, "SNS topic, by its ARN: a queue is made and subscribed."),
        Field::new("endpoint", Text, "Another endpoint than AWS's, such as a local server's."),
        Field::new("region", Text, "Region; by default the environment's."),
        Field::new("discard", Flag, "Throw away what waits in the queue when the tap opens."),
        Field::new(
            "publish",
            Either(&[Text, List(&Text)]),
            "Queues that a message published here goes to, a copy each; by default the source.",
        ),
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
        let discard = match fields.get("discard") {
            Some(node) => self.problems.flag(node)?,
            None => false,
        };
        let publish = match fields.get("publish") {
            Some(node) => self.texts(node)?,
            None => Vec::new(),
        };
        Some(SqsChannel { endpoint, region, source, discard, publish })
    }
}
