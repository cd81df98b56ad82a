//! The list of runs. Folders are read when a browser asks, newest first and a few at a time, and again only
//! if they have changed. While a run is being measured, no older run is read.

use std::{
    cmp::Reverse,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use tare_bench::{
    folder::{self, RunHead},
    plan::{Order, Until},
};
use tare_report::{
    document::{Kind, Status},
    write::runs::{ListedRun, RunState},
};

use crate::{
    command::run_folders::{Place, folders_in},
    parts::MERGED,
};

/// Folders of runs, and the runs in them.
#[derive(Debug, Clone)]
pub(super) struct Folders(Vec<PathBuf>);

/// The runs, and their cached entries.
#[derive(Debug)]
pub(crate) struct Shelf {
    folders: Folders,
    known: HashMap<PathBuf, Known>,
}

/// The entry of a run when it was read.
#[derive(Debug)]
struct Known {
    stamp: Stamp,
    listed: ListedRun,
    /// Whether only the head was read.
    is_head: bool,
}

/// Detects changes of a run: size and time of its head, journal and folder, which holds the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    head: Seen,
    journal: Seen,
    folder: Seen,
}

type Seen = Option<(u64, SystemTime)>;

impl Stamp {
    pub(super) fn of(run: &Path) -> Stamp {
        let look = |path: PathBuf| {
            let found = fs::metadata(path).ok()?;
            Some((found.len(), found.modified().ok()?))
        };
        Stamp {
            head: look(run.join("run.json")),
            journal: look(folder::journal_path(run)),
            folder: look(run.to_owned()),
        }
    }

    /// Whether the entry is the same, except for the size of the folder.
    fn has_the_records_of(&self, other: &Stamp) -> bool {
        (self.head, self.journal) == (other.head, other.journal)
    }

    /// Whether the head's entry is the same: the kind of a run depends on the files beside the head too.
    fn has_the_head_of(&self, other: &Stamp) -> bool {
        (self.head, self.folder) == (other.head, other.folder)
    }
}

impl Folders {
    pub(super) fn new(folders: Vec<PathBuf>) -> Folders {
        Folders(folders)
    }

    /// The run of this name, looked up among the listed runs, so that no name leads elsewhere.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        self.places().into_iter().find(|place| place.name == name).map(|place| place.path)
    }

    /// All runs, including each run of a series. Of two with the same name, the first folder's counts.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for place in self.0.iter().flat_map(|folder| folders_in(folder)).flat_map(Place::open) {
            if places.iter().all(|known| known.name != place.name) {
                places.push(place);
            }
        }
        places.sort_by(|one, other| other.cmp(one));
        places
    }
}

impl Shelf {
    pub(crate) fn new(folders: Folders) -> Shelf {
        Shelf { folders, known: HashMap::new() }
    }

    /// The list, newest first. It reads changed runs while there is time; the others are marked as unread.
    pub(crate) fn look(&mut self, mut has_time: impl FnMut() -> bool) -> Vec<ListedRun> {
        let places = self.folders.places();
        let running: Vec<bool> = places.iter().map(|place| folder::is_being_written(&place.path)).collect();
        let measuring = running.contains(&true);
        self.known.retain(|path, _| places.iter().any(|place| place.path == *path));
        let mut may_read = || !measuring && has_time();
        let listed = places.iter().zip(running).map(|(place, running)| match running {
            true => self.head(place, RunState::Known(Status::Running)),
            false => self.listed(place, &mut may_read),
        });
        let mut list: Vec<ListedRun> = listed.collect();
        list.sort_by_key(|listed| Reverse(listed.began.clone()));
        list
    }

    /// The entry of a run that is not in progress.
    fn listed(&mut self, place: &Place, may_read: &mut impl FnMut() -> bool) -> ListedRun {
        let stamp = Stamp::of(&place.path);
        let known = self.known.get_mut(&place.path).filter(|known| !known.is_head);
        if let Some(known) = known.filter(|known| known.stamp.has_the_records_of(&stamp)) {
            if known.stamp != stamp && may_read() {
                known.stamp = stamp;
                known.listed.bytes = Some(size(&place.path));
            }
            return known.listed.clone();
        }
        if !may_read() {
            return self.head(place, RunState::Unread);
        }
        let listed = place.read();
        self.known.insert(place.path.clone(), Known { stamp, listed: listed.clone(), is_head: false });
        listed
    }

    /// The entry from the head of the run, which is read once.
    fn head(&mut self, place: &Place, state: RunState) -> ListedRun {
        let stamp = Stamp::of(&place.path);
        let known = self.known.get(&place.path);
        let known = known.filter(|known| known.is_head && known.stamp.has_the_head_of(&stamp));
        let head = match known {
            Some(known) => known.listed.clone(),
            None => {
                let listed = place.head(state);
                self.known.insert(place.path.clone(), Known { stamp, listed: listed.clone(), is_head: true });
                listed
            }
        };
        ListedRun { state, ..head }
    }
}

