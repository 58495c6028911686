//! A generator thread as scripts hold it: `thread.addr`, `thread:get`, `thread:set`, `thread:stop`.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use mlua::{LuaString, UserData, UserDataFields, UserDataMethods, Value, WeakLua};

use super::{
    address::{Address, address_in},
    transfer::carry,
};

/// What a thread's handles share with its generator.
#[derive(Debug)]
pub(crate) struct Shared {
    address: Mutex<SocketAddr>,
    stop: AtomicBool,
}

impl Shared {
    pub(crate) fn new(address: SocketAddr) -> Arc<Self> {
        Arc::new(Self { address: Mutex::new(address), stop: AtomicBool::new(false) })
    }

    /// Where the thread's connections go.
    pub(crate) fn address(&self) -> SocketAddr {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread makes no further requests.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A handle. It does not keep the thread's state alive: that would be a circle.
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) lua: WeakLua,
}

impl Handle {
    fn lua(&self) -> mlua::Result<mlua::Lua> {
        self.lua.try_upgrade().ok_or_else(|| mlua::Error::runtime("this thread is gone"))
    }
}

impl UserData for Handle {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, this| Ok(Address(this.shared.address())));
        fields.add_field_method_set("addr", |_, this, value: Value| {
            let address = value.as_userdata().and_then(address_in).ok_or_else(|| {
                mlua::Error::runtime("thread.addr takes an address of wrk.lookup")
            })?;
            *this.shared.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, this, name: LuaString| {
            let theirs = this.lua()?;
            let name = theirs.create_string(name.as_bytes())?;
            carry(&theirs.globals().get::<Value>(name)?, lua)
        });
        methods.add_method("set", |_, this, (name, value): (LuaString, Value)| {
            let theirs = this.lua()?;
            let name = theirs.create_string(name.as_bytes())?;
            theirs.globals().set(name, carry(&value, &theirs)?)
        });
        methods.add_method("stop", |_, this, ()| {
            this.shared.stop.store(true, Ordering::Relaxed);
            Ok(())
        });
    }
}
