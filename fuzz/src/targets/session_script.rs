//! Session scripts: any text is evaluated, and what it declares is compiled and played for a while.

use std::path::Path;

use sojourn_plan::PlanErrors;
use sojourn_script::Sources;
use sojourn_session::{
    Action, Answer, Budget, Client, Data, Definition, Input as Told, Memory, Program,
    curl_commands, evaluate,
};

use crate::Input;
use crate::targets::journey_file;

/// Some milliseconds.
const BUDGET: Budget = Budget { memory_bytes: 8 << 20, stack_bytes: 128 << 10, asks_max: 20 };
const ACTIONS_MAX: usize = 100;
const BODY: &str = "{\"a\":[1,{\"b\":\"x\\r\\ny\"}],\"c\":4555666777888999}<a href='1&amp;2'>t";

/// Option 0: the file is TypeScript by its name.
pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    // No file is read: imports of paths lead to a folder that is not there.
    let name = if input.has(0) { "/nowhere/fuzzed.ts" } else { "/nowhere/fuzzed.js" };
    let sources = Sources { entry_text: Some(text.to_owned()), ..Sources::default() };
    let definition = match evaluate(Path::new(name), sources, BUDGET) {
        Ok(definition) => definition,
        Err(errors) => return check_errors(&errors),
    };
    assert!(!definition.phases.is_empty() && !definition.sessions.is_empty());
    for session in 0..definition.sessions.len() {
        curl_commands(&definition, session);
    }
    match compiled(&definition) {
        Ok(program) => play(&program, &definition),
        Err(errors) => check_errors(&errors),
    }
}

fn compiled(definition: &Definition) -> Result<Program, PlanErrors> {
    let data = Data::load(definition, &journey_file::Memory)?;
    Program::compile(definition, &data)
}

fn check_errors(errors: &PlanErrors) {
    assert!(!errors.0.is_empty());
    for error in &errors.0 {
        assert!(error.line >= 1 && error.column >= 1, "{error}");
        assert!(!error.message.is_empty() && error.message.chars().count() < 10_000, "{error}");
    }
}

fn play(program: &Program, definition: &Definition) {
    let mut memory = Memory::new(1, 0, 1);
    for session in 0..definition.sessions.len().min(20) {
        let mut client = Client::new(program, session, session as u64);
        let mut input = Told::Go;
        for _ in 0..ACTIONS_MAX {
            let answer = Answer { status: 200, headers: &[("X-A", "b")], body: BODY.as_bytes() };
            input = match client.step(program, &mut memory, input) {
                Action::Request(request) => {
                    assert!(request.url().bytes().all(|byte| byte.is_ascii_graphic()));
                    for (name, value) in request.headers() {
                        assert!(!name.contains(|c: char| !c.is_ascii_graphic()), "{name:?}");
                        assert!(!value.contains(|c: char| c.is_ascii_control()), "{value:?}");
                    }
                    Told::Answer(answer)
                }
                Action::Expect { .. } => Told::Event(answer),
                Action::Check { check, .. } => {
                    assert!(check < program.checks().len());
                    Told::Go
                }
                Action::Denied { .. } => Told::Failed,
                Action::Done(_) => break,
                Action::Wait { .. } | Action::Publish(_) | Action::Log(_) => Told::Go,
            };
        }
    }
}
