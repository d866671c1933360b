//! Programs that want a terminal of their own.

use super::twins::{Twins, installed};

#[test]
fn tmux_starts_a_session_runs_a_command_and_shows_it() {
    if installed(&["tmux"]) {
        let script = "export SHELL=/bin/sh; t() { tmux -f /dev/null -S ./socket \"$@\"; }
            t new-session -d -x 80 -y 24 -s test 'sh'
            t send-keys -t test 'PS1=; echo from-$((6*7)); echo done >file' Enter
            for n in {1..100}; do test ! -s file || break; sleep 0.1; done
            for n in {1..100}; do t capture-pane -p -t test | grep -o -m 1 from-42 && break; sleep 0.1; done
            t list-windows -t test -F '#{window_index} #{window_width}'; t has-session -t test
            t new-window -d -t test 'stty size >size; echo second >second'
            for n in {1..100}; do test ! -s second || break; sleep 0.1; done; cat size second
            t kill-server; rm -f socket";
        let said = Twins::new().same(script);
        assert!(said.contains("from-42"), "{said}");
    }
}

#[test]
fn a_pseudo_terminal_is_opened_and_used() {
    let script = r#"
import os, pty, termios, tty
pid, master = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", "test -t 0 && stty -echo && echo terminal && echo x >/dev/tty && exit 5"])
said = b""
while True:
    try:
        piece = os.read(master, 1000)
    except OSError:
        break
    if not piece:
        break
    said += piece
print(said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
master, slave = os.openpty()
tty.setraw(slave); os.write(master, b"through"); print(os.read(slave, 7), os.isatty(slave), termios.tcgetattr(slave)[3] & termios.ECHO)
"#;
    if installed(&["python3"]) {
        let said = Twins::new()
            .file("main.py", script)
            .same_command(&["/usr/bin/python3", "main.py"]);
        assert!(said.contains("terminal"), "{said}");
    }
}

#[test]
fn script_records_a_session() {
    if installed(&["script"]) {
        Twins::new().loosely(&["typescript"]).same(
            "script -q -e -c 'echo recorded; test -t 1' typescript </dev/null >/dev/null; grep -c recorded typescript",
        );
    }
}
