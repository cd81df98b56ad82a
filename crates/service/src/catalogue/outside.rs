//! Services outside the repository: a word with a slash is a folder with a `service.toml`.
//!
//! The folder and its parent may have any name. The id is the path, so that a resumed run finds it again. Its
//! records have a name with `+`, which no service of a checkout can have.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{
    Catalogue, Service, Style, Words,
    command::{is_command, without_number},
    spread, understand,
};
use tare_base::document::DocumentError;
use tare_contract::protocol;

/// The file that makes a folder a service.
const FILE: &str = "service.toml";

impl Catalogue {
    /// Adds the service that `word` names, if it is a command or a path (`./mine`, `.`, `../a/b:variant`,
    /// `./mine@2`), and returns its id with any suffix. Other words and known ids are returned unchanged.
    /// Paths are relative to the folder of the word's file, and a command runs there.
    ///
    /// # Errors
    /// The folder does not exist, or its manifest is not valid.
    pub(crate) fn adopt(
        &mut self,
        word: &str,
        stands: Words,
        contracts: &[&str],
    ) -> Result<String, DocumentError> {
        if self.get(word).is_some() || self.get(without_number(word)).is_some() {
            return Ok(word.to_owned());
        }
        if is_command(word) {
            return Ok(self.adopt_command(word, stands));
        }
        if !is_path(word) {
            return Ok(word.to_owned());
        }
        let (path, rest) = split(word, stands.folder());
        let folder = path.canonicalize().map_err(|source| match source.kind() {
            ErrorKind::NotFound => DocumentError::NoFolder { path: path.clone() },
            _ => DocumentError::Read { path: path.clone(), source },
        })?;
        // The raw socket runs in the root, which may hold the manifest of a repository with one service.
        let is_here = |service: &&Service| service.folder == folder && service.style != Style::RawSocket;
        if !self.services.iter().any(|service| is_here(&service)) {
            let manifest = folder.join(FILE);
            if !manifest.exists() {
                return Err(DocumentError::NoManifest { path: path.clone() });
            }
            let (_, manifest) = understand(&manifest, contracts)?;
            self.services
                .extend(spread(manifest, &folder).into_iter().map(|service| outside(service, &folder)));
        }
        let own = self.services.iter().find(|service| is_here(service) && service.title.is_none());
        let id = own.map_or_else(|| folder.display().to_string(), |service| service.id.clone());
        Ok(id + rest)
    }
}

pub(super) fn is_path(word: &str) -> bool {
    word.contains('/') || [".", ".."].contains(&word)
}

/// The path, and the suffix with variant, protocol and number. An existing folder name has no suffix.
fn split<'w>(word: &'w str, from: &Path) -> (PathBuf, &'w str) {
    let name = word.rfind('/').map_or(0, |slash| slash + 1);
    let end = match from.join(word).exists() {
        true => word.len(),
        false => {
            let end = word[name..].find([':', '@']).map_or(word.len(), |at| name + at);
            protocol::split(&word[..end]).0.len()
        }
    };
    (from.join(&word[..end]), &word[end..])
}

fn outside(service: Service, folder: &Path) -> Service {
    let path = folder.display().to_string();
    let hash = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    let variant = service.id.strip_prefix(&service.name).unwrap_or_default();
    Service { id: format!("{path}{variant}"), name: format!("{}+{}", service.name, &hash[..8]), ..service }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tare_load::Protocol;

    use super::*;
    use crate::catalogue::{RawSocket, select, tests::MANIFEST};

    fn checkout() -> (tempfile::TempDir, Catalogue) {
        let root = tempfile::tempdir().unwrap();
        for folder in ["services/go/mux", "elsewhere/mine", "other/mine"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join("service.toml"), MANIFEST).unwrap();
        }
        let catalogue = Catalogue::load(root.path(), &["hello", "rest"], RawSocket::default()).unwrap();
        (root, catalogue)
    }

    #[test]
    fn a_folder_anywhere_is_a_service_with_records_of_its_own() {
        let (root, mut catalogue) = checkout();
        let at = |path: &str| format!("{}/{path}", root.path().canonicalize().unwrap().display());
        let mut adopt = |word: &str| catalogue.adopt(&at(word), Words::Typed, &["hello", "rest"]).unwrap();
        assert_eq!(adopt("elsewhere/../elsewhere/mine/"), at("elsewhere/mine"));
        assert_eq!(adopt("elsewhere/mine:slow@2"), at("elsewhere/mine") + ":slow@2");
        assert_eq!(adopt("elsewhere/mine+h2"), at("elsewhere/mine") + "+h2");
        assert_eq!(adopt("elsewhere/mine:slow+tls@2"), at("elsewhere/mine") + ":slow+tls@2");
        assert_eq!(adopt("other/mine"), at("other/mine"));
        assert_eq!(adopt("services/go/mux"), "mux", "it has a name already");
        assert_eq!(catalogue.adopt("mux:slow", Words::Typed, &["hello", "rest"]).unwrap(), "mux:slow");

        assert_eq!(catalogue.services.len(), 1 + 3 * 2);
        let id = at("elsewhere/mine") + ":slow";
        let (mine, other) = (catalogue.get(&id).unwrap(), catalogue.get(&at("other/mine")).unwrap());
        assert!(mine.name.starts_with("mux+") && mine.name != other.name);
        assert_eq!(mine.language, "go");
        let rows = select(&catalogue, [format!("{id}@2").as_str()]).unwrap();
        assert_eq!(rows[0].service.id, id);
        let rows = select(&catalogue, [format!("{id}+h2c@2").as_str()]).unwrap();
        assert_eq!((rows[0].service.id.as_str(), rows[0].service.protocol), (id.as_str(), Protocol::H2c));
    }

    #[test]
    fn a_manifest_in_the_root_is_a_service_of_its_own() {
        let (root, mut catalogue) = checkout();
        fs::write(root.path().join("service.toml"), MANIFEST).unwrap();
        let path = root.path().canonicalize().unwrap().display().to_string();
        let id = catalogue.adopt("./", Words::OfFile(root.path()), &["hello", "rest"]).unwrap();
        assert_eq!(id, path);
        assert_eq!(catalogue.get(&id).unwrap().style, Style::Framework);
    }

    #[test]
    fn an_error_in_it_is_reported() {
        let (root, mut catalogue) = checkout();
        let mut error = |path: &Path, contracts: &[&str]| {
            catalogue.adopt(&path.display().to_string(), Words::Typed, contracts).unwrap_err().to_string()
        };
        let missing = error(&root.path().join("nowhere"), &["hello"]);
        assert!(missing.ends_with("nowhere: there is no such folder, and no such program"), "{missing}");
        let bare = error(&root.path().join("elsewhere"), &["hello"]);
        assert!(
            bare.ends_with("elsewhere: has no service.toml, which says how a service is started"),
            "{bare}"
        );
        let wrong = error(&root.path().join("other/mine"), &["rest"]);
        assert!(wrong.contains("service.toml:8: unknown contract \"hello\""), "{wrong}");
    }
}
