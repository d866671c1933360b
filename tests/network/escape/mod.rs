//! Attacks, each first shown to work unconfined: a witness that nothing grants must see no connection.

mod addresses;
mod asking;
mod attack;
mod checked;
mod datagrams;
mod everything;
mod kinds;
mod listening;
mod nothing;
mod races;
mod reconnecting;
mod relay;
mod rubbish;
mod sending;
mod special;
