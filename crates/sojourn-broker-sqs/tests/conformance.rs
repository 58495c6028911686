//! The promises that every connector keeps.

use crate::rig::SqsRig;

mod taps {
    sojourn_conformance::taps!(super::SqsRig::standard());
}

mod fifo_taps {
    sojourn_conformance::promises!(super::SqsRig::fifo();
        nothing_before_and_everything_after,
        every_byte_as_it_was_sent,
        a_connection_cut,
        a_sink_that_is_slow,
    );
}

mod publishers {
    sojourn_conformance::publishers!(super::SqsRig::standard());
}

mod fifo_publishers {
    sojourn_conformance::promises!(super::SqsRig::fifo(); an_outcome_for_each_message);
}

mod consumers {
    sojourn_conformance::consumers!(super::SqsRig::standard());
}

mod backlogs {
    sojourn_conformance::backlogs!(super::SqsRig::standard());
}
