//! The terminal's modes while a question is open. Pure.
//!
//! They are made from nothing, but for the line's speed and form: whatever the target set (upper case for lower, another
//! key that erases, external processing) mustn't change what a person sees or says.

use libc::termios;

/// Ctrl-C, Ctrl-D, Ctrl-W, Ctrl-U, Ctrl-Z.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_U: u8 = 0x15;
const CTRL_W: u8 = 0x17;
const CTRL_Z: u8 = 0x1a;

/// `_POSIX_VDISABLE`: no key.
const NO_KEY: u8 = 0;

/// Whether keys make lines in this mode. Otherwise a program reads them one by one.
pub fn makes_lines(mode: &termios) -> bool {
    mode.c_lflag & libc::ICANON != 0
}

/// The key that erases, if it is one that no letter or digit is.
pub fn erase_key(mode: &termios) -> u8 {
    const DELETE: u8 = 0x7f;
    let key = mode.c_cc[libc::VERASE];
    if key.is_ascii_control() && key != NO_KEY {
        key
    } else {
        DELETE
    }
}

/// Nothing is shown and no key means anything: what arrives is thrown away.
pub fn hushed(before: &termios) -> termios {
    let mut mode = plain(before);
    mode.c_cc[libc::VMIN] = 1;
    mode
}

/// A line can be typed. No key is a signal: they would reach the foreground group, the stopped target too. Those
/// that usually are end the line at once.
pub fn listening(before: &termios, erase: u8) -> termios {
    let mut mode = plain(before);
    // ECHOCTL: an escape sequence that is typed, or sent by the terminal, is shown and not carried out.
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

/// Output is lines; input is bytes. A break is ignored: with BRKINT it would be a signal, ISIG or not. Without IXON, output
/// that Ctrl-S stopped goes on.
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

    /// As a hostile program might leave it.
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
