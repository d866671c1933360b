//! Adds, finds and revokes stored grants.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::{Row, Transaction, named_params};

use super::database::{Database, Kind};
use super::grant::{Given, Key, NewGrant, StoredGrant};
use super::place::Place;
use super::{StoreError, now_ms};

const GRANTS: Kind = Kind {
    name: "grants.db",
    migrations: &["CREATE TABLE grants (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        project BLOB NOT NULL,
        profile BLOB NOT NULL,
        agent TEXT,
        script TEXT,
        kind TEXT NOT NULL,
        words BLOB NOT NULL,
        by TEXT NOT NULL,
        reason TEXT,
        request TEXT,
        created_ms INTEGER NOT NULL,
        revoked_ms INTEGER,
        hash BLOB NOT NULL
    ) STRICT"],
};

/// The store of grants.
pub struct GrantStore {
    database: Database,
}

/// The result of adding a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It is now stored, with this id.
    New(String),
    /// The same grant was already stored, with this id.
    Known(String),
}

/// All stored grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// In the order of storing, including revoked ones.
    pub grants: Vec<StoredGrant>,
    /// The ids of damaged ones, as far as they are readable.
    pub damaged: Vec<String>,
}

/// A row: the grant, or the id of a damaged one.
type Read = Result<StoredGrant, String>;

impl GrantStore {
    /// Opens the store, and creates it if it is missing.
    ///
    /// # Errors
    /// It can't be used.
    pub fn open(state: &Path) -> Result<GrantStore, StoreError> {
        let database = GRANTS.open(&Place::make(state)?)?;
        Ok(GrantStore { database })
    }

    /// Opens the store if a grant was ever stored; otherwise creates nothing and doesn't touch SQLite.
    ///
    /// # Errors
    /// It exists but can't be used. Then no stored grant counts.
    pub fn open_existing(state: &Path) -> Result<Option<GrantStore>, StoreError> {
        let Some(place) = Place::existing(state)? else {
            return Ok(None);
        };
        let database = GRANTS.open_existing(&place)?;
        Ok(database.map(|database| GrantStore { database }))
    }

    /// Stores a grant, unless the same grant is already valid for this key.
    ///
    /// # Errors
    /// It can't be written.
    pub fn add(&mut self, key: &Key, grant: &NewGrant) -> Result<Added, StoreError> {
        self.database.change(|transaction| {
            let stored = read_all(transaction)?;
            let stored: Vec<StoredGrant> = stored.into_iter().flatten().collect();
            let is_same =
                |old: &&StoredGrant| old.revoked_ms.is_none() && old.key == *key && old.grant.given == grant.given;
            if let Some(old) = stored.iter().find(is_same) {
                return Ok(Added::Known(old.id.clone()));
            }
            let mut id = new_id()?;
            while stored.iter().any(|old| old.id == id) {
                id = new_id()?;
            }
            let new = StoredGrant {
                id: id.clone(),
                key: key.clone(),
                grant: grant.clone(),
                created_ms: now_ms(),
                revoked_ms: None,
            };
            insert(transaction, &new)?;
            Ok(Added::New(id))
        })
    }

    /// The valid grants for a run with this key.
    ///
    /// # Errors
    /// The store can't be read, or any grant in it is damaged. Then none counts.
    pub fn matching(&mut self, key: &Key) -> Result<Vec<StoredGrant>, StoreError> {
        let path = self.database.path.clone();
        let mut matching = Vec::new();
        for read in self.database.doing("read", |connection| read_all(connection))? {
            let grant = read.map_err(|id| StoreError::Damaged { id, path: path.clone() })?;
            if grant.revoked_ms.is_none() && grant.key == *key {
                matching.push(grant);
            }
        }
        Ok(matching)
    }

