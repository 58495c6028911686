//! Ends a server whose owner died without ending it: was killed, or left it in a `static`.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::process::Process;

/// Reads its input, which ends with the owner; then asks the server to end, if it is still the same
/// process, ends its process group after ten seconds, and removes the folder.
const SCRIPT: &str = r#"
cat >/dev/null
same() { [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20)" = "$2" ]; }
if same "$1" "$2"; then
    kill -s "$4" "$1"
    tries=0
    while [ $tries -lt 100 ] && same "$1" "$2"; do sleep 0.1; tries=$((tries + 1)); done
    kill -s KILL -- "-$1" 2>/dev/null
fi
rm -rf -- "$3"
"#;

/// A small process that outlives its owner for as long as it takes to clean up.
#[derive(Debug)]
pub(crate) struct Guardian(Child);

impl Guardian {
    /// Watches over a server that leads a process group; `signal` is the name of the one that ends
    /// it orderly.
    pub(crate) fn watch(server: Process, folder: &Path, signal: &str) -> io::Result<Self> {
        Command::new("sh")
            .args(["-c", SCRIPT, "guardian", &server.pid.to_string()])
            .arg(server.start_ticks.to_string())
            .arg(folder)
            .arg(signal)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Apart from the owner's group, which an interrupt from the keyboard ends as a whole.
            .process_group(0)
            .spawn()
            .map(Self)
    }
}

impl Drop for Guardian {
    /// Dismisses it before it can act: the shell first, then what it waits in.
    fn drop(&mut self) {
        if let Some(own) = Process::of(self.0.id()) {
            let family = crate::process::descendants(own);
            for process in family {
                process.kill();
            }
        }
        // Its input stays open until here.
        drop(self.0.wait());
    }
}
