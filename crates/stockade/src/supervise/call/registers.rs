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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_argument_is_the_low_half_of_its_register() {
        let registers = Registers([0xffff_ffff_0000_0001, u64::MAX, 0, 0, 0, 0]);
        assert_eq!((registers.int(0), registers.word(0)), (1, 1));
        assert_eq!((registers.int(1), registers.word(1)), (-1, u32::MAX));
        assert_eq!(registers.long(0), 0xffff_ffff_0000_0001);
    }
}
