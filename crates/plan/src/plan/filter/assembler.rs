//! Emits classic BPF from its end to its start.
//!
//! Jumps only lead forward, so an assembler that goes backwards knows every target when it emits a jump, and never
//! patches one. An address here is an index into the reversed program: the number of instructions that follow.
//! Comparisons reach 255 instructions; a target farther away gets a stand-in within reach, an unconditional jump or a
//! copy of the return.

use std::ptr;

use super::{Action, Case, Condition, Half, Instruction, Test, Verdict};

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// The offset of the call number in `struct seccomp_data`.
const NUMBER: u32 = 0;
/// The offset of the architecture word.
const ARCHITECTURE: u32 = 4;
/// The offset of the first argument, low half first on both architectures.
const ARGUMENTS: u32 = 16;

/// The longest skip of a comparison.
const REACH: usize = u8::MAX as usize;

/// The most single values that are compared one after the other before the search splits them.
///
/// A chain needs one instruction for a value that differs from its surroundings, a split two, so longer chains make
/// shorter programs; but the kernel runs the program once for every number it knows when it installs it.
const MAX_CHAIN: usize = 4;

/// The target of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JumpTarget {
    /// The filter returns this action.
    Answer(Action),
    /// The filter goes on at this address.
    At(usize),
}

/// Neighbouring values, both ends included, that lead to the same place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) then: JumpTarget,
}

impl Range {
    fn is_single(&self) -> bool {
        self.first == self.last
    }
}

/// A program under construction.
pub(super) struct Assembler {
    /// The instructions, last one first.
    reversed: Vec<Instruction>,
    /// The returns and stand-in jumps emitted so far: their targets and positions.
    placed: Vec<(JumpTarget, usize)>,
    /// The verdicts emitted so far, so that calls with the same one share its code.
    verdicts: Vec<(&'static Verdict, JumpTarget)>,
}

impl Assembler {
    pub(super) fn new() -> Self {
        Self {
            reversed: Vec::with_capacity(320),
            placed: Vec::with_capacity(32),
            verdicts: Vec::with_capacity(32),
        }
    }

    /// Emits the start of the program and returns it in the kernel's order.
    pub(super) fn finish(mut self, audit: u32, numbers: JumpTarget) -> Vec<Instruction> {
        let numbers = self.load(NUMBER, numbers);
        let check = self.equals(audit, numbers, JumpTarget::Answer(Action::Kill));
        self.load(ARCHITECTURE, check);
        self.reversed.reverse();
        self.reversed
    }

    /// Emits the code of a verdict, once for all calls that share it.
    pub(super) fn verdict(&mut self, verdict: &'static Verdict) -> JumpTarget {
        if verdict.cases.is_empty() {
            return JumpTarget::Answer(verdict.otherwise);
        }
        if let Some((_, target)) = self.verdicts.iter().find(|(known, _)| ptr::eq(*known, verdict)) {
            return *target;
        }
        let mut loads = loads(verdict.cases);
        let mut next = JumpTarget::Answer(verdict.otherwise);
        for case in verdict.cases.iter().rev() {
            let mut then = JumpTarget::Answer(case.then);
            for condition in case.when.iter().rev() {
                then = self.test(condition.test, then, next);
                if loads.pop() == Some(true) {
                    then = self.load(offset(*condition), then);
                }
            }
            next = then;
        }
        self.verdicts.push((verdict, next));
        next
    }

    /// Emits a test of the accumulator.
    fn test(&mut self, test: Test, yes: JumpTarget, no: JumpTarget) -> JumpTarget {
        match test {
            Test::Equals(value) => self.equals(value, yes, no),
            Test::OneOf(values) => self.search(&membership(values, yes, no)),
            Test::AnyBit(mask) => self.any_bit(mask, yes, no),
            Test::NoBit(mask) => self.any_bit(mask, no, yes),
            Test::Masked { mask, value } => {
                let equal = self.equals(value, yes, no);
                self.then(AND, mask, equal)
            }
        }
    }

    /// Emits a search of the accumulator among ranges, which cover all its values in ascending order.
    pub(super) fn search(&mut self, ranges: &[Range]) -> JumpTarget {
        if let [only] = ranges {
            return only.then;
        }
        if let Some(surroundings) = surroundings(ranges) {
            let others = ranges.iter().rev().filter(|range| range.then != surroundings);
            return others.fold(surroundings, |no, range| self.equals(range.first, range.then, no));
        }
        let middle = split(ranges);
        let above = self.search(&ranges[middle..]);
        let below = self.search(&ranges[..middle]);
        self.branch(AT_LEAST, ranges[middle].first, above, below)
    }

    /// Emits a comparison for equality.
    pub(super) fn equals(&mut self, value: u32, yes: JumpTarget, no: JumpTarget) -> JumpTarget {
        self.branch(EQUAL, value, yes, no)
    }

    /// Emits a test for any of these bits.
    pub(super) fn any_bit(&mut self, mask: u32, yes: JumpTarget, no: JumpTarget) -> JumpTarget {
        self.branch(ANY_BIT, mask, yes, no)
    }

