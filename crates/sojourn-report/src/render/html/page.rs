//! The frame that the pages about several runs share: head, definitions, foot.

use minijinja::{Value, context};

use super::{definitions, environment};
use crate::render::{RenderError, STYLE};

/// What differs in the frame.
pub(crate) struct Frame<'a> {
    /// The browser's title, before the product's name.
    pub(crate) title: String,
    /// Outcome by which the page's top is coloured: `pass`, `fail`, `void`, `none`.
    pub(crate) class: &'a str,
    /// Version that made the figures.
    pub(crate) version: &'a str,
}

/// A page of the template `source`, which fills the frame's blocks from `figures`.
pub(crate) fn framed(
    source: &'static str,
    frame: &Frame<'_>,
    figures: Value,
) -> Result<String, RenderError> {
    let mut environment = environment()?;
    environment.add_template("page.html", include_str!("../../../assets/page.html"))?;
    environment.add_template("macros.html", include_str!("../../../assets/macros.html"))?;
    environment.add_template("curve.html", include_str!("../../../assets/curve.html"))?;
    environment.add_template("body.html", source)?;
    Ok(environment.get_template("body.html")?.render(context! {
        title => &frame.title,
        class => frame.class,
        version => frame.version,
        style => Value::from_safe_string(STYLE.to_owned()),
        definitions => Value::from_safe_string(definitions::html()),
        ..figures
    })?)
}
