//! The answers of a program and of a verdict, each computed in the simplest way, for tests.

use super::{Action, Condition, Half, Instruction, Test, Verdict};

/// A program's return value for a call, run as in the kernel; `None` if it is malformed: an unknown instruction, a load
/// or a jump out of bounds.
pub fn evaluate(program: &[Instruction], audit: u32, number: u32, arguments: [u64; 6]) -> Option<u32> {
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

/// A verdict's answer, by its definition.
pub fn decide(verdict: &Verdict, arguments: [u64; 6]) -> Action {
    let applies = |when: &[Condition]| when.iter().all(|condition| holds(*condition, arguments));
    verdict
        .cases
        .iter()
        .find(|case| applies(case.when))
        .map_or(verdict.otherwise, |case| case.then)
}

fn holds(condition: Condition, arguments: [u64; 6]) -> bool {
    let argument = arguments[usize::from(condition.argument)];
    let word = match condition.half {
        Half::Low => argument as u32,
        Half::High => (argument >> 32) as u32,
    };
    match condition.test {
        Test::Equals(value) => word == value,
        Test::OneOf(values) => values.contains(&word),
        Test::AnyBit(mask) => word & mask != 0,
        Test::NoBit(mask) => word & mask == 0,
        Test::Masked { mask, value } => word & mask == value,
    }
}
