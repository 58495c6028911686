//! The promises that every connector keeps, by core NATS and by a stream.

use crate::rig::NatsRig;

mod core_taps {
    sojourn_conformance::taps!(super::NatsRig::core());
}

mod core_publishers {
    sojourn_conformance::publishers!(super::NatsRig::core());
}

mod stream_taps {
    sojourn_conformance::taps!(super::NatsRig::stream());
}

mod stream_publishers {
    sojourn_conformance::publishers!(super::NatsRig::stream());
}

// A queue group of core NATS has no commits: what a member did not finish never comes again.
mod stream_consumers {
    sojourn_conformance::consumers!(super::NatsRig::stream());
}

mod stream_backlogs {
    sojourn_conformance::backlogs!(super::NatsRig::stream());
}
