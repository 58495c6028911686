//! What the outside offers to scripts.

use rquickjs::{Ctx, Object, Result};

/// Modules and globals that scripts find beside their own. One set serves one engine.
pub trait Builtins: 'static {
    /// Whether there is a module of this name; `k6/http`, say.
    fn has(&self, name: &str) -> bool;

    /// Makes the module's object. Its properties are the module's named exports, itself is the
    /// default one. Asked for once an engine, when a script first imports it.
    fn make<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>>;

    /// Tells the script's author something.
    fn warn(&self, _told: &str) {}

    /// Throws where scripts may not call `require` just now.
    fn may_require(&self, _ctx: &Ctx<'_>) -> Result<()> {
        Ok(())
    }

    /// Sets globals, before any of the script runs.
    fn globals<'js>(&self, ctx: &Ctx<'js>) -> Result<()>;
}
