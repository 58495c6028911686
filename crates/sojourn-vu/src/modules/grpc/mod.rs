//! `k6/net/grpc` (placeholder).
use std::rc::Rc;
use sojourn_script::js::{self, Ctx, Object};
use crate::user::User;
#[derive(Default)]
pub(crate) struct Protos;
pub(crate) fn make<'js>(ctx: &Ctx<'js>, _: &Rc<User>) -> js::Result<Object<'js>> { Object::new(ctx.clone()) }
