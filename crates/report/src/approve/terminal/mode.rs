//! The terminal modes while a question is open. Pure.
//!
//! They are built from scratch, except for the line's speed and format: no setting of the target (upper case for lower,
//! another erase key, external processing) may change what a person sees or enters.

use libc::termios;

/// Ctrl-C, Ctrl-D, Ctrl-W, Ctrl-U, Ctrl-Z.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_U: u8 = 0x15;
const CTRL_W: u8 = 0x17;
const CTRL_Z: u8 = 0x1a;

/// `_POSIX_VDISABLE`: no key.
const NO_KEY: u8 = 0;

/// Whether the mode is canonical. Otherwise a program reads single keys.
pub fn makes_lines(mode: &termios) -> bool {
    mode.c_lflag & libc::ICANON != 0
}

/// The erase key, if it isn't a letter or digit.
pub fn erase_key(mode: &termios) -> u8 {
    const DELETE: u8 = 0x7f;
    let key = mode.c_cc[libc::VERASE];
    if key.is_ascii_control() && key != NO_KEY {
        key
    } else {
        DELETE
    }
}

/// No echo and no special keys: all input is discarded.
pub fn hushed(before: &termios) -> termios {
    let mut mode = plain(before);
    mode.c_cc[libc::VMIN] = 1;
    mode
}

/// A mode for typing a line. No key sends a signal: signals would reach the foreground group, the stopped target too.
/// The usual signal keys end the line at once.
pub fn listening(before: &termios, erase: u8) -> termios {
    let mut mode = plain(before);
    // ECHOCTL: an escape sequence that is typed, or sent by the terminal, is shown and not executed.
    mode.c_lflag = libc::ICANON | libc::ECHO | libc::ECHOE | libc::ECHOK | libc::ECHOKE | libc::ECHOCTL | libc::IEXTEN;
    mode.c_iflag |= libc::ICRNL;
    mode.c_cc[libc::VEOF] = CTRL_D;
    mode.c_cc[libc::VEOL] = CTRL_C;
    mode.c_cc[libc::VEOL2] = CTRL_Z;
    mode.c_cc[libc::VERASE] = erase;
    mode.c_cc[libc::VKILL] = CTRL_U;
    mode.c_cc[libc::VWERASE] = CTRL_W;
    mode
}

/// Output is lines; input is bytes. A break is ignored: with BRKINT it would send a signal, ISIG or not. Without IXON,
/// output that Ctrl-S stopped resumes.
fn plain(before: &termios) -> termios {
    let mut mode = *before;
    mode.c_iflag = libc::IGNBRK | (before.c_iflag & libc::IUTF8);
    mode.c_oflag = libc::OPOST | libc::ONLCR;
    mode.c_lflag = 0;
    mode.c_cc = [NO_KEY; libc::NCCS];
    mode
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use stockade_sys::terminal;

    /// A mode as a hostile program might leave it.
    fn strange() -> termios {
        let pair = nix::pty::openpty(None, None).unwrap();
        let mut mode = terminal::mode(pair.slave.as_fd()).unwrap();
        mode.c_iflag = libc::BRKINT | libc::IUTF8 | libc::IXON | libc::IGNCR | libc::IUCLC;
        mode.c_oflag = libc::OLCUC;
        mode.c_lflag = libc::ISIG | libc::ICANON | libc::TOSTOP | libc::EXTPROC | libc::NOFLSH;
        mode.c_cc = [b'n'; libc::NCCS];
        mode
    }

    #[test]
    fn no_key_is_a_signal_and_no_letter_erases() {
        let before = strange();
        for mode in [hushed(&before), listening(&before, erase_key(&before))] {
            assert_eq!(mode.c_lflag & (libc::ISIG | libc::TOSTOP | libc::EXTPROC), 0);
            assert_eq!(
                mode.c_iflag & (libc::BRKINT | libc::IGNCR | libc::IUCLC | libc::IXON),
                0
            );
            assert_eq!(mode.c_oflag, libc::OPOST | libc::ONLCR);
            assert!(mode.c_cc.iter().all(|key| key.is_ascii_control()));
            assert_ne!(mode.c_iflag & libc::IUTF8, 0);
        }
    }

    #[test]
    fn a_person_keeps_the_key_that_erases() {
        let mut before = strange();
        assert_eq!(erase_key(&before), 0x7f);
        before.c_cc[libc::VERASE] = 8;
        assert_eq!(erase_key(&before), 8);
        before.c_cc[libc::VERASE] = NO_KEY;
        assert_eq!(erase_key(&before), 0x7f);
    }
}
