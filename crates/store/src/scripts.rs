//! The scripts that were run by `exec`: keyed by the hash of content and directory, with the profile of each.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Row, named_params};

use super::database::{Database, Kind};
use super::place::Place;
use super::{StoreError, now_ms};

const SCRIPTS: Kind = Kind {
    name: "scripts.db",
    migrations: &["CREATE TABLE scripts (
        hash TEXT PRIMARY KEY,
        path BLOB NOT NULL,
        language TEXT,
        profile BLOB NOT NULL,
        confidence REAL,
        source TEXT NOT NULL,
        basis TEXT NOT NULL,
        runs INTEGER NOT NULL,
        first_ms INTEGER NOT NULL,
        last_ms INTEGER NOT NULL,
        state BLOB NOT NULL
    ) STRICT"],
};

/// The origin of a script's profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Inferred; no person chose it.
    Emergent,
    /// Chosen by a person.
    Manual,
}

/// The evidence for a script's profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The script's text.
    Inferred,
    /// Its observed accesses.
    Observed,
    /// A person's approval.
    Approved,
}

/// A known script.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredScript {
    /// BLAKE3 of its content and its directory, in hexadecimal.
    pub hash: String,
    /// The path where it was last found.
    pub path: PathBuf,
    /// The language that it was parsed as, if any.
    pub language: Option<String>,
    /// The profile that it runs with: a name, or a file's absolute path.
    pub profile: OsString,
    /// The confidence of an inferred profile: 0 to 1.
    pub confidence: Option<f64>,
    /// The origin of the profile.
    pub source: Source,
    /// The evidence for the profile.
    pub basis: Basis,
    /// The number of runs.
    pub runs: u64,
    /// The time when it was first stored: milliseconds since 1970.
    pub first_ms: u64,
    /// The time when it last ran or was set.
    pub last_ms: u64,
}

/// The store of known scripts.
pub struct ScriptStore {
    database: Database,
}

impl ScriptStore {
    /// Opens the store, and creates it if it is missing.
    ///
    /// # Errors
    /// It can't be used.
    pub fn open(state: &Path) -> Result<ScriptStore, StoreError> {
        let database = SCRIPTS.open(&Place::make(state)?)?;
        Ok(ScriptStore { database })
    }

    /// Opens the store if any script was ever stored.
    ///
    /// # Errors
    /// It exists but can't be used. Then no script is known.
    pub fn open_existing(state: &Path) -> Result<Option<ScriptStore>, StoreError> {
        let Some(place) = Place::existing(state)? else {
            return Ok(None);
        };
        let database = SCRIPTS.open_existing(&place)?;
        Ok(database.map(|database| ScriptStore { database }))
    }

    /// The script with this hash.
    ///
    /// # Errors
    /// The store can't be read, or this script's row is damaged. Then the script isn't known.
    pub fn find(&mut self, hash: &str) -> Result<Option<StoredScript>, StoreError> {
        let path = self.database.path.clone();
        let found = self.database.doing("read", |connection| {
            let mut statement = connection.prepare("SELECT * FROM scripts NOT INDEXED WHERE hash = ?1")?;
            statement.query_row([hash], read).optional()
        })?;
        match found {
            None => Ok(None),
            Some(Some(script)) => Ok(Some(script)),
            Some(None) => Err(StoreError::Damaged {
                id: hash.to_string(),
                path,
            }),
        }
    }

