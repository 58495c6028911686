//! CSS selectors: how they are written.
//!
//! Those of CSS level 3, `:is`, `:has`, and what jQuery added and scripts use: `[a!=b]`,
//! `:contains(text)`, `:input` and the like.

/// One of these.
pub(super) type List = Vec<Complex>;

/// Parts, from right to left, each with how it is related to the one before it.
#[derive(Debug)]
pub(super) struct Complex {
    /// What the element itself is.
    pub(super) last: Vec<Simple>,
    pub(super) others: Vec<(Combinator, Vec<Simple>)>,
}

/// What stands between two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

/// How an attribute's value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Is,
    IsNot,
    HasWord,
    IsOrBeginsWithDash,
    Begins,
    Ends,
    Contains,
}

/// One condition.
#[derive(Debug)]
pub(super) enum Simple {
    Any,
    Tag(String),
    Id(String),
    Class(String),
    Has(String),
    Attribute { name: String, comparison: Comparison, value: String, ignores_case: bool },
    Not(List),
    Is(List),
    HasBelow(List),
    Contains(String),
    ContainsOwn(String),
    /// The `a n + b`-th, from the start or the end, of all or of its type.
    Nth { a: i64, b: i64, is_from_end: bool, is_of_type: bool },
    OnlyChild { is_of_type: bool },
    Empty,
    Root,
    Input,
    Button,
    Checked,
    Disabled,
    Enabled,
    /// With children.
    Parent,
}

/// Nested deeper than this is a mistake.
const DEPTH_MAX: usize = 16;

