//! The promises of every connector that a topic can keep on this server. What befalls connections
//! is the own queue's matter, and kept by the promises of queues. Five hundred messages at once take
//! this server longer than the publisher waits on a busy machine: outcomes are looked at in `sns`.

use crate::sns_rig::SnsRig;

mod taps {
    sojourn_conformance::promises!(super::SnsRig::standard();
        nothing_before_and_everything_after,
        every_byte_as_it_was_sent,
        the_watermark_follows,
        nobody_there,
        settings_that_cannot_work,
        the_system_notices_nothing,
    );
}

mod fifo_taps {
    sojourn_conformance::promises!(super::SnsRig::fifo();
        nothing_before_and_everything_after,
        every_byte_as_it_was_sent,
    );
}

mod publishers {
    sojourn_conformance::promises!(super::SnsRig::standard();
        a_full_queue_is_refused,
        dropped_with_messages_in_flight,
    );
}
