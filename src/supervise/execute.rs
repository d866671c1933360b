//! `execve` and `execveat`: Landlock decides, we only see what it will refuse. And new processes, where they are
//! counted.

use super::answer::{Answer, Errno, MayContinue};
use super::desk::Desk;
use super::judge::CLOSED;
use super::metadata::Subject;
use super::refuse::Attempt;
use crate::report::Kind;

pub fn execve(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let subject = Subject::followed(desk, desk.caller().registers.long(0))?;
    execute(desk, &subject)
}

pub fn execveat(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let subject = Subject::at(desk, registers.int(0), registers.long(1), registers.int(4))?;
    execute(desk, &subject)
}

fn execute(desk: &Desk<'_>, subject: &Subject) -> Result<Answer, Errno> {
    let object = subject.object(desk)?;
    let refused = desk.judge.refuses_to_execute(&object).filter(|_| object.is_regular());
    if let Some(reason) = refused {
        let attempt = Attempt::on(Kind::Execute, subject.asked());
        desk.note(&attempt, object.name().as_os_str().as_encoded_bytes(), reason);
        return Err(CLOSED);
    }
    let attempt = Attempt::on(Kind::Execute, subject.asked());
    if let Some(reason) = desk.judge.refuses_to_start(desk.caller().process()) {
        desk.note(&attempt, object.name().as_os_str().as_encoded_bytes(), reason);
        return Err(CLOSED);
    }
    desk.tell_allowed(&attempt, object.name());
    Ok(Answer::Continue(MayContinue::execute()))
}
