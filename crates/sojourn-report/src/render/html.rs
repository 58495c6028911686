//! placeholder
use crate::{ReportModel, render::RenderError};
pub(super) fn report(_model: &ReportModel) -> Result<String, RenderError> {
    Ok(String::new())
}
