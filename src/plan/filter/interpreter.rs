//! Runs a program as the kernel would, for tests.

use super::Instruction;

/// What a program returns for a call; `None` if it is malformed: an unknown instruction, a load or a jump out of bounds.
pub(crate) fn evaluate(program: &[Instruction], audit: u32, number: u32, arguments: [u64; 6]) -> Option<u32> {
    let mut words = vec![number, audit, 0, 0];
    for argument in arguments {
        words.extend([argument as u32, (argument >> 32) as u32]);
    }
    let mut accumulator = 0_u32;
    let mut counter = 0_usize;
    loop {
        let Instruction { code, jt, jf, k } = *program.get(counter)?;
        counter += 1;
        let holds = match code {
            0x20 if k % 4 == 0 => {
                accumulator = *words.get(k as usize / 4)?;
                continue;
            }
            0x54 => {
                accumulator &= k;
                continue;
            }
            0x05 => {
                counter += k as usize;
                continue;
            }
            0x06 => return Some(k),
            0x15 => accumulator == k,
            0x25 => accumulator > k,
            0x35 => accumulator >= k,
            0x45 => accumulator & k != 0,
            _ => return None,
        };
        counter += usize::from(if holds { jt } else { jf });
    }
}
