//! Infinity in JSON, which has no number for it: the word `"infinity"`. Without this a quantile
//! among lost journeys would be read back as "not measured".

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Figure {
    Finite(f64),
    Word(Word),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Infinity,
}

pub(super) fn serialize<S: Serializer>(figure: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    let written = figure.map(|figure| {
        if figure == f64::INFINITY { Figure::Word(Word::Infinity) } else { Figure::Finite(figure) }
    });
    written.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let read = Option::<Figure>::deserialize(from)?;
    Ok(read.map(|figure| match figure {
        Figure::Finite(figure) => figure,
        Figure::Word(Word::Infinity) => f64::INFINITY,
    }))
}
