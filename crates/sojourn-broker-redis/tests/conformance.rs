//! The promises that every connector keeps.

use crate::rig::{PubSubRig, StreamRig};

mod streams {
    sojourn_conformance::taps!(super::StreamRig::new());
    sojourn_conformance::publishers!(super::StreamRig::new());
    sojourn_conformance::consumers!(super::StreamRig::new());
    sojourn_conformance::backlogs!(super::StreamRig::new());
}

mod pub_sub {
    sojourn_conformance::taps!(super::PubSubRig::new());
    sojourn_conformance::publishers!(super::PubSubRig::new());
}