impl Place {
    pub(super) fn link(name: &str) -> String {
        format!("/run/{}", escaped(name))
    }

    /// The full entry.
    fn read(&self) -> ListedRun {
        let listed = match MERGED.gather(&self.path) {
            Ok(document) => ListedRun::of(&self.name, Place::link(&self.name), &document),
            Err(_) if !self.path.join("run.json").exists() => self.other(),
            Err(error) => ListedRun { text: error.to_string(), ..self.head(RunState::Broken) },
        };
        ListedRun { bytes: Some(size(&self.path)), ..listed }
    }

    /// The entry from `run.json` alone.
    fn head(&self, state: RunState) -> ListedRun {
        let head = RunHead::read(&self.path).ok();
        let word =
            |keys: &[&str]| head.as_ref().and_then(|head| head.text(keys)).unwrap_or_default().to_owned();
        let title = Some(word(&["plan", "title"])).filter(|title| !title.is_empty());
        let kind = match &head {
            Some(head) => match (head.order(), head.until()) {
                (Some(Order::Sequential), _) => Kind::Sequential.text(),
                (Some(Order::Interleaved(_)), Some(Until::Search(_))) => Kind::Capacity.text(),
                (Some(Order::Interleaved(_)), Some(Until::Gate(_))) => Kind::Comparison.text(),
                (Some(Order::Interleaved(_)), _) => Kind::Interleaved.text(),
                (None, _) => "",
            },
            None => "",
        };
        ListedRun {
            name: self.name.clone(),
            link: Some(Place::link(&self.name)),
            title: title.unwrap_or_else(|| self.name.clone()),
            began: word(&["began"]),
            kind: kind.to_owned(),
            state,
            text: String::new(),
            bytes: None,
        }
    }

    /// The entry of a folder without a run: of another command, or of a run in preparation.
    fn other(&self) -> ListedRun {
        let has = |file: &str| self.path.join(file).is_file();
        let (kind, text) = if has("certificate.json") {
            ("selftest", "What tare selftest found is in its certificate.json.")
        } else if has("crosscheck.json") {
            ("crosscheck", "This is a cross-validation: see its crosscheck.md.")
        } else {
            ("", "It has no run.json: no run, or one that was not measured yet.")
        };
        let state = if kind.is_empty() { RunState::Broken } else { RunState::Known(Status::Complete) };
        ListedRun {
            link: None,
            kind: kind.to_owned(),
            text: text.to_owned(),
            began: began_by_name(&self.name),
            ..self.head(state)
        }
    }
}

