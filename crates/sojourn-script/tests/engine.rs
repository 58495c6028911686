//! Limits, interruption, suspension, rejections.

use std::cell::Cell;
use std::rc::Rc;

use sojourn_script::js::Function;
use sojourn_script::{Engine, Fiber, Stacks, suspend};

use crate::{Host, LIMITS, STACK, Scripts, bundle, call_default, result, run};

fn failure(text: &str) -> String {
    let scripts = Scripts::new(&[("main.js", text)]);
    result(&bundle(&scripts.path("main.js"))).expect_err(text).message
}

#[test]
fn recursion_and_allocation_have_limits() {
    let deep = failure("const f = (n) => f(n + 1) + 1; export default () => f(0)");
    assert!(deep.contains("Maximum call stack size exceeded"), "{deep}");
    let callback = failure("const f = (n) => [n].map(f)[0]; export default () => f(0)");
    assert!(callback.contains("Maximum call stack size exceeded"), "{callback}");
    let much = failure(
        "export default () => { const a = []; for (;;) a.push('x'.repeat(1e5) + a.length) }",
    );
    assert!(much.contains("out of memory"), "{much}");
}

#[test]
fn a_suspended_script_goes_on_where_it_was() {
    let scripts = Scripts::new(&[(
        "main.js",
        "import { pause } from 'host'; export default () => [1, 2, 3].map((x) => { pause(); return x * x }).join()",
    )]);
    let bundle = bundle(&scripts.path("main.js"));
    let suspensions = run(&bundle, |inside| {
        assert_eq!(call_default(inside).as_deref(), Ok("1,4,9"));
    });
    assert_eq!(suspensions, 3);
}

#[test]
fn an_endless_loop_takes_turns_and_can_be_stopped() {
    let scripts =
        Scripts::new(&[("main.js", "export default () => { try { for (;;) {} } catch { } }")]);
    let bundle = bundle(&scripts.path("main.js"));
    let stop = Rc::new(Cell::new(false));
    let stacks = Stacks::new(STACK);
    let asked = Rc::clone(&stop);
    let mut fiber = Fiber::new(stacks.take().expect("memory"), move || {
        let interrupt = move || {
            suspend();
            asked.get()
        };
        let engine = Engine::new(&bundle, Rc::new(Host), LIMITS, interrupt).expect("an engine");
        engine.enter(|inside| {
            let error = call_default(inside).expect_err("stopped");
            assert!(error.interrupted, "{error:?}");
        });
    });
    for _ in 0..10 {
        assert!(!fiber.resume());
    }
    stop.set(true);
    while !fiber.resume() {}
}

#[test]
fn unhandled_rejections_are_found() {
    let scripts = Scripts::new(&[(
        "main.js",
        "export function late() { const p = Promise.reject(new Error('handled')); p.catch(() => {}) }\n\
         export function never() { Promise.reject(new Error('alone')) }\nexport default () => ''",
    )]);
    run(&bundle(&scripts.path("main.js")), |inside| {
        let exports = inside.evaluate(&mut || false).expect("it runs");
        let call = |name: &str| {
            exports
                .get::<_, Function<'_>>(name)
                .expect("a function")
                .call::<_, ()>(())
                .expect("ok");
            inside.run_jobs();
            inside.take_rejection().map(|error| error.message)
        };
        assert_eq!(call("late"), None);
        assert_eq!(call("never").as_deref(), Some("Error: alone"));
        assert_eq!(inside.take_rejection(), None);
    });
}

#[test]
fn top_level_await_waits() {
    let scripts = Scripts::new(&[
        ("main.js", "const x = await Promise.resolve('there'); export default () => x"),
        ("never.js", "await new Promise(() => {}); export default () => ''"),
    ]);
    assert_eq!(result(&bundle(&scripts.path("main.js"))).as_deref(), Ok("there"));
    let error = result(&bundle(&scripts.path("never.js"))).expect_err("never");
    assert!(error.message.contains("never comes"), "{error:?}");
}

/// Whatever a script looks like, reading it ends in an error at worst.
#[test]
fn deep_scripts_are_no_crash() {
    let nested = |start: &str, end: &str, times| {
        format!("export default () => {}1{}", start.repeat(times), end.repeat(times))
    };
    for text in [
        nested("[", "]", 4_900),
        nested("(", ")", 4_900),
        nested("!", "", 20_000),
        nested("1+", "", 20_000),
        nested("a ? 1 : ", "", 8_000),
        nested("(() => ", ")", 4_000),
    ] {
        let folder = Scripts::new(&[("main.js", &text), ("typed.ts", &text)]);
        for name in ["main.js", "typed.ts"] {
            // The engine's own stack may well be too small for it; that is an error like any other.
            let _told = result(&bundle(&folder.path(name)));
        }
    }
    let message = failure(&nested("[", "]", 30_000));
    assert!(message.contains("line 1, column 5022: nested too deep"), "{message}");
}
