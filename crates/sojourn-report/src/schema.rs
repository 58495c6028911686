//! The JSON Schema of the JSON report, made from the model's own types: it can't fall behind them.

use schemars::generate::SchemaSettings;

use crate::ReportModel;

/// The schema (draft 2020-12) of what [`crate::render::json`] writes. Fields may be added within a
/// version of the shape, so it allows further ones; every field that it names is there, if only as
/// `null`.
pub fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<ReportModel>();
    schema.insert("title".to_owned(), "Sojourn report".into());
    schema.into()
}