/// The time at the beginning of a folder's name in `runs/`, in RFC 3339; empty if there is none.
fn began_by_name(name: &str) -> String {
    let time = name.split_once('-').map_or(name, |(time, _)| time);
    let parsed = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%.fZ", time);
    parsed.map(|time| format!("{time}Z")).unwrap_or_default()
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

/// The name as a part of a URL path.
fn escaped(name: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    name.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::{io::Write, time::Duration};

    use tare_bench::plan::until::{ALPHA, Gate, Metric, looks};

    use super::*;

    fn shelf(runs: &[&str]) -> (tempfile::TempDir, Shelf) {
        let folder = tempfile::tempdir().unwrap();
        for run in runs {
            fs::create_dir_all(folder.path().join(run)).unwrap();
        }
        let folders = Folders::new(vec![folder.path().join("runs"), folder.path().join("record")]);
        (folder, Shelf::new(folders))
    }

    #[test]
    fn a_name_leads_to_a_run_and_nowhere_else() {
        let (folder, shelf) = shelf(&["runs/one", "runs/.hidden", "record/one", "record/two", "secret"]);
        std::os::unix::fs::symlink(folder.path().join("secret"), folder.path().join("runs/link")).unwrap();
        assert_eq!(shelf.folders.find("one"), Some(folder.path().join("runs/one")));
        assert_eq!(shelf.folders.find("two"), Some(folder.path().join("record/two")));
        for name in [
            "",
            ".",
            "..",
            "../secret",
            "/",
            "secret",
            "link",
            ".hidden",
            "one/",
            "./one",
            "two/../one",
            "one\0",
        ] {
            assert_eq!(shelf.folders.find(name), None, "{name:?}");
        }
    }

    #[test]
    fn runs_of_a_series_are_runs_of_their_own() {
        let (folder, shelf) = shelf(&["runs/all/first", "runs/all/second"]);
        fs::write(folder.path().join("runs/all/series.json"), "{}").unwrap();
        assert_eq!(shelf.folders.find("all:second"), Some(folder.path().join("runs/all/second")));
        assert_eq!(shelf.folders.find("all"), None);
    }

    #[test]
    fn what_is_no_run_says_so_and_what_there_is_no_time_for_too() {
        let (folder, mut shelf) =
            shelf(&["runs/20261121T142005.078Z-quick", "runs/20261121T174629.521Z-selftest", "runs/bad"]);
        fs::write(folder.path().join("runs/20261121T174629.521Z-selftest/certificate.json"), "{}").unwrap();
        fs::write(folder.path().join("runs/bad/run.json"), "{\"format\":\"9.0\"}").unwrap();
        assert!(shelf.look(|| false).iter().all(|listed| listed.state == RunState::Unread));
        let list = shelf.look(|| true);
        let told: Vec<(&str, RunState, &str)> =
            list.iter().map(|listed| (listed.name.as_str(), listed.state, listed.began.as_str())).collect();
        let complete = RunState::Known(Status::Complete);
        let expected = [
            ("20261121T174629.521Z-selftest", complete, "2026-11-21T17:46:29.521Z"),
            ("20261121T142005.078Z-quick", RunState::Broken, "2026-11-21T14:20:05.078Z"),
            ("bad", RunState::Broken, ""),
        ];
        assert_eq!(told, expected);
        assert!(list[2].text.contains("has format \"9.0\""), "{}", list[2].text);
        assert_eq!(list[0].link, None);
        assert_eq!(shelf.look(|| false), list, "what has not changed is not read again");
    }

    /// Replaces the content with other bytes of the same length and keeps the time.
    fn replace(path: &Path, text: &str) {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_modified(modified).unwrap();
    }

    #[test]
    fn heads_are_read_once_while_a_run_goes_on_and_all_is_read_after_it() {
        let (folder, mut shelf) = shelf(&["runs/now", "runs/past"]);
        for run in ["now", "past"] {
            let head = folder.path().join("runs").join(run).join("run.json");
            fs::write(head, "{\"format\":\"9.0\",\"plan\":{\"title\":\"A\"}}").unwrap();
        }
        let journal = fs::File::create(folder.path().join("runs/now/journal.ndjson")).unwrap();
        journal.lock().unwrap();
        let mut told = || {
            let list = shelf.look(|| true);
            list.into_iter().map(|listed| (listed.title, listed.state)).collect::<Vec<_>>()
        };
        let running = RunState::Known(Status::Running);
        assert_eq!(told(), [("A".to_owned(), RunState::Unread), ("A".to_owned(), running)]);
        for run in ["now", "past"] {
            let head = folder.path().join("runs").join(run).join("run.json");
            replace(&head, "{\"format\":\"9.0\",\"plan\":{\"title\":\"B\"}}");
        }
        assert_eq!(told(), [("A".to_owned(), RunState::Unread), ("A".to_owned(), running)]);
        drop(journal);
        assert_eq!(told(), [("B".to_owned(), RunState::Broken), ("B".to_owned(), RunState::Broken)]);
    }

    #[test]
    fn sizes_follow_what_is_put_into_a_folder_but_not_while_a_run_goes_on() {
        let (folder, mut shelf) = shelf(&["runs/now", "runs/past"]);
        let past = folder.path().join("runs/past");
        fs::write(past.join("run.json"), "{\"format\":\"9.0\"}").unwrap();
        let mut size = || shelf.look(|| true).into_iter().find(|listed| listed.name == "past").unwrap().bytes;
        assert_eq!(size(), Some(16));
        // Two files may be written within one tick of the file system's clock.
        let put = |name: &str, seconds: u64| {
            fs::write(past.join(name), name).unwrap();
            let folder = fs::File::open(&past).unwrap();
            folder.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        put("page", 1);
        assert_eq!(size(), Some(20));
        let journal = fs::File::create(folder.path().join("runs/now/journal.ndjson")).unwrap();
        journal.lock().unwrap();
        put("more", 2);
        assert_eq!(size(), Some(20), "it is not read anew, and is not unread either");
        drop(journal);
        assert_eq!(size(), Some(24));
    }

    #[test]
    fn a_comparison_is_listed_as_one_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate {
            candidate: "b".to_owned(),
            delta: 0.03,
            metrics: vec![Metric::Cpu],
            looks: looks(40),
            alpha: ALPHA,
        };
        let order = tare_bench::fixture::plan(&["a", "b"]).order;
        for (name, until) in [("gate", Until::Gate(gate)), ("budget", Until::Budget)] {
            let run = folder.path().join(name);
            fs::create_dir_all(&run).unwrap();
            let head =
                serde_json::json!({"format": folder::FORMAT, "plan": {"order": order, "until": until}});
            fs::write(run.join("run.json"), head.to_string()).unwrap();
        }
        let mut shelf = Shelf::new(Folders::new(vec![folder.path().to_owned()]));
        let listed = shelf.look(|| false).into_iter().map(|listed| (listed.name, listed.kind));
        let kinds: HashMap<String, String> = listed.collect();
        assert_eq!(kinds["gate"], Kind::Comparison.text());
        assert_eq!(kinds["budget"], Kind::Interleaved.text());
    }

    #[test]
    fn a_name_is_a_part_of_a_path_whatever_it_holds() {
        assert_eq!(escaped("2026-a:b"), "2026-a:b");
        assert_eq!(escaped("a/b ?#%<\u{e9}"), "a%2Fb%20%3F%23%25%3C%C3%A9");
    }
}
