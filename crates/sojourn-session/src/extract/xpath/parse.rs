//! Reading a path.

use super::{Condition, Path, Predicate, Step, Test, XPath};

/// Most predicates within predicates.
const DEPTH_MAX: usize = 16;
/// Most steps of a path, and predicates of a step.
const LENGTH_MAX: usize = 100;

pub(super) fn parse(text: &str) -> Result<XPath, String> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let is_count = parser.take("count(");
    let is_wrapped = is_count || parser.take("string(");
    let path = parser.path()?;
    if is_wrapped {
        parser.expect(")")?;
    }
    if !parser.rest.trim_start().is_empty() {
        return Err(format!("`{}` is not known here", parser.rest.trim_start()));
    }
    Ok(XPath { path, is_count })
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Takes a sign, if it is next.
    fn take(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            return Ok(());
        }
        match self.rest.trim_start() {
            "" => Err(format!("`{sign}` is missing at the end")),
            rest => Err(format!("`{sign}` is missing before `{rest}`, which is not known here")),
        }
    }

    /// A name, perhaps with a prefix; empty if there is none.
    fn name(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let starts = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let end = if starts { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { 0 };
        self.rest = &rest[end..];
        &rest[..end]
    }

    fn path(&mut self) -> Result<Path, String> {
        let mut is_deep = self.take("//");
        let is_absolute = is_deep || self.take("/");
        let mut steps = Vec::new();
        loop {
            steps.push(self.step(is_deep)?);
            if steps.len() > LENGTH_MAX {
                return Err(format!("more than {LENGTH_MAX} steps"));
            }
            is_deep = self.take("//");
            if !is_deep && !self.take("/") {
                return Ok(Path { is_absolute, steps });
            }
        }
    }

    fn step(&mut self, is_deep: bool) -> Result<Step, String> {
        let missing = |rest: &str| match rest {
            "" => "a step is missing at the end".to_owned(),
            rest => format!("a step is missing before `{rest}`"),
        };
        let test = if self.take("..") {
            Test::Parent
        } else if self.take(".") {
            Test::Itself
        } else if self.take("*") {
            Test::AnyElement
        } else if self.take("@") {
            if self.take("*") {
                Test::AnyAttribute
            } else {
                match self.name() {
                    "" => return Err(missing(self.rest)),
                    name => Test::Attribute(name.to_owned()),
                }
            }
        } else {
            match self.name() {
                "" => return Err(missing(self.rest)),
                name if name.contains("::") => {
                    return Err(format!("the axis of `{name}` is not known"));
                }
                "text" if self.take("()") => Test::Text,
                name if self.rest.starts_with('(') => {
                    return Err(format!("`{name}(` is not known"));
                }
                name => Test::Name(name.to_owned()),
            }
        };
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.predicate()?);
            self.expect("]")?;
            if predicates.len() > LENGTH_MAX {
                return Err(format!("more than {LENGTH_MAX} predicates"));
            }
        }
        Ok(Step { is_deep, test, predicates })
    }

    fn predicate(&mut self) -> Result<Predicate, String> {
        let rest = self.rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 {
            self.rest = &rest[digits..];
            return match rest[..digits].parse() {
                Ok(0) | Err(_) => Err("positions count from 1".to_owned()),
                Ok(place) => Ok(Predicate::Position(place)),
            };
        }
        if self.take("last()") {
            return Ok(Predicate::Last);
        }
        self.any().map(Predicate::Condition)
    }

    fn any(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} conditions within conditions"));
        }
        let mut some = vec![self.all()?];
        while self.take("or ") {
            some.push(self.all()?);
        }
        self.depth -= 1;
        Ok(if some.len() == 1 { some.remove(0) } else { Condition::Any(some) })
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut some = vec![self.one()?];
        while self.take("and ") {
            some.push(self.one()?);
        }
        Ok(if some.len() == 1 { some.remove(0) } else { Condition::All(some) })
    }

    fn one(&mut self) -> Result<Condition, String> {
        if self.take("not(") {
            let inner = self.any()?;
            self.expect(")")?;
            return Ok(Condition::Not(Box::new(inner)));
        }
        for (sign, make) in [
            ("contains(", Condition::Contains as fn(Path, String) -> Condition),
            ("starts-with(", Condition::StartsWith),
        ] {
            if self.take(sign) {
                let path = self.path()?;
                self.expect(",")?;
                let part = self.value()?;
                self.expect(")")?;
                return Ok(make(path, part));
            }
        }
        let path = self.path()?;
        let is_negated = self.take("!=");
        if is_negated || self.take("=") {
            return Ok(Condition::Equals { path, value: self.value()?, is_negated });
        }
        Ok(Condition::Exists(path))
    }

    /// A quoted text or a number.
    fn value(&mut self) -> Result<String, String> {
        for quote in ["'", "\""] {
            if self.take(quote) {
                let Some((value, rest)) = self.rest.split_once(quote) else {
                    return Err(format!("`{quote}` is missing at the end"));
                };
                self.rest = rest;
                return Ok(value.to_owned());
            }
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
        let (number, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if number.is_empty() {
            return Err("a quoted text or a number is missing".to_owned());
        }
        self.rest = rest;
        Ok(number.to_owned())
    }
}