/// Reads a list of selectors. The error says what can't be read.
pub(super) fn parse(text: &str) -> Result<List, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let list = reader.list()?;
    match reader.peek() {
        None => Ok(list),
        Some(letter) => Err(reader.wrong(&format!("unexpected '{letter}'"))),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn wrong(&self, problem: &str) -> String {
        format!("the selector \"{}\" can't be read: {problem}", self.text)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        let fits = self.text[self.at..].starts_with(text);
        if fits {
            self.at += text.len();
        }
        fits
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn skip_blanks(&mut self) -> bool {
        let from = self.at;
        while self.peek().is_some_and(|letter| letter.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at > from
    }

    fn list(&mut self) -> Result<List, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("it is nested too deep"));
        }
        let mut list = Vec::new();
        loop {
            list.push(self.complex()?);
            self.skip_blanks();
            if !self.eat(",") {
                self.depth -= 1;
                return Ok(list);
            }
        }
    }

    fn complex(&mut self) -> Result<Complex, String> {
        self.skip_blanks();
        let mut last = self.compound()?;
        let mut others = Vec::new();
        loop {
            let blank = self.skip_blanks();
            let combinator = match self.peek() {
                Some('>') => Combinator::Child,
                Some('+') => Combinator::Next,
                Some('~') => Combinator::Later,
                None | Some(',' | ')') => break,
                Some(_) if blank => Combinator::Descendant,
                Some(letter) => return Err(self.wrong(&format!("unexpected '{letter}'"))),
            };
            if combinator != Combinator::Descendant {
                self.at += 1;
                self.skip_blanks();
            }
            let next = self.compound()?;
            others.push((combinator, std::mem::replace(&mut last, next)));
        }
        others.reverse();
        Ok(Complex { last, others })
    }

    fn compound(&mut self) -> Result<Vec<Simple>, String> {
        let mut parts = Vec::new();
        loop {
            let part = match self.peek() {
                Some('*') => {
                    self.at += 1;
                    Simple::Any
                }
                Some('#') => {
                    self.at += 1;
                    Simple::Id(self.name()?)
                }
                Some('.') => {
                    self.at += 1;
                    Simple::Class(self.name()?)
                }
                Some('[') => self.attribute()?,
                Some(':') => self.pseudo()?,
                Some(letter) if parts.is_empty() && is_of_name(letter) => {
                    Simple::Tag(self.name()?.to_ascii_lowercase())
                }
                _ if parts.is_empty() => return Err(self.wrong("a part of it is empty")),
                _ => return Ok(parts),
            };
            parts.push(part);
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let mut name = String::new();
        while let Some(letter) = self.peek() {
            if letter == '\\' {
                self.at += 1;
                name.push(self.escape()?);
            } else if is_of_name(letter) {
                name.push(letter);
                self.at += letter.len_utf8();
            } else {
                break;
            }
        }
        if name.is_empty() { Err(self.wrong("a name is missing")) } else { Ok(name) }
    }

    /// What stands after a backslash: up to six hexadecimal digits, or any letter.
    fn escape(&mut self) -> Result<char, String> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            return self.next().ok_or_else(|| self.wrong("it ends with a backslash"));
        }
        let code = u32::from_str_radix(&rest[..digits], 16).ok().and_then(char::from_u32);
        self.at += digits;
        if self.peek().is_some_and(|letter| letter.is_ascii_whitespace()) {
            self.at += 1;
        }
        Ok(code.unwrap_or('\u{fffd}'))
    }

    fn quoted_or_name(&mut self) -> Result<String, String> {
        let Some(quote @ ('"' | '\'')) = self.peek() else { return self.name() };
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.next() {
                Some('\\') => text.push(self.escape()?),
                Some(letter) if letter == quote => return Ok(text),
                Some(letter) => text.push(letter),
                None => return Err(self.wrong("a quote is not closed")),
            }
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        self.skip_blanks();
        if self.eat(text) { Ok(()) } else { Err(self.wrong(&format!("'{text}' is missing"))) }
    }

    fn attribute(&mut self) -> Result<Simple, String> {
        self.at += 1;
        self.skip_blanks();
        let name = self.name()?.to_ascii_lowercase();
        self.skip_blanks();
        if self.eat("]") {
            return Ok(Simple::Has(name));
        }
        let known = [
            ("=", Comparison::Is),
            ("!=", Comparison::IsNot),
            ("~=", Comparison::HasWord),
            ("|=", Comparison::IsOrBeginsWithDash),
            ("^=", Comparison::Begins),
            ("$=", Comparison::Ends),
            ("*=", Comparison::Contains),
        ];
        let found = known.iter().find(|(sign, _)| self.text[self.at..].starts_with(sign));
        let Some((sign, comparison)) = found else {
            return Err(self.wrong("a comparison of an attribute is missing"));
        };
        self.at += sign.len();
        self.skip_blanks();
        let value = self.quoted_or_name()?;
        self.skip_blanks();
        let ignores_case = self.eat("i") || self.eat("I");
        self.expect("]")?;
        Ok(Simple::Attribute { name, comparison: *comparison, value, ignores_case })
    }

    fn pseudo(&mut self) -> Result<Simple, String> {
        self.at += 1;
        let name = self.name()?.to_ascii_lowercase();
        let nth = |a, b, is_from_end, is_of_type| Simple::Nth { a, b, is_from_end, is_of_type };
        let simple = match name.as_str() {
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => Simple::OnlyChild { is_of_type: false },
            "only-of-type" => Simple::OnlyChild { is_of_type: true },
            "empty" => Simple::Empty,
            "root" => Simple::Root,
            "input" => Simple::Input,
            "button" => Simple::Button,
            "checked" => Simple::Checked,
            "disabled" => Simple::Disabled,
            "enabled" => Simple::Enabled,
            "parent" => Simple::Parent,
            _ => return self.function(&name),
        };
        Ok(simple)
    }

    fn function(&mut self, name: &str) -> Result<Simple, String> {
        if !self.eat("(") {
            return Err(self.wrong(&format!("there is no ':{name}' here")));
        }
        let simple = match name {
            "not" => Simple::Not(self.list()?),
            "is" | "where" | "matches" => Simple::Is(self.list()?),
            "has" => Simple::HasBelow(self.list()?),
            "contains" | "containsown" => {
                self.skip_blanks();
                let text = self.quoted_or_name()?.to_lowercase();
                if name == "contains" { Simple::Contains(text) } else { Simple::ContainsOwn(text) }
            }
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(true, false)?,
            "nth-of-type" => self.nth(false, true)?,
            "nth-last-of-type" => self.nth(true, true)?,
            _ => return Err(self.wrong(&format!("there is no ':{name}()' here"))),
        };
        self.expect(")")?;
        Ok(simple)
    }

    /// `odd`, `even`, `5`, `2n+1`, `-n+3`.
    fn nth(&mut self, is_from_end: bool, is_of_type: bool) -> Result<Simple, String> {
        let rest = &self.text[self.at..];
        let end = rest.find(')').unwrap_or(rest.len());
        let text: String =
            rest[..end].chars().filter(|letter| !letter.is_whitespace()).collect();
        let text = text.to_ascii_lowercase();
        let number = |text: &str| text.trim_start_matches('+').parse::<i64>().ok();
        let read = match text.as_str() {
            "odd" => Some((2, 1)),
            "even" => Some((2, 0)),
            _ => match text.split_once('n') {
                None => number(&text).map(|b| (0, b)),
                Some((a, b)) => {
                    let a = match a {
                        "" | "+" => Some(1),
                        "-" => Some(-1),
                        _ => number(a),
                    };
                    let b = if b.is_empty() { Some(0) } else { number(b) };
                    a.zip(b)
                }
            },
        };
        let (a, b) = read.ok_or_else(|| self.wrong(&format!("\"{text}\" is no position")))?;
        self.at += end;
        Ok(Simple::Nth { a, b, is_from_end, is_of_type })
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '\\') || !letter.is_ascii()
}
