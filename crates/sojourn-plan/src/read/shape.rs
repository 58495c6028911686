//! What a mapping of the journey file may hold: one description for the reader, which refuses
//! unknown names by it, and for the JSON Schema.

/// A mapping.
#[derive(Debug)]
pub struct Shape {
    /// Name with its article, for messages (`in a stage`) and for the schema's definitions.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What it may hold.
    pub fields: &'static [Field],
}

/// A value of a mapping.
#[derive(Debug)]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// Whether it must.
    pub required: bool,
    /// What it means.
    pub doc: &'static str,
}

/// What may stand in a place.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `5s`.
    Duration,
    /// `50/s`.
    Rate,
    /// `0.1%` or 0.001.
    Fraction,
    /// `10MB`.
    Size,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// Text; a number or boolean is taken as its text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Where a value is.
    Selector,
    /// Anything; templates in its text.
    Any,
    /// Conditions by selector.
    Conditions,
    /// A list.
    List(&'static Self),
    /// Values by names of the user's choice.
    Named(&'static Self),
    /// A mapping of this shape.
    Map(&'static Shape),
    /// One of these forms.
    Either(&'static [Self]),
}

impl Field {
    /// A value that may be left out.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, required: false, doc }
    }

    /// The same, but it must be given.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
