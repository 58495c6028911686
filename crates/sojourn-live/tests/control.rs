//! Asking runs that go on: the socket in its private folder.

use std::{
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    sync::{Mutex, PoisonError},
};

use sojourn_live::control::{ControlServer, RateWish, running};

/// The folder is the process's: one test at a time has it.
static FOLDER: Mutex<()> = Mutex::new(());

fn listen(run_id: &str, name: &str) -> ControlServer {
    let on_wish = |wish| match wish {
        RateWish::Factor(factor) => Ok(format!("{factor} ×")),
        RateWish::PerS(_) => Err("the plan has users".to_owned()),
    };
    ControlServer::listen(run_id, name, Box::new(on_wish)).unwrap()
}

fn own(pid_of: &str) -> Vec<(String, String)> {
    let runs = running().unwrap().into_iter();
    let own = runs.filter(|run| run.run_id.starts_with(pid_of));
    own.map(|run| (run.run_id, run.name)).collect()
}

#[test]
fn runs_are_listed_asked_and_gone_when_they_end() {
    let _turn = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let id = format!("listed{}", std::process::id());
    let (first, second) = (format!("{id}-1"), format!("{id}-2"));
    let one = listen(&first, "pay ments");
    let two = listen(&second, "other");
    let expected = [(first, "pay ments".to_owned()), (second.clone(), "other".to_owned())];
    assert_eq!(own(&id), expected);
    drop(one);
    assert_eq!(own(&id), [(second.clone(), "other".to_owned())]);
    let run = running().unwrap().into_iter().find(|run| run.run_id == second).unwrap();
    assert_eq!(run.ask_rate(RateWish::Factor(2.0)).unwrap(), Ok("2 ×".to_owned()));
    let refused = run.ask_rate(RateWish::PerS(9.0)).unwrap();
    assert_eq!(refused, Err("the plan has users".to_owned()));
    drop(two);
    assert_eq!(own(&id), []);
    assert!(run.ask_rate(RateWish::Factor(2.0)).is_err());
}

#[test]
fn nonsense_is_refused_and_does_not_end_the_listening() {
    let _turn = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let id = format!("nonsense{}", std::process::id());
    let server = listen(&id, "x");
    let folder = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let user = rustix::process::geteuid().as_raw();
    let folder = match folder {
        Some(folder) => std::path::PathBuf::from(folder).join("sojourn"),
        None => std::env::temp_dir().join(format!("sojourn-{user}")),
    };
    let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let path = folder.join(format!("{id}-{}.sock", std::process::id()));
    let say = |bytes: &[u8]| {
        let mut stream = UnixStream::connect(&path).unwrap();
        // It may have hung up before it had all.
        let _ignored = stream.write_all(bytes);
        let _ignored = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ignored = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    };
    assert!(say(b"rate fast\n").starts_with("no `fast` is no rate"));
    assert!(say(b"sing\n").starts_with("no "));
    assert_eq!(say(b"about"), "");
    assert_eq!(say(&[0xff, b'\n']), "");
    assert_eq!(say(&vec![b'a'; 100_000]), "");
    assert_eq!(say(b"about\n"), format!("ok {id} x\n"));
    // What a killed run leaves behind is cleaned away by whoever looks.
    let stale = folder.join(format!("{id}-stale.sock"));
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    assert!(stale.exists());
    assert_eq!(own(&id).len(), 1);
    assert!(!stale.exists());
    drop(server);
    assert!(!path.exists());
}
