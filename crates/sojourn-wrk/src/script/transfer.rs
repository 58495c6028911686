//! Carrying values from one Lua state to another: booleans, numbers, strings, and tables of them.

use mlua::{Lua, Value};

/// Tables within tables at most; one that contains itself has no end.
const DEPTH_MAX: usize = 32;

/// The same value in the other state; errs in words.
pub(crate) fn carry(value: &Value, to: &Lua) -> mlua::Result<Value> {
    carry_at(value, to, 0)
}

fn carry_at(value: &Value, to: &Lua, depth: usize) -> mlua::Result<Value> {
    Ok(match value {
        Value::Nil => Value::Nil,
        Value::Boolean(is_true) => Value::Boolean(*is_true),
        Value::Integer(number) => Value::Integer(*number),
        Value::Number(number) => Value::Number(*number),
        Value::String(text) => Value::String(to.create_string(text.as_bytes())?),
        Value::Table(_) if depth == DEPTH_MAX => {
            return Err(mlua::Error::runtime(format!(
                "tables more than {DEPTH_MAX} deep cannot go from one thread to another"
            )));
        }
        Value::Table(table) => {
            let copy = to.create_table()?;
            for pair in table.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copy.raw_set(carry_at(&key, to, depth + 1)?, carry_at(&value, to, depth + 1)?)?;
            }
            Value::Table(copy)
        }
        other => {
            return Err(mlua::Error::runtime(format!(
                "a {} cannot go from one thread to another: only booleans, numbers, strings and \
                 tables of them",
                other.type_name()
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `code` yields, carried to another state and shown there.
    fn carried(code: &str) -> mlua::Result<String> {
        let (from, to) = (Lua::new(), Lua::new());
        let value: Value = from.load(code).eval()?;
        to.globals().set("value", carry(&value, &to)?)?;
        drop(from);
        let show = r#"
            local function show(v)
              if type(v) ~= "table" then return type(v) .. ":" .. tostring(v) end
              local parts = {}
              for k, x in pairs(v) do parts[#parts + 1] = show(k) .. "=" .. show(x) end
              table.sort(parts)
              return "{" .. table.concat(parts, ",") .. "}"
            end
            return show(value)"#;
        to.load(show).eval()
    }

    #[test]
    fn plain_values_and_tables_of_them_arrive_whole() {
        for (code, shown) in [
            ("return nil", "nil:nil"),
            ("return true", "boolean:true"),
            ("return 1.5", "number:1.5"),
            ("return -7", "number:-7"),
            ("return 'a\\0b'", "string:a\0b"),
            (
                "return {1, {x = false}, k = 'v'}",
                "{number:1=number:1,number:2={string:x=boolean:false},string:k=string:v}",
            ),
            ("return {}", "{}"),
        ] {
            assert_eq!(carried(code).unwrap(), shown, "{code}");
        }
    }

    #[test]
    fn what_cannot_be_carried_is_named() {
        for (code, what) in [
            ("return print", "a function cannot go"),
            ("return {print}", "a function cannot go"),
            ("return coroutine.create(print)", "a thread cannot go"),
            ("local t = {} t.t = t return t", "more than 32 deep"),
        ] {
            let error = carried(code).unwrap_err().to_string();
            assert!(error.contains(what), "{code}: {error}");
        }
    }
}
