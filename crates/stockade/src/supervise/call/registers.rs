//! The registers of a call. They can't change once the call is handed over.

/// The registers of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers(pub [u64; 6]);

impl Registers {
    /// An `int` argument: the kernel reads the register's low half.
    pub fn int(&self, index: usize) -> i32 {
        self.0[index] as i32
    }

    /// An `unsigned int` argument.
    pub fn word(&self, index: usize) -> u32 {
        self.0[index] as u32
    }

    /// A pointer or a 64-bit number.
    pub fn long(&self, index: usize) -> u64 {
        self.0[index]
    }
}