    fn branch(&mut self, code: u16, k: u32, yes: JumpTarget, no: JumpTarget) -> JumpTarget {
        if yes == no {
            return yes;
        }
        // Bringing `yes` within reach may put one instruction between this one and `no`.
        let no = self.within_reach(no, 1);
        let yes = self.within_reach(yes, 0);
        let here = self.reversed.len();
        let skip = |address: usize| u8::try_from(here - 1 - address).expect("`within_reach` keeps targets this near");
        self.push(Instruction {
            code,
            jt: skip(yes),
            jf: skip(no),
            k,
        })
    }

    /// Emits a load of a word of `struct seccomp_data`.
    fn load(&mut self, offset: u32, next: JumpTarget) -> JumpTarget {
        self.then(LOAD, offset, next)
    }

    /// Emits an instruction that continues with `next`.
    fn then(&mut self, code: u16, k: u32, next: JumpTarget) -> JumpTarget {
        if next != JumpTarget::At(self.reversed.len().wrapping_sub(1)) {
            self.place(next);
        }
        self.push(Instruction { code, jt: 0, jf: 0, k })
    }

    /// The address of a target, or of a stand-in, near enough for a comparison `later` instructions before this point.
    fn within_reach(&mut self, target: JumpTarget, later: usize) -> usize {
        let near = |address: usize| self.reversed.len() + later <= address + 1 + REACH;
        if let JumpTarget::At(address) = target
            && near(address)
        {
            return address;
        }
        let placed = self
            .placed
            .iter()
            .rev()
            .find(|(known, at)| *known == target && near(*at));
        match placed {
            Some((_, address)) => *address,
            None => self.place(target),
        }
    }

    /// Emits a return or a jump at this point.
    fn place(&mut self, target: JumpTarget) -> usize {
        let here = self.reversed.len();
        let (code, k) = match target {
            JumpTarget::Answer(action) => (RETURN, action.code()),
            JumpTarget::At(address) => (JUMP, u32::try_from(here - 1 - address).unwrap_or(u32::MAX)),
        };
        self.push(Instruction { code, jt: 0, jf: 0, k });
        self.placed.push((target, here));
        here
    }

    fn push(&mut self, instruction: Instruction) -> JumpTarget {
        self.reversed.push(instruction);
        JumpTarget::At(self.reversed.len() - 1)
    }
}

/// The offset in `struct seccomp_data` of the word that a condition tests.
fn offset(condition: Condition) -> u32 {
    let half = match condition.half {
        Half::Low => 0,
        Half::High => 4,
    };
    ARGUMENTS + 8 * u32::from(condition.argument) + half
}

/// Whether each condition, in order, must load its word, or the accumulator holds it on every path there.
fn loads(cases: &[Case]) -> Vec<bool> {
    let mut loads = Vec::with_capacity(16);
    let mut entering = None;
    for case in cases {
        let mut held = entering;
        // The word in the accumulator on every exit to the next case; different words count as none.
        let mut leaving = None;
        for (index, condition) in case.when.iter().enumerate() {
            let word = Some(offset(*condition));
            loads.push(held != word);
            held = if matches!(condition.test, Test::Masked { .. }) {
                None
            } else {
                word
            };
            leaving = if index == 0 || leaving == held { held } else { None };
        }
        entering = leaving;
    }
    loads
}

/// The ranges of a set's values and the gaps between them.
fn membership(values: &[u32], yes: JumpTarget, no: JumpTarget) -> Vec<Range> {
    let mut values = values.to_vec();
    values.sort_unstable();
    let mut ranges = Vec::with_capacity(2 * values.len() + 1);
    let mut next = 0;
    for value in values {
        if value > next {
            super::extend(&mut ranges, next, value - 1, no);
        }
        super::extend(&mut ranges, value, value, yes);
        match value.checked_add(1) {
            Some(above) => next = above,
            None => return ranges,
        }
    }
    super::extend(&mut ranges, next, u32::MAX, no);
    ranges
}

/// The target of all but a few single values of these ranges, if it is one.
fn surroundings(ranges: &[Range]) -> Option<JumpTarget> {
    let base = ranges.iter().find(|range| !range.is_single()).or(ranges.first())?.then;
    let mut others = ranges.iter().filter(|range| range.then != base);
    let chain = others.by_ref().take(MAX_CHAIN).all(Range::is_single);
    (chain && others.next().is_none()).then_some(base)
}

/// The index at which to cut ranges in two: near the middle, but not beside a single value between equal neighbours,
/// which one comparison can pick out as long as they stay together.
fn split(ranges: &[Range]) -> usize {
    let middle = ranges.len() / 2;
    let lone = |index: usize| {
        let between = index > 0 && index + 1 < ranges.len();
        between && ranges[index].is_single() && ranges[index - 1].then == ranges[index + 1].then
    };
    let cut = |cut: &usize| !lone(cut - 1) && !lone(*cut);
    let below = (1..middle).rev().find(cut);
    let above = (middle..ranges.len()).find(cut);
    match (below, above) {
        (Some(below), Some(above)) if above - middle < middle - below => above,
        (below, above) => below.or(above).unwrap_or(middle),
    }
}
