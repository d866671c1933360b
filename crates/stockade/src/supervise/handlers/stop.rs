//! Why a call isn't answered by its handler.

use crate::report::Refusal;
use crate::supervise::call::errno::Errno;

/// Why a call isn't answered here.
#[derive(Debug)]
pub enum Stop {
    /// It fails with this error number.
    Errno(Errno),
    /// The approver is asked about this refusal. Without an approval the call fails with the error number.
    Ask(Box<Refusal>, Errno),
    /// A thread in the domain widened by the approved grants makes the call. If there is none, the call fails with the
    /// error number.
    Widen(Errno),
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop::Errno(errno)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Stop {
        Stop::Errno(error.into())
    }
}
