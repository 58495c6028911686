//! What goes to a server and what comes back, between scripts' values and bytes.

use sojourn_script::js::{self, Array, Coerced, Ctx, FromJs, Object, Value};

use super::commands::{Gives, Takes};
use crate::sockets::redis::{Command, Reply};

/// What a missing value is called.
const NIL: &str = "redis: nil";

/// A command with a method's arguments. The inner error is for the script: what cannot be sent.
pub(super) fn command<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    takes: Takes,
    arguments: &[Value<'js>],
) -> js::Result<Result<Command, String>> {
    let mut command = vec![name.as_bytes().to_vec()];
    let (least, most) = match takes {
        Takes::Exactly(count) => (count, count),
        Takes::Values(count) | Takes::Names(count) => (count, usize::MAX),
        Takes::KeyValueSeconds => (2, 2),
    };
    for argument in arguments.iter().take(most) {
        let parts = match argument.as_array() {
            Some(array) if matches!(takes, Takes::Names(_)) => {
                array.iter().collect::<js::Result<Vec<_>>>()?
            }
            _ => vec![argument.clone()],
        };
        for part in &parts {
            match bytes_of(ctx, part)? {
                Some(bytes) => command.push(bytes),
                None => return Ok(Err(unsupported(command.len() - 1))),
            }
        }
    }
    if command.len() - 1 < least {
        return Ok(Err(unsupported(command.len() - 1)));
    }
    if takes == Takes::KeyValueSeconds
        && let Some(seconds) = arguments.get(2).and_then(Value::as_number)
        && seconds >= 1.0
    {
        command.push(b"EX".to_vec());
        command.push(format!("{:.0}", seconds.trunc()).into_bytes());
    }
    Ok(Ok(command))
}

/// Of an argument that can't be sent, or is not there.
fn unsupported(index: usize) -> String {
    format!(
        "unsupported type provided for argument at index {index}, supported types are string, \
         number, and boolean"
    )
}

/// A text, a number as scripts write it, or 1 and 0 for yes and no; `None` for whatever else.
fn bytes_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Option<Vec<u8>>> {
    if let Some(is_so) = value.as_bool() {
        return Ok(Some(if is_so { b"1".to_vec() } else { b"0".to_vec() }));
    }
    if value.is_string() || value.is_number() || value.is_big_int() {
        return Ok(Some(Coerced::<String>::from_js(ctx, value.clone())?.0.into_bytes()));
    }
    Ok(None)
}

/// What a reply is for the script. The inner error is why there is none.
pub(super) fn value<'js>(
    ctx: &Ctx<'js>,
    reply: Reply,
    gives: Gives,
) -> js::Result<Result<Value<'js>, String>> {
    Ok(match (gives, reply) {
        (_, Reply::Error(why)) => Err(why),
        (_, Reply::Nil) => Err(NIL.to_owned()),
        (Gives::Boolean, Reply::Integer(number)) => Ok(Value::new_bool(ctx.clone(), number == 1)),
        (Gives::Map, Reply::List(parts)) => Ok(map(ctx, parts)?.into_value()),
        (Gives::Text, reply @ Reply::Text(_))
        | (Gives::Number, reply @ Reply::Integer(_))
        | (Gives::List, reply @ Reply::List(_))
        | (Gives::Anything, reply) => Ok(plain(ctx, reply)?),
        (_, other) => Err(format!("unexpected reply: {other:?}")),
    })
}

/// A reply as it is.
fn plain<'js>(ctx: &Ctx<'js>, reply: Reply) -> js::Result<Value<'js>> {
    Ok(match reply {
        Reply::Text(bytes) => text(ctx, &bytes)?,
        Reply::Integer(number) => Value::new_number(ctx.clone(), number as f64),
        Reply::Nil => Value::new_null(ctx.clone()),
        Reply::Error(why) => text(ctx, why.as_bytes())?,
        Reply::List(parts) => {
            let list = Array::new(ctx.clone())?;
            for (at, part) in parts.into_iter().enumerate() {
                list.set(at, plain(ctx, part)?)?;
            }
            list.into_value()
        }
    })
}

fn map<'js>(ctx: &Ctx<'js>, parts: Vec<Reply>) -> js::Result<Object<'js>> {
    let map = Object::new(ctx.clone())?;
    let mut parts = parts.into_iter();
    while let (Some(Reply::Text(field)), Some(value)) = (parts.next(), parts.next()) {
        map.set(String::from_utf8_lossy(&field).as_ref(), plain(ctx, value)?)?;
    }
    Ok(map)
}

/// Texts that are no UTF-8 lose the bytes that are none.
fn text<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> js::Result<Value<'js>> {
    let text = String::from_utf8_lossy(bytes);
    Ok(js::String::from_str(ctx.clone(), &text)?.into_value())
}
