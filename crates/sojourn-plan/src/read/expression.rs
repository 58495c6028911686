//! What stands between `{{` and `}}`.

/// An expression of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// `name` or `row.users.id`.
    Name(Vec<String>),
    /// `int(1, 5)`.
    Call {
        /// Function.
        name: String,
        /// Values.
        arguments: Vec<Argument>,
    },
    /// `'{{'`.
    Text(String),
}

/// A value handed to a function.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    /// A number as written.
    Number(String),
    /// Quoted text.
    Text(String),
    /// A name or call.
    Expression(Box<Expression>),
}

impl Argument {
    /// A whole number; underscores may group its digits.
    pub(super) fn whole(&self) -> Option<i64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The text of a number or a quoted text.
    pub(super) fn choice(&self) -> Option<String> {
        match self {
            Self::Number(text) | Self::Text(text) => Some(text.clone()),
            Self::Expression(_) => None,
        }
    }
}

/// Where `}}` closes the hole whose inside begins `text`; quoted text may hold braces.
pub(super) fn end_of_hole(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut previous_closes = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '}' && previous_closes => return Some(at - 1),
            None => {}
        }
        previous_closes = quote.is_none() && c == '}';
    }
    None
}

/// Reads an expression. Err: a lower-case fragment.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let mut parser = Parser { rest: text };
    let expression = match parser.argument(0)? {
        Argument::Expression(expression) => *expression,
        Argument::Text(text) => Expression::Text(text),
        Argument::Number(text) => Expression::Text(text),
    };
    parser.skip_space();
    match parser.rest {
        "" => Ok(expression),
        rest => Err(format!("`{}` is too much", super::fields::shown(rest))),
    }
}

struct Parser<'t> {
    rest: &'t str,
}

/// How deep calls may nest: `number(row.x)` needs one.
const DEPTH_MAX: usize = 4;

impl Parser<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn argument(&mut self, depth: usize) -> Result<Argument, String> {
        if depth > DEPTH_MAX {
            return Err("calls within calls within calls".to_owned());
        }
        self.skip_space();
        match self.rest.chars().next() {
            None => Err("an empty expression".to_owned()),
            Some(quote @ ('\'' | '"')) => {
                let inside = &self.rest[1..];
                let end =
                    inside.find(quote).ok_or_else(|| "a quote that is never closed".to_owned())?;
                let text = inside[..end].to_owned();
                self.rest = &inside[end + 1..];
                Ok(Argument::Text(text))
            }
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some(c) if is_name_start(c) => self.name_or_call(depth),
            Some(c) => Err(format!("`{}` can't stand here", c.escape_debug())),
        }
    }

    fn number(&mut self) -> Result<Argument, String> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"-+._".contains(c))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let digits = text.replace('_', "");
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Argument::Number(digits)),
            _ => Err(format!("`{}` is not a number", super::fields::shown(text))),
        }
    }

    fn name_or_call(&mut self, depth: usize) -> Result<Argument, String> {
        let mut path = vec![self.name()?];
        while self.rest.starts_with('.') {
            self.rest = &self.rest[1..];
            path.push(self.name()?);
        }
        if !self.take('(') {
            return Ok(Argument::Expression(Box::new(Expression::Name(path))));
        }
        let mut arguments = Vec::new();
        if !self.take(')') {
            loop {
                arguments.push(self.argument(depth + 1)?);
                if self.take(')') {
                    break;
                }
                if !self.take(',') {
                    return Err("a `(` that is never closed".to_owned());
                }
            }
        }
        let name = path.join(".");
        Ok(Argument::Expression(Box::new(Expression::Call { name, arguments })))
    }

    fn name(&mut self) -> Result<String, String> {
        let end = self
            .rest
            .find(|c: char| !is_name_start(c) && !c.is_ascii_digit() && c != '-')
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name {
            "" => Err("a name is missing".to_owned()),
            name => Ok(name.to_owned()),
        }
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_calls_and_text() {
        let number = |text: &str| Argument::Number(text.to_owned());
        let call = |name: &str, arguments: Vec<Argument>| Expression::Call {
            name: name.to_owned(),
            arguments,
        };
        assert_eq!(parse(" token "), Ok(Expression::Name(vec!["token".into()])));
        assert_eq!(
            parse("row.users.first-name"),
            Ok(Expression::Name(vec!["row".into(), "users".into(), "first-name".into()]))
        );
        assert_eq!(
            parse("int( -1 ,100_000)"),
            Ok(call("int", vec![number("-1"), number("100000")]))
        );
        assert_eq!(parse("uuid()"), Ok(call("uuid", vec![])));
        assert_eq!(
            parse("pick('a,b', \"c)\", 1.5)"),
            Ok(call(
                "pick",
                vec![Argument::Text("a,b".into()), Argument::Text("c)".into()), number("1.5")]
            ))
        );
        assert_eq!(parse("'{{'"), Ok(Expression::Text("{{".into())));
    }

    #[test]
    fn wrong_expressions() {
        for (text, wrong) in [
            ("", "an empty expression"),
            ("int(1", "a `(` that is never closed"),
            ("int(1 2)", "a `(` that is never closed"),
            ("pick('a)", "a quote that is never closed"),
            ("a b", "`b` is too much"),
            ("row.", "a name is missing"),
            ("1x", "`1x` is not a number"),
            ("+", "`+` can't stand here"),
            ("a(b(c(d(e(f()))))))", "calls within calls within calls"),
        ] {
            assert_eq!(parse(text), Err(wrong.to_owned()), "{text}");
        }
    }

    #[test]
    fn braces_in_quotes_do_not_close() {
        assert_eq!(end_of_hole(" a }} b"), Some(3));
        assert_eq!(end_of_hole(" '}}' }}"), Some(6));
        assert_eq!(end_of_hole(" a } }"), None);
        assert_eq!(end_of_hole("}}"), Some(0));
    }
}
