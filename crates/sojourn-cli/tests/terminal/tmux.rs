//! A terminal that tests can look at: a tmux server of the test's own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::until;

/// A tmux server with one pane; dropped, it ends with what runs in it.
pub(crate) struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// A pane of this size in which a shell runs `script` in `folder`.
    pub(crate) fn start(width: u16, height: u16, folder: &Path, script: &str) -> Self {
        let tmux = Self { socket: folder.join("tmux") };
        let (x, y) = (width.to_string(), height.to_string());
        let folder = folder.to_str().unwrap();
        let session = ["-f", "/dev/null", "new-session", "-d", "-x", &x, "-y", &y, "-c", folder];
        tmux.run(&[&session[..], &["sh", "-c", script]].concat());
        tmux
    }

    /// What stands on the screen.
    pub(crate) fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// What stands on the screen and above it, with the escapes of its colours.
    pub(crate) fn coloured(&self) -> String {
        self.run(&["capture-pane", "-p", "-e"])
    }

    /// All that was printed, in whole lines.
    pub(crate) fn history(&self) -> String {
        self.run(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    pub(crate) fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    pub(crate) fn resize(&self, width: u16, height: u16) {
        let (x, y) = (width.to_string(), height.to_string());
        self.run(&["resize-window", "-x", &x, "-y", &y]);
    }

    /// One of tmux's own variables of the pane.
    pub(crate) fn is(&self, variable: &str) -> bool {
        self.run(&["display-message", "-p", &format!("#{{{variable}}}")]).trim() == "1"
    }

    /// Waits until the screen shows all of it.
    pub(crate) fn shows(&self, parts: &[&str]) -> String {
        let mut screen = String::new();
        let mut missing = Vec::new();
        // Said at the end, where a screen that never came can be looked at.
        struct Told<'a>(&'a mut String, &'a mut Vec<String>);
        impl Drop for Told<'_> {
            #[allow(clippy::print_stderr, reason = "a failing test's output")]
            fn drop(&mut self) {
                if std::thread::panicking() {
                    eprintln!("{:?} not on:\n{}", self.1, self.0);
                }
            }
        }
        let told = Told(&mut screen, &mut missing);
        until("the screen shows it", || {
            *told.0 = self.screen();
            let missing = parts.iter().filter(|part| !told.0.contains(**part));
            *told.1 = missing.map(|part| (*part).to_owned()).collect();
            told.1.is_empty()
        });
        drop(told);
        screen
    }

    fn run(&self, arguments: &[&str]) -> String {
        // `cargo xtask services install` brings it.
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket).args(arguments);
        // Not the settings of a tmux that the tests may run in.
        command.env_remove("TMUX").env_remove("NO_COLOR");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "tmux {arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        // It may have ended by itself.
        let _ignored = command.arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}
