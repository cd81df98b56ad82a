//! Finds the Unix sockets of this machine that listen at a path. It knows nothing of services.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use super::sockets::{self, Listening, SocketPlace, SocketTable};

/// Inodes of the sockets that listen at `asked`: a path, or `@` and an abstract name.
pub(super) fn sockets_at(asked: &Path) -> Vec<String> {
    // The table of this thread: the main thread may be in another network namespace.
    let table = fs::read("/proc/thread-self/net/unix").unwrap_or_default();
    let listening = SocketTable::Unix.listening(&String::from_utf8_lossy(&table)).into_iter();
    listening.filter(|listening| is_there(listening, asked)).map(|listening| listening.inode).collect()
}

/// Whether a socket listens at `asked`. Its name may be relative to the server's folder or root.
fn is_there(listening: &Listening, asked: &Path) -> bool {
    let SocketPlace::Unix(own) = &listening.place else { return false };
    if own.starts_with('@') || asked.as_os_str().as_encoded_bytes().starts_with(b"@") {
        return Path::new(own) == asked;
    }
    let begins_at_root = own.starts_with('/');
    if begins_at_root && is_same_file(Path::new(own), asked) {
        return true;
    }
    let seen_by = |pid: u32| match begins_at_root {
        true => format!("/proc/{pid}/root{own}"),
        false => format!("/proc/{pid}/cwd/{own}"),
    };
    // The holder of the socket is searched among all processes.
    let may_be = asked.canonicalize().is_ok_and(|asked| asked.file_name() == Path::new(own).file_name());
    let holders = || sockets::holders(std::slice::from_ref(&listening.inode)).into_iter();
    may_be && holders().any(|pid| is_same_file(Path::new(&seen_by(pid)), asked))
}

/// Whether both paths lead to one file, also through links.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    matches!((file(one), file(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::symlink,
            net::{SocketAddr, UnixListener},
        },
    };

    use super::*;

    #[test]
    fn a_socket_is_found_by_every_path_that_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, other] = ["a.sock", "link.sock", "b.sock"].map(|name| folder.path().join(name));
        let listener = UnixListener::bind(&path).unwrap();
        symlink(&path, &link).unwrap();
        let _other = UnixListener::bind(&other).unwrap();
        let found = sockets_at(&path);
        assert_eq!((found.len(), sockets_at(&link)), (1, found.clone()));
        assert_ne!(sockets_at(&other), found);
        assert_eq!(sockets::holders(&found), [std::process::id()]);
        drop(listener);
        assert_eq!(sockets_at(&path), [""; 0], "the file is still there");
    }

    /// The relative path of `listen("shop.sock")` names another file in each folder.
    #[test]
    fn a_socket_that_was_named_from_its_own_folder_is_found() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let paths = folders.each_ref().map(|folder| folder.path().canonicalize().unwrap().join("shop.sock"));
        let up = "../".repeat(std::env::current_dir().unwrap().components().count() - 1);
        let listeners = paths.each_ref().map(|path| {
            UnixListener::bind(up.clone() + path.to_str().unwrap().trim_start_matches('/')).unwrap()
        });
        let [one, other] = paths.each_ref().map(|path| sockets_at(path));
        assert_eq!((one.len(), other.len()), (1, 1));
        assert_ne!(one, other);
        let link = folders[0].path().join("link");
        symlink(&paths[0], &link).unwrap();
        assert_eq!(sockets_at(&link), one);
        drop(listeners);
    }

    #[test]
    fn an_abstract_name_is_no_path() {
        let name = format!("tare-test-{}", std::process::id());
        let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        assert_eq!(sockets_at(Path::new(&format!("@{name}"))).len(), 1);
        assert_eq!(sockets_at(Path::new(&name)), [""; 0]);
    }
}
