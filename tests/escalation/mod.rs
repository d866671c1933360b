//! Asking a person while the program waits: what is asked, what a yes opens, what a no leaves, and what isn't asked.

mod person;

mod abuse;
mod agents;
mod descriptor;
mod guarded;
mod headless;
mod live;
mod profiles;
mod quiet;
mod refusing;
mod remembered;
mod reruns;
mod self_approval;
mod self_approval_at_the_terminal;
mod trail;
mod waking;
