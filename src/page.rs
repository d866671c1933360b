//! `--html` of `stockade audit report` and `stockade explain`: writes a page to standard output or to a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::REFUSED;
use super::message::{Failure, note};
use super::moment;
use stockade::internal::Surroundings;
use stockade_page::{Page, TrailPage};
use stockade_policy::profile::visible;
use stockade_report::report::{Report, Sink, Written};
use stockade_store::{Choice, StoreError, Trail, verify};

/// The most rows of a page: a browser takes some 200 bytes of memory for each.
const MAX_ROWS: u64 = 500_000;

/// Writes the page of one run, or of all rows since a moment, or of the whole trail. Returns whether there was a row.
pub fn of_trail(
    state: &Path,
    run: Option<&str>,
    since: Option<u64>,
    file: Option<&Path>,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let choice = Choice {
        run: run.map(String::from),
        since_ms: since,
        limit: Some(MAX_ROWS + 1),
        ..Choice::default()
    };
    let chosen = match (run, since) {
        (Some(run), _) => format!("audit trail, run {run}"),
        (None, Some(since)) => format!("audit trail since {} UTC", moment::text(since)),
        (None, None) => "audit trail".to_string(),
    };
    let mut rows = Vec::new();
    if let Some(mut trail) = Trail::open_existing(state)? {
        let read = trail.rows(&choice, |row| {
            rows.push(row);
            Ok::<(), StoreError>(())
        });
        match read {
            // The page says so at its top.
            Err(StoreError::Line { .. }) => {}
            other => other?,
        }
    }
    if run.is_some() && rows.is_empty() {
        return Ok(false);
    }
    let sink = Destination::open(file)?;
    let surplus = rows.len() as u64 > MAX_ROWS;
    let source = match surplus {
        true => format!("{chosen}: the newest {MAX_ROWS} rows, older ones are left out"),
        false => chosen,
    };
    let home = Surroundings::here().ok().and_then(|surroundings| surroundings.home);
    let mut page = TrailPage::new(&source, home);
    if let Some(fault) = fault(state)? {
        note(&format!("the audit trail isn't as it was written: {}", visible(&fault)));
        page.fault(&fault);
    }
    for row in rows.iter().skip(usize::from(surplus)) {
        page.row(row);
    }
    drop(rows);
    if surplus {
        note(&format!(
            "the page holds the newest {MAX_ROWS} rows; `--since` chooses fewer"
        ));
    }
    let has_rows = page.rows() > 0;
    sink.write(page.finish(), out)?;
    Ok(has_rows)
}

/// The first fault of the trail in words, as `stockade audit verify` finds it.
fn fault(state: &Path) -> Result<Option<String>, StoreError> {
    Ok(verify(state)?
        .and_then(|verified| verified.fault)
        .map(|fault| fault.to_string()))
}

/// The page of a report, which was read from a file of this name.
pub fn of_report(report: &Report, name: &str, file: Option<&Path>, out: &mut dyn Write) -> Result<(), Failure> {
    let sink = Destination::open(file)?;
    sink.write(stockade_page::of_report(report, name), out)
}

/// Where a page goes.
enum Destination {
    Output,
    File(PathBuf, Sink),
}

impl Destination {
    /// Opens the file, if one is named.
    fn open(file: Option<&Path>) -> Result<Destination, Failure> {
        let Some(file) = file else {
            return Ok(Destination::Output);
        };
        let open = Sink::file(file).and_then(|sink| sink.make_private().map(|()| sink));
        let sink = open.map_err(|error| failed(file, &error))?;
        Ok(Destination::File(file.to_path_buf(), sink))
    }

    fn write(self, page: Page, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Destination::Output => page.write(out).map_err(|error| Failure::new(REFUSED, &error)),
            Destination::File(file, sink) => {
                let mut html = Vec::new();
                let written = page.write(&mut html).and_then(|()| {
                    let html = String::from_utf8(html).map_err(io::Error::other)?;
                    sink.write_text(&html)
                });
                match written.map_err(|error| failed(&file, &error))? {
                    Written::InPlace => Ok(()),
                    Written::Elsewhere(path) => {
                        let text = format!(
                            "`{}` is another file meanwhile; the page is in `{}`",
                            file.display(),
                            path.display()
                        );
                        Err(Failure::text(REFUSED, text))
                    }
                }
            }
        }
    }
}

fn failed(file: &Path, error: &io::Error) -> Failure {
    let failure = Failure::text(REFUSED, format!("can't write `{}`: {error}", file.display()));
    match error.raw_os_error() {
        Some(libc::ELOOP) => failure.hint("the file or a directory above it is a link: name the place itself"),
        Some(libc::EMLINK) => failure.hint("it has a second hard link: name another file"),
        _ => failure,
    }
}
