//! `wrk.lookup` and `wrk.connect`: the addresses of a host, and whether they answer.

use std::{
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use mlua::{Lua, MetaMethod, UserData, UserDataMethods, Value};

/// How long a connection is tried.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// An address as scripts hold it: it can be shown and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl UserData for Address {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(this.0.to_string()));
        methods.add_meta_function(MetaMethod::Eq, |_, (a, b): (Value, Value)| {
            let address = |value: &Value| value.as_userdata().and_then(address_in);
            Ok(address(&a) == address(&b))
        });
    }
}

/// The address in a userdata, if it is one.
pub(crate) fn address_in(userdata: &mlua::AnyUserData) -> Option<SocketAddr> {
    userdata.borrow::<Address>().ok().map(|address| address.0)
}

/// Every address of a host and service (a port or its name); errs in words.
pub(crate) fn look_up(host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
    let port = match service.parse::<u16>() {
        Ok(port) => port,
        Err(_) => {
            port_of(service).ok_or_else(|| format!("no port is known for service {service:?}"))?
        }
    };
    let found = (host, port).to_socket_addrs();
    let found = found.map_err(|error| format!("unable to resolve {host}:{service} {error}"))?;
    let mut addresses = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

/// Connects and hangs up again.
pub(crate) fn connect(address: SocketAddr) -> std::io::Result<()> {
    TcpStream::connect_timeout(&address, CONNECT_TIME).map(drop)
}

/// The functions for scripts: (lookup, connect).
pub(crate) fn functions(lua: &Lua) -> mlua::Result<(mlua::Function, mlua::Function)> {
    let lookup = lua.create_function(|lua, (host, service): (String, Value)| {
        let service = match &service {
            Value::Nil => "http".to_owned(),
            other => other.to_string()?,
        };
        let addresses = look_up(&host, &service)
            .map_err(|why| mlua::Error::runtime(format!("wrk.lookup: {why}")))?;
        lua.create_sequence_from(addresses.into_iter().map(Address))
    })?;
    let connect = lua.create_function(|_, address: mlua::AnyUserData| {
        let address = address_in(&address).ok_or_else(|| {
            mlua::Error::runtime("wrk.connect: the argument is no address of wrk.lookup")
        })?;
        Ok(connect(address).is_ok())
    })?;
    Ok((lookup, connect))
}

/// The TCP port of a service's name.
fn port_of(service: &str) -> Option<u16> {
    match service {
        "http" => return Some(80),
        "https" => return Some(443),
        _ => {}
    }
    let services = std::fs::read_to_string("/etc/services").ok()?;
    services.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let name = words.next()?;
        let port = words.next()?.strip_suffix("/tcp")?;
        let is_it = name == service || words.any(|alias| alias == service);
        is_it.then(|| port.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_services_have_addresses() {
        let text = |host: &str, service: &str| {
            look_up(host, service).map(|found| found[0].to_string()).unwrap_or_else(|why| why)
        };
        assert_eq!(text("127.0.0.1", "8080"), "127.0.0.1:8080");
        assert_eq!(text("127.0.0.1", "http"), "127.0.0.1:80");
        assert_eq!(text("::1", "https"), "[::1]:443");
        assert!(text("127.0.0.1", "no such service").contains("no port is known"));
        assert!(text("no such host", "80").contains("unable to resolve no such host:80"));
    }

    #[test]
    fn only_what_listens_can_be_connected_to() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(connect(address).is_ok());
        drop(listener);
        assert!(connect(address).is_err());
    }
}
