//! Reading a `tar.gz` as a stream, within bounds, and writing one that is the same bytes every time.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::rc::Rc;

use bytes::Bytes;
use flate2::Crc;
use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType, Header};

use super::error::{Error, Reason};

/// The most that the headers between two files may take: long names, extended attributes.
const MOST_HEADER_BYTES: u64 = 1024 * 1024;
/// The longest path.
const MOST_PATH_BYTES: usize = 1024;

/// Bounds that an archive and the archives within it share.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// Bytes that may still be inflated.
    inflated: Rc<Cell<u64>>,
    /// Files and folders that may still come.
    entries: Rc<Cell<usize>>,
    most_inflated: u64,
    most_entries: usize,
}

impl Budget {
    pub(super) fn new(most_inflated: u64, most_entries: usize) -> Self {
        Self {
            inflated: Rc::new(Cell::new(most_inflated)),
            entries: Rc::new(Cell::new(most_entries)),
            most_inflated,
            most_entries,
        }
    }
}

/// What is read, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// How a person knows the archive.
    pub(super) name: &'a str,
    /// The reason of an archive that breaks the rules.
    pub(super) reason: Reason,
}

impl Subject<'_> {
    pub(super) fn refused(&self, why: impl std::fmt::Display) -> Error {
        Error::new(self.reason, format!("{}: {why}", self.name))
    }

    pub(super) fn too_large(&self, why: impl std::fmt::Display) -> Error {
        Error::new(Reason::ContentTooLarge, format!("{}: {why}", self.name))
    }

    fn unreadable(&self, error: &io::Error) -> Error {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<OverBudget>()) {
            Some(over) => self.too_large(over),
            None => self.refused(format!("the archive cannot be read: {}", super::error::with_causes(error))),
        }
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum OverBudget {
    #[error("it inflates to more than {0} bytes, the most that is taken")]
    Inflated(u64),
    #[error(
        "names and attributes of one file take more than {MOST_HEADER_BYTES} bytes, the most that is taken"
    )]
    Header,
}

/// Counts what is inflated: in all, and since the window was last opened.
struct Metered<R> {
    inner: R,
    budget: Budget,
    window: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let left = self.budget.inflated.get();
        let most = left.min(self.window.get());
        if most == 0 {
            // At the very end nothing more comes, and that is no breach.
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ if left == 0 => Err(io::Error::other(OverBudget::Inflated(self.budget.most_inflated))),
                _ => Err(io::Error::other(OverBudget::Header)),
            };
        }
        let length = usize::try_from(most).unwrap_or(buffer.len()).min(buffer.len());
        let read = self.inner.read(&mut buffer[..length])?;
        self.budget.inflated.set(left - read as u64);
        self.window.set(self.window.get() - read as u64);
        Ok(read)
    }
}

/// One file on its way by.
pub(super) struct File<'a> {
    /// Its path, in parts; never empty, and without `.` and `..`.
    pub(super) path: Vec<String>,
    /// Whether its owner may run it.
    pub(super) is_executable: bool,
    pub(super) size: u64,
    pub(super) content: &'a mut dyn Read,
}

impl File<'_> {
    /// The whole content, which must not exceed `most` bytes.
    pub(super) fn read(&mut self, subject: Subject<'_>, most: u64) -> Result<Vec<u8>, Error> {
        if self.size > most {
            let path = self.path.join("/");
            return Err(
                subject.too_large(format!("{path} has {} bytes, at most {most} are taken", self.size))
            );
        }
        let mut bytes = Vec::new();
        self.content.read_to_end(&mut bytes).map_err(|error| subject.unreadable(&error))?;
        Ok(bytes)
    }
}