    /// All scripts, the most recently run first; damaged ones are omitted.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn list(&mut self) -> Result<Vec<StoredScript>, StoreError> {
        let all = self.database.doing("read", |connection| {
            let mut statement = connection.prepare("SELECT * FROM scripts ORDER BY last_ms DESC, hash")?;
            statement.query_map([], read)?.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Stores a script; replaces the row for the same hash.
    ///
    /// # Errors
    /// It can't be written.
    pub fn set(&mut self, script: &StoredScript) -> Result<(), StoreError> {
        let (source, basis) = (script.source.name(), script.basis.name());
        self.database.change(|transaction| {
            transaction.execute(
                "INSERT INTO scripts
                 VALUES (:hash, :path, :language, :profile, :confidence, :source, :basis, :runs, :first, :last, :state)
                 ON CONFLICT (hash) DO UPDATE SET path = :path, language = :language, profile = :profile,
                 confidence = :confidence, source = :source, basis = :basis, runs = :runs, first_ms = :first,
                 last_ms = :last, state = :state",
                named_params! {
                    ":hash": script.hash,
                    ":path": script.path.as_os_str().as_bytes(),
                    ":language": script.language,
                    ":profile": script.profile.as_bytes(),
                    ":confidence": script.confidence,
                    ":source": source,
                    ":basis": basis,
                    ":runs": script.runs.cast_signed(),
                    ":first": script.first_ms.cast_signed(),
                    ":last": script.last_ms.cast_signed(),
                    ":state": script.check(),
                },
            )
        })?;
        Ok(())
    }

    /// Removes a script; returns whether it was known.
    ///
    /// # Errors
    /// It can't be written.
    pub fn forget(&mut self, hash: &str) -> Result<bool, StoreError> {
        let forgotten = self
            .database
            .change(|transaction| transaction.execute("DELETE FROM scripts WHERE hash = ?1", [hash]))?;
        Ok(forgotten > 0)
    }
}

impl StoredScript {
    /// A new script.
    pub fn new(hash: String, path: PathBuf, profile: OsString) -> StoredScript {
        let now = now_ms();
        StoredScript {
            hash,
            path,
            language: None,
            profile,
            confidence: None,
            source: Source::Manual,
            basis: Basis::Approved,
            runs: 0,
            first_ms: now,
            last_ms: now,
        }
    }

    /// A checksum over the deciding fields: a row changed by a disk error or by hand isn't used.
    fn check(&self) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new();
        let parts = [
            self.hash.as_bytes(),
            self.profile.as_bytes(),
            self.source.name().as_bytes(),
            self.basis.name().as_bytes(),
        ];
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().as_bytes().to_vec()
    }
}

/// Parses a row; `None` if it is damaged.
fn read(row: &Row<'_>) -> rusqlite::Result<Option<StoredScript>> {
    let source = row.get::<_, String>("source")?;
    let basis = row.get::<_, String>("basis")?;
    let (Some(source), Some(basis)) = (Source::named(&source), Basis::named(&basis)) else {
        return Ok(None);
    };
    let bytes = |name: &str| row.get::<_, Vec<u8>>(name).map(OsString::from_vec);
    let script = StoredScript {
        hash: row.get("hash")?,
        path: bytes("path")?.into(),
        language: row.get("language")?,
        profile: bytes("profile")?,
        confidence: row.get("confidence")?,
        source,
        basis,
        runs: row.get::<_, i64>("runs")?.cast_unsigned(),
        first_ms: row.get::<_, i64>("first_ms")?.cast_unsigned(),
        last_ms: row.get::<_, i64>("last_ms")?.cast_unsigned(),
    };
    Ok((script.check() == row.get::<_, Vec<u8>>("state")?).then_some(script))
}

impl Source {
    /// The name: `emergent`, `manual`.
    pub fn name(self) -> &'static str {
        match self {
            Source::Emergent => "emergent",
            Source::Manual => "manual",
        }
    }

    fn named(name: &str) -> Option<Source> {
        [Source::Emergent, Source::Manual]
            .into_iter()
            .find(|source| source.name() == name)
    }
}

impl Basis {
    /// The name: `inferred`, `observed`, `approved`.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Inferred => "inferred",
            Basis::Observed => "observed",
            Basis::Approved => "approved",
        }
    }

    fn named(name: &str) -> Option<Basis> {
        let all = [Basis::Inferred, Basis::Observed, Basis::Approved];
        all.into_iter().find(|basis| basis.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(hash: &str) -> StoredScript {
        StoredScript {
            language: Some("python".into()),
            confidence: Some(0.95),
            source: Source::Emergent,
            basis: Basis::Inferred,
            ..StoredScript::new(hash.into(), "/x/job.py".into(), "readonly".into())
        }
    }

    #[test]
    fn a_script_is_known_by_its_content_until_it_is_forgotten() {
        let state = tempfile::tempdir().unwrap();
        assert!(
            ScriptStore::open_existing(&state.path().join("none"))
                .unwrap()
                .is_none()
        );
        let mut store = ScriptStore::open(state.path()).unwrap();
        store.set(&script("a")).unwrap();
        store.set(&script("b")).unwrap();
        assert_eq!(
            store.find("a").unwrap(),
            Some(script("a")).map(|old| StoredScript {
                first_ms: store.find("a").unwrap().unwrap().first_ms,
                last_ms: store.find("a").unwrap().unwrap().last_ms,
                ..old
            })
        );
        assert_eq!(store.list().unwrap().len(), 2);
        assert!(store.forget("a").unwrap());
        assert!(!store.forget("a").unwrap());
        assert_eq!(store.find("a").unwrap(), None);
    }

    #[test]
    fn a_row_that_somebody_changed_is_not_used() {
        let state = tempfile::tempdir().unwrap();
        let mut store = ScriptStore::open(state.path()).unwrap();
        store.set(&script("a")).unwrap();
        let sql = "UPDATE scripts SET profile = CAST('trusted' AS BLOB)";
        store
            .database
            .change(|transaction| transaction.execute(sql, []))
            .unwrap();
        assert!(matches!(store.find("a"), Err(StoreError::Damaged { .. })));
        assert!(store.list().unwrap().is_empty());
    }
}
