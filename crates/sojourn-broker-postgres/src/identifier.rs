//! Names of tables, columns and channels, as SQL.

pub(crate) use postgres_protocol::escape::{
    escape_identifier as quoted, escape_literal as literal,
};

/// Longest name that Postgres keeps, bytes; longer ones it cuts off.
pub(crate) const NAME_BYTES_MAX: usize = 63;

/// A table's name, with its schema where it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableName {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

impl TableName {
    /// Reads `table` or `schema.table`. Capitals count, as they do in quotes; a part in double
    /// quotes may have dots. `None`: it is neither.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (first, rest) = part(text)?;
        let Some(rest) = rest else { return Some(Self { schema: None, name: first }) };
        match part(rest)? {
            (name, None) => Some(Self { schema: Some(first), name }),
            _ => None,
        }
    }

    /// In SQL.
    pub(crate) fn sql(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quoted(schema), quoted(&self.name)),
            None => quoted(&self.name),
        }
    }

    /// For people and for topics: without the schema that everybody uses.
    pub(crate) fn shown(&self) -> String {
        shown(self.schema.as_deref().unwrap_or("public"), &self.name)
    }
}

/// A table for people and for topics: without the schema that everybody uses.
pub(crate) fn shown(schema: &str, table: &str) -> String {
    match schema {
        "public" => table.to_owned(),
        schema => format!("{schema}.{table}"),
    }
}

/// The first part of a dotted name, and what follows its dot.
fn part(text: &str) -> Option<(String, Option<&str>)> {
    let (name, rest) = match text.strip_prefix('"') {
        None => {
            let end = text.find('.').unwrap_or(text.len());
            (text[..end].to_owned(), &text[end..])
        }
        Some(mut rest) => {
            let mut name = String::new();
            loop {
                let end = rest.find('"')?;
                name.push_str(&rest[..end]);
                rest = &rest[end + 1..];
                match rest.strip_prefix('"') {
                    // Twice is one that belongs to the name.
                    Some(more) => {
                        name.push('"');
                        rest = more;
                    }
                    None => break (name, rest),
                }
            }
        }
    };
    let good = !name.is_empty() && !name.contains('\0');
    match (good, rest.strip_prefix('.')) {
        (false, _) => None,
        (true, Some(after)) => Some((name, Some(after))),
        (true, None) => rest.is_empty().then_some((name, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_whatever_is_in_them() {
        let sql = |text: &str| TableName::parse(text).map(|name| name.sql());
        assert_eq!(sql("outbox").as_deref(), Some(r#""outbox""#));
        assert_eq!(sql("sales.Orders").as_deref(), Some(r#""sales"."Orders""#));
        assert_eq!(sql(r#""a.b"."c""d""#).as_deref(), Some(r#""a.b"."c""d""#));
        assert_eq!(sql(r#"x"; drop table y"#).as_deref(), Some(r#""x""; drop table y""#));
        for wrong in ["", ".", "a.", ".b", "a.b.c", r#""a"#, r#""a"b"#, "a\0b"] {
            assert_eq!(sql(wrong), None, "{wrong}");
        }
        assert_eq!(TableName::parse("public.t").unwrap().shown(), "t");
        assert_eq!(TableName::parse("s.t").unwrap().shown(), "s.t");
    }
}