/// Shows every file of a `tar.gz`, in its order. Folders are passed over; links, devices and whatever else is no file
/// are refused, and so are paths that leave the tree or come twice.
pub(super) fn walk(
    source: &mut dyn Read,
    subject: Subject<'_>,
    budget: &Budget,
    visit: &mut dyn FnMut(File<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let window = Rc::new(Cell::new(0));
    let metered =
        Metered { inner: MultiGzDecoder::new(source), budget: budget.clone(), window: Rc::clone(&window) };
    let mut archive = Archive::new(metered);
    let mut seen = BTreeSet::new();
    let mut entries = archive.entries().map_err(|error| subject.unreadable(&error))?;
    loop {
        window.set(MOST_HEADER_BYTES);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(|error| subject.unreadable(&error))?;
        window.set(u64::MAX);
        count(budget, subject)?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            io::copy(&mut entry, &mut io::sink()).map_err(|error| subject.unreadable(&error))?;
            continue;
        }
        let path = path(&entry.path_bytes()).map_err(|why| subject.refused(why))?;
        let name = path.join("/");
        match kind {
            EntryType::Directory => {}
            EntryType::Regular | EntryType::Continuous => {
                if path.is_empty() {
                    return Err(subject.refused("a file has no name"));
                }
                if !seen.insert(name.clone()) {
                    return Err(subject.refused(format!("'{name}' is there twice")));
                }
                let mode = entry.header().mode().map_err(|error| subject.unreadable(&error))?;
                let size = entry.size();
                visit(File { path, is_executable: mode & 0o100 != 0, size, content: &mut entry })?;
            }
            _ => return Err(subject.refused(format!("'{name}' is neither a file nor a folder"))),
        }
        io::copy(&mut entry, &mut io::sink()).map_err(|error| subject.unreadable(&error))?;
    }
    // What follows the tar's end is read too: the checksum stands at the gzip file's end.
    window.set(MOST_HEADER_BYTES);
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| subject.unreadable(&error))?;
    Ok(())
}

fn count(budget: &Budget, subject: Subject<'_>) -> Result<(), Error> {
    match budget.entries.get().checked_sub(1) {
        Some(left) => {
            budget.entries.set(left);
            Ok(())
        }
        None => Err(subject
            .too_large(format!("it has more than {} files, the most that is taken", budget.most_entries))),
    }
}

/// The parts of a path that stays within its tree.
pub(super) fn path(bytes: &[u8]) -> Result<Vec<String>, String> {
    let shown = String::from_utf8_lossy(bytes).escape_debug().to_string();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(format!("the path '{shown}' is not UTF-8"));
    };
    if text.len() > MOST_PATH_BYTES {
        return Err(format!("a path has {} bytes, at most {MOST_PATH_BYTES} are taken", text.len()));
    }
    if text.starts_with('/') || text.split('/').any(|part| part == "..") {
        return Err(format!("the path '{shown}' leaves the tree"));
    }
    if text.chars().any(|letter| letter.is_control() || letter == '\\') {
        return Err(format!("the path '{shown}' has a control character or backslash"));
    }
    Ok(text.split('/').filter(|part| !matches!(*part, "" | ".")).map(ToOwned::to_owned).collect())
}

/// Packs files below one top folder, as `helm package` lays a chart out: sorted, times zero, mode 0644, nobody's.
///
/// The gzip file holds its content uncompressed, so that the bytes depend on nothing but the content: another release of
/// a compressor would change them, and with them the digests of all wrappers. They are a few KB each.
///
/// # Errors
///
/// [`Reason::ChartSourceUnsupported`] for a path that tar cannot hold.
pub fn pack(top: &str, files: &BTreeMap<String, Bytes>) -> Result<Bytes, Error> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let refused = |why: &dyn std::fmt::Display| {
            Error::new(
                Reason::ChartSourceUnsupported,
                format!("the chart {top}: cannot pack '{name}': {why}"),
            )
        };
        let full = format!("{top}/{name}");
        let parts = path(full.as_bytes()).map_err(|why| refused(&why))?;
        if parts.join("/") != full {
            return Err(refused(&"the path is not in its plain form"));
        }
        let mut header = Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, &full, content.as_ref()).map_err(|error| refused(&error))?;
    }
    let tar = builder.into_inner().map_err(|error| Error::new(Reason::Unexpected, error.to_string()))?;
    Ok(stored_gzip(&tar))
}

/// RFC 1952 around RFC 1951 blocks of the kind "stored".
fn stored_gzip(content: &[u8]) -> Bytes {
    const BLOCK: usize = u16::MAX as usize;
    let mut crc = Crc::new();
    crc.update(content);
    // Magic, deflate, no flags, no time, no extra flags, unknown system.
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = content.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(crc.sum().to_le_bytes());
    out.extend(crc.amount().to_le_bytes());
    out.into()
}

#[cfg(test)]
mod tests;
