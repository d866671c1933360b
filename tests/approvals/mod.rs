//! Questions of runs that have no terminal, asked in one process and answered in another.

mod answering;
mod endings;
mod question;
mod rubbish;
mod schema;
mod screen;
mod strangers;
