use crate::ast::GraphModel;
use crate::errors::Errors;
pub(crate) fn shape(_: &GraphModel<'_>, _: &Errors) {}
