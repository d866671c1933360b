//! The full-screen list, in a real terminal.

use std::process::{Command, Stdio};
use std::time::Duration;

use stockade_report::approve::{Choice, Waiting};

use crate::approvals::question::{ask, request};
use crate::common::sockets;
use crate::common::{Place, STOCKADE, skipped, until};

/// A terminal with a shell in it. It ends with the value.
struct Tmux {
    place: Place,
}

impl Tmux {
    fn tmux(&self, words: &[&str]) -> String {
        let mut command = self.place.command("tmux");
        command.args(["-f", "/dev/null", "-S", "./t"]).args(words);
        let output = command.env("SHELL", "/bin/sh").env("TERM", "xterm").output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shows(&self, text: &str) {
        let mut screen = String::new();
        let is_shown = until(Duration::from_secs(20), || {
            screen = self.tmux(&["capture-pane", "-p"]);
            screen.contains(text)
        });
        assert!(is_shown, "{text:?} isn't on\n{screen}");
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn on_a_terminal_a_list_is_drawn_answers_take_two_keys_and_the_terminal_is_given_back() {
    let version = Command::new("tmux").arg("-V").stdout(Stdio::null()).status();
    if version.is_err() {
        return skipped("there is no tmux");
    }
    let terminal = Tmux { place: Place::new() };
    let state = terminal.place.state();
    terminal.tmux(&["new-session", "-d", "-x", "100", "-y", "30", "env PS1='$ ' sh"]);
    terminal.shows("$");
    let command = format!("{STOCKADE} approvals --watch; echo ended with $?");
    terminal.tmux(&["send-keys", &command, "Enter"]);
    terminal.shows("0 waiting");
    let open = ask(&state, Waiting::OnlyWatched, request("/etc/hosts"));
    terminal.shows("read /etc/hosts");
    // What is pasted is neither a letter nor an Enter.
    terminal.tmux(&["set-buffer", "yes\n", ";", "paste-buffer"]);
    terminal.shows("several keys at once");
    terminal.shows("[y]es for this run, [o]nce, [w]ider, [n]o, [d]etails, [q]uit");
    terminal.tmux(&["send-keys", "y"]);
    terminal.shows("1: y_  Enter: yes, for this run: --read /etc/hosts");
    terminal.tmux(&["send-keys", "Enter"]);
    assert!(matches!(open.answer().0.choice, Choice::Yes { .. }));
    terminal.shows("yes, for this run");
    let pid = sockets(&state)[0].file_name().unwrap().to_string_lossy().into_owned();
    let pid = pid.split('-').next().unwrap().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    terminal.shows("ended with 143");
    terminal.tmux(&["send-keys", "stty -a | grep -o ' icanon' && echo as before", "Enter"]);
    terminal.shows("\nas before");
    assert!(sockets(&state).is_empty());
}

#[test]
fn it_ends_when_its_terminal_is_closed() {
    let place = Place::new();
    let code = "import fcntl, os, pty, struct, sys, termios, time\n\
                pid, master = pty.fork()\n\
                if pid == 0: os.execv(sys.argv[1], [sys.argv[1], 'approvals', '--watch'])\n\
                fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('4H', 30, 100, 0, 0))\n\
                said = b''\n\
                while b'waiting' not in said: said += os.read(master, 4096)\n\
                os.close(master); end = time.monotonic() + 20\n\
                while os.waitpid(pid, os.WNOHANG)[0] == 0:\n  \
                  if time.monotonic() > end: os.kill(pid, 9); sys.exit('still runs')\n  \
                  time.sleep(0.01)\n\
                print('ended')";
    let mut command = place.command(crate::common::python());
    command.args(["-I", "-c", code, STOCKADE.path()]).env("TERM", "xterm");
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ended\n", "{output:?}");
    assert!(sockets(&place.state()).is_empty());
}
