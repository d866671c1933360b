//! Opens a SQLite database and migrates its schema.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::StoreError;
use super::place::Place;

/// The wait for another process's transaction. A run's end may wait as long.
const BUSY: Duration = Duration::from_secs(1);

/// A kind of database.
pub(super) struct Kind {
    /// The file's name.
    pub(super) name: &'static str,
    /// The migrations from each schema version to the next, starting at 0 (an empty file).
    pub(super) migrations: &'static [&'static str],
}

/// An open database.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Kind {
    /// Opens the database; creates or migrates it if necessary.
    pub(super) fn open(&self, place: &Place) -> Result<Database, StoreError> {
        let path = place.file(self.name)?;
        self.opened(place, path)
    }

    /// Opens the database if it exists.
    pub(super) fn open_existing(&self, place: &Place) -> Result<Option<Database>, StoreError> {
        let path = place.existing_file(self.name)?;
        path.map(|path| self.opened(place, path)).transpose()
    }

    fn opened(&self, place: &Place, path: PathBuf) -> Result<Database, StoreError> {
        let connection = connect(&path).map_err(|source| StoreError::of_database("open", path.clone(), source))?;
        let mut database = Database { connection, path };
        let known = i64::try_from(self.migrations.len()).expect("few migrations");
        match database.version()? {
            version if version == known => {}
            version if version > known => {
                return Err(StoreError::Newer {
                    path: database.path,
                    found: version,
                    known,
                });
            }
            _ => self.migrate(place, &mut database)?,
        }
        Ok(database)
    }

    /// Migrates under a separate lock: SQLite doesn't wait for others when it changes to WAL.
    fn migrate(&self, place: &Place, database: &mut Database) -> Result<(), StoreError> {
        let _lock = place.lock()?;
        let from = usize::try_from(database.version()?).unwrap_or(0);
        database.doing("prepare", |connection| {
            connection.pragma_update(None, "journal_mode", "wal")?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (version, migration) in self.migrations.iter().enumerate().skip(from) {
                transaction.execute_batch(migration)?;
                transaction.pragma_update(None, "user_version", version as i64 + 1)?;
            }
            transaction.commit()
        })
    }
}

impl Database {
    fn version(&mut self) -> Result<i64, StoreError> {
        self.doing("read", |connection| {
            connection.pragma_query_value(None, "user_version", |row| row.get(0))
        })
    }

    /// Runs an action; an error names the action and the file.
    pub(super) fn doing<T>(
        &mut self,
        action: &'static str,
        act: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        act(&mut self.connection).map_err(|source| StoreError::of_database(action, self.path.clone(), source))
    }

    /// Runs a change in one exclusive transaction, all of it or nothing.
    pub(super) fn change<T>(
        &mut self,
        act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.doing("write to", |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = act(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    // A file that an attacker changed may contain code of its own.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // No write waits for the disk. The trail's rows do, since they leave its log.
    connection.pragma_update(None, "synchronous", "normal")?;
    // Little memory (KiB), and a log that is quick to read again: each first opening reads all of it.
    connection.pragma_update(None, "cache_size", -128)?;
    connection.pragma_update(None, "wal_autocheckpoint", 128)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(connection)
}
