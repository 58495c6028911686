//! `k6/x/mqtt`: a client of MQTT 3.1.1 whose handlers are called from the script's event loop.
//!
//! `options` is what scripts say, `connection` one session with a broker, `client` the class,
//! `calls` what it asks of brokers, `events` its handlers, `meters` the metrics.

mod calls;
mod client;
mod connection;
mod events;
mod meters;
mod options;

use std::rc::Rc;

use sojourn_script::js::{self, Ctx, Object};

use crate::user::User;
use meters::Meters;

/// The qualities of service, by the names that the documentation gives them.
const QOS: [(&str, u8); 3] = [("AtMostOnce", 0), ("AtLeastOnce", 1), ("ExactlyOnce", 2)];

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let meters = Meters::declare(ctx, user)?;
    module.set("Client", client::constructor(ctx, user, meters)?)?;
    let qos = Object::new(ctx.clone())?;
    for (name, value) in QOS {
        qos.set(name, value)?;
    }
    module.set("QoS", qos)?;
    Ok(module)
}
