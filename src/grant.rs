//! `stockade grant`: shows and removes permanent grants.

use std::io::Write;
use std::path::Path;

use super::REFUSED;
use super::args::Grant;
use super::audit::state;
use super::message::{Failure, note, note_empty};
use super::moment;
use stockade_policy::profile::visible;
use stockade_report::approve::{Lifetime, Requested};
use stockade_report::audit::{self, Granted, Record};
use stockade_store::{Entry, Given, GrantStore, StoreError, StoredGrant, Trail, now_ms};
use stockade_text::quote::{command_line, quoted};

/// The name of the listed items.
const NOUN: &str = "permanent grant";

/// Carries out `stockade grant …`.
pub fn grant(task: &Grant, out: &mut dyn Write) -> Result<u8, Failure> {
    let state = state()?;
    let store = GrantStore::open_existing(&state)?;
    match (task, store) {
        (Grant::Remove { id }, None) => return Err(StoreError::Unknown { id: id.clone() }.into()),
        (Grant::Remove { id }, Some(store)) => revoke(store, id, &state, out),
        (Grant::List { json, .. }, None) => {
            note_empty(NOUN, true, *json);
            Ok(())
        }
        (Grant::Export, None) => Ok(()),
        (Grant::List { all, json }, Some(mut store)) => {
            let listing = store.list()?;
            for id in &listing.damaged {
                note(&format!(
                    "the stored grant `{id}` is damaged: no stored grant is used until it is removed"
                ));
            }
            let mut shown = listing
                .grants
                .iter()
                .filter(|grant| *all || grant.revoked_ms.is_none())
                .peekable();
            note_empty(NOUN, shown.peek().is_none(), *json);
            print(shown, out, if *json { exported } else { listed })
        }
        (Grant::Export, Some(mut store)) => {
            let listing = store.list()?;
            print(listing.grants.iter(), out, exported)
        }
    }
    .map(|()| 0)
}

fn print<'g>(
    grants: impl Iterator<Item = &'g StoredGrant>,
    out: &mut dyn Write,
    text: fn(&StoredGrant) -> String,
) -> Result<(), Failure> {
    for grant in grants {
        writeln!(out, "{}", text(grant)).map_err(|error| Failure::new(REFUSED, &error))?;
    }
    Ok(())
}

/// One line of JSON.
fn exported(grant: &StoredGrant) -> String {
    grant.json().to_string()
}

/// Two lines: what it grants, and to whom.
fn listed(grant: &StoredGrant) -> String {
    let key = &grant.key;
    let mut whom = format!("in {} under {}", quoted(key.project.as_os_str()), quoted(&key.profile));
    if let Some(agent) = &key.agent {
        whom += &format!(", for agent {}", quoted(agent.as_ref()));
    }
    if let Some(script) = &key.script {
        whom += &format!(", for script {}", script.get(..12).unwrap_or(script));
    }
    let reason = grant
        .grant
        .reason
        .as_ref()
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default();
    let revoked = grant
        .revoked_ms
        .map(|ms| format!("; removed {}", moment::text(ms)))
        .unwrap_or_default();
    format!(
        "{}  {}\n        {}; {} by {}{}{revoked}",
        visible(&grant.id),
        command_line(&grant.grant.given.words()),
        visible(&whom),
        moment::text(grant.created_ms),
        visible(&grant.grant.by),
        visible(&reason)
    )
}

fn revoke(mut store: GrantStore, id: &str, state: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let text = match store.revoke(id)? {
        Some(grant) => {
            if let Err(error) = record(&grant, state) {
                note(&format!(
                    "can't record this in the audit trail: {}",
                    Failure::from(error).message
                ));
            }
            format!("removed {id}: {}", command_line(&grant.grant.given.words()))
        }
        None => format!("{id} counts no more"),
    };
    writeln!(out, "{}", visible(&text)).map_err(|error| Failure::new(REFUSED, &error))
}

fn record(grant: &StoredGrant, state: &Path) -> Result<(), StoreError> {
    let granted = match &grant.grant.given {
        Given::Profile(name) => Requested::Profile(name.clone()),
        Given::Flag(words) => {
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            Requested::Grants(vec![words.collect()])
        }
    };
    let user = std::env::var("LOGNAME").or_else(|_| std::env::var("USER"));
    let record = Record::Revoked(Granted {
        request: grant.id.clone(),
        granted,
        lifetime: Lifetime::Always,
        by: user.unwrap_or_else(|_| format!("user {}", nix::unistd::getuid())),
    });
    let entry = Entry {
        time_ms: now_ms(),
        run: String::new(),
        kind: record.kind(),
        body: audit::body(&record),
    };
    Trail::open(state)?.append(&[entry]).map(drop)
}
