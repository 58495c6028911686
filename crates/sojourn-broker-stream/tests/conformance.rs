//! The promises that every connector keeps, as far as they concern one that has no past and no
//! publisher: by a server of WebSockets and of server-sent events.

use crate::rig::StreamRig;

mod sse {
    sojourn_conformance::taps!(super::StreamRig::sse());
}

mod websocket {
    sojourn_conformance::taps!(super::StreamRig::websocket());
}
