//! Promise: what cannot work is said when the tap opens, or before a publisher's first message,
//! with what to do and without secrets.

use sojourn_broker::{BrokerError, PublisherSettings};

use crate::cut::assert_names;
use crate::publishing::Publishing;
use crate::{Rig, Wrong};

/// Each of the rig's wrong channels is an error with the words that it must have, a hint, and no
/// secret in any form in which it could be printed.
pub fn settings_that_cannot_work(rig: &mut dyn Rig) {
    let wrong = rig.wrong();
    assert!(!wrong.is_empty());
    for wrong in wrong {
        let made = rig.connector().tap(&wrong.channel);
        let error = match made {
            Err(error) => error,
            Ok(mut tap) => match tap.open() {
                Err(error) => error,
                Ok(info) => panic!("{} is taken: {}", wrong.what, info.listens_to),
            },
        };
        assert_says(&error, &wrong);
    }
}

/// A publisher that works is ready, with its connection made; one of a channel that cannot work
/// says so in the words of a tap, before any message.
pub fn a_publisher_that_cannot_work_says_so(rig: &mut dyn Rig) {
    let proxy = rig.proxy();
    let mut publishing = Publishing::open(rig, Some(proxy.address()), 10);
    publishing.ready().unwrap();
    assert!(proxy.cut() > 0, "ready, and not connected");
    drop(publishing);
    let mut tried = 0;
    for wrong in rig.wrong() {
        if !rig.stops_publishers(&wrong) {
            continue;
        }
        tried += 1;
        let topic = wrong.channel.connector.usual_topic().unwrap_or_default().to_owned();
        let made = rig.connector().publisher(&wrong.channel, PublisherSettings::default());
        let ready = made.and_then(|mut publisher| publisher.ready(&[topic]));
        let Err(error) = ready else { panic!("{}: the publisher is ready", wrong.what) };
        assert_says(&error, &wrong);
    }
    assert!(tried > 0);
}

/// The error has the words that it must have, says what to do, and shows no secret.
#[track_caller]
fn assert_says(error: &BrokerError, wrong: &Wrong) {
    assert_names(error, &wrong.says);
    assert!(error.hint.is_some(), "{}: nothing to do is said: {error}", wrong.what);
    if let Some(secret) = &wrong.secret {
        let printed = format!("{error:?}{error}");
        assert!(!printed.contains(secret), "{}: {printed}", wrong.what);
    }
}