    /// All stored grants.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn list(&mut self) -> Result<Listing, StoreError> {
        let mut listing = Listing {
            grants: Vec::new(),
            damaged: Vec::new(),
        };
        for read in self.database.doing("read", |connection| read_all(connection))? {
            match read {
                Ok(grant) => listing.grants.push(grant),
                Err(id) => listing.damaged.push(id),
            }
        }
        Ok(listing)
    }

    /// Revokes a grant; a damaged one is removed. Returns the grant if it was readable and valid until now.
    ///
    /// # Errors
    /// There is no grant with this id, or the store can't be written.
    pub fn revoke(&mut self, id: &str) -> Result<Option<StoredGrant>, StoreError> {
        let revoked = self.database.change(|transaction| {
            let all = read_all(transaction)?;
            if all.iter().any(|read| read.as_ref().is_err_and(|damaged| damaged == id)) {
                transaction.execute("DELETE FROM grants WHERE id = ?1", [id])?;
                return Ok(Some(None));
            }
            let Some(mut grant) = all.into_iter().flatten().find(|grant| grant.id == id) else {
                return Ok(None);
            };
            if grant.revoked_ms.is_some() {
                return Ok(Some(None));
            }
            grant.revoked_ms = Some(now_ms());
            transaction.execute("DELETE FROM grants WHERE id = ?1", [id])?;
            insert(transaction, &grant)?;
            Ok(Some(Some(grant)))
        })?;
        // Moves the log into the file: a log damaged later would restore the grant.
        self.database.doing("write to", |connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })?;
        revoked.ok_or_else(|| StoreError::Unknown { id: id.to_string() })
    }
}

/// Every row, read from the table itself: no index can contradict it.
fn read_all(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<Read>> {
    let mut statement = connection.prepare("SELECT * FROM grants NOT INDEXED ORDER BY number")?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row));
    }
    Ok(all)
}

fn read(row: &Row<'_>) -> Read {
    let id = row.get::<_, String>("id").unwrap_or_else(|_| "?".to_string());
    let stored = parse(row).map_err(|_| id.clone())?;
    let hash = row.get::<_, Vec<u8>>("hash").unwrap_or_default();
    match stored {
        Some(grant) if grant.check()[..] == hash[..] => Ok(grant),
        _ => Err(id),
    }
}

fn parse(row: &Row<'_>) -> rusqlite::Result<Option<StoredGrant>> {
    let bytes = |name: &str| row.get::<_, Vec<u8>>(name).map(OsString::from_vec);
    let Some(given) = Given::parse(&row.get::<_, String>("kind")?, &row.get::<_, Vec<u8>>("words")?) else {
        return Ok(None);
    };
    Ok(Some(StoredGrant {
        id: row.get("id")?,
        key: Key {
            project: PathBuf::from(bytes("project")?),
            profile: bytes("profile")?,
            agent: row.get("agent")?,
            script: row.get("script")?,
        },
        grant: NewGrant {
            given,
            by: row.get("by")?,
            reason: row.get("reason")?,
            request: row.get("request")?,
        },
        created_ms: row.get::<_, i64>("created_ms")?.cast_unsigned(),
        revoked_ms: row.get::<_, Option<i64>>("revoked_ms")?.map(i64::cast_unsigned),
    }))
}

fn insert(transaction: &Transaction<'_>, grant: &StoredGrant) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare(
        "INSERT INTO grants (id, project, profile, agent, script, kind, words, by, reason, request, created_ms,
             revoked_ms, hash)
         VALUES (:id, :project, :profile, :agent, :script, :kind, :words, :by, :reason, :request, :created,
             :revoked, :hash)",
    )?;
    statement.execute(named_params! {
        ":id": grant.id,
        ":project": grant.key.project.as_os_str().as_bytes(),
        ":profile": grant.key.profile.as_bytes(),
        ":agent": grant.key.agent,
        ":script": grant.key.script,
        ":kind": grant.grant.given.kind(),
        ":words": grant.grant.given.bytes(),
        ":by": grant.grant.by,
        ":reason": grant.grant.reason,
        ":request": grant.grant.request,
        ":created": grant.created_ms.cast_signed(),
        ":revoked": grant.revoked_ms.map(u64::cast_signed),
        ":hash": grant.check(),
    })?;
    Ok(())
}

/// Six letters and digits that can't be mistaken for each other.
fn new_id() -> rusqlite::Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    (0..6)
        .map(|_| {
            let number = stockade_sys::random::number();
            let number = number.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            Ok(char::from(LETTERS[usize::from(number) % LETTERS.len()]))
        })
        .collect()
}
