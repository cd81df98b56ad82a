//! Certificates of machines, for all batches of a store: a recently tested machine is not tested again.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tare_base::whole;
use tare_host::{environment::Environment, foreign};

use crate::{batch::Batch, job::short_hash};

/// The size limit of a certificate, which has some kilobytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The identity of a machine. A certificate for another kernel or another Tare is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineIdentity {
    pub node: String,
    pub kernel: String,
    pub cpu: String,
    pub cpus: usize,
    pub tare: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredCertificate {
    pub machine: MachineIdentity,
    pub certificate: Value,
}

impl StoredCertificate {
    /// Parses a stored certificate.
    ///
    /// # Errors
    /// The bytes are no certificate.
    pub fn parse(bytes: &[u8]) -> Result<StoredCertificate, String> {
        foreign::json(bytes).map_err(|error| error.to_string())
    }
}

impl MachineIdentity {
    pub fn new(node: &str, environment: &Environment, tare: &str) -> MachineIdentity {
        let Environment { kernel, cpu, cpus, .. } = environment;
        MachineIdentity {
            node: node.to_owned(),
            kernel: kernel.clone(),
            cpu: cpu.clone(),
            cpus: *cpus,
            tare: tare.to_owned(),
        }
    }

    /// The key under which its certificate is stored.
    pub(crate) fn hash(&self) -> String {
        let MachineIdentity { node, kernel, cpu, cpus, tare } = self;
        short_hash(&[node, kernel, cpu, &cpus.to_string(), tare])
    }
}

/// The folder of certificates in a store.
#[derive(Debug, Clone)]
pub struct CertificateFolder {
    folder: PathBuf,
}

impl CertificateFolder {
    pub fn of(batch: &Batch) -> CertificateFolder {
        let store = batch.folder.parent().unwrap_or_else(|| Path::new("/"));
        CertificateFolder { folder: store.join("certificates") }
    }

    /// The newest certificate of this machine, if there is one.
    pub fn get(&self, machine: &MachineIdentity) -> Option<Value> {
        let stored = self.get_stored(&machine.hash())?;
        (stored.machine == *machine).then_some(stored.certificate)
    }

    /// The certificate of the machine with this hash.
    pub(crate) fn get_stored(&self, hash: &str) -> Option<StoredCertificate> {
        StoredCertificate::parse(&foreign::read(&self.path(hash), FILE_BYTES_MAX).ok()?).ok()
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.json"))
    }

    /// # Errors
    /// The file system refuses.
    pub fn put(&self, machine: &MachineIdentity, certificate: Value) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let stored = StoredCertificate { machine: machine.clone(), certificate };
        whole::write(&self.path(&machine.hash()), serde_json::to_string_pretty(&stored)? + "\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_certificate_is_of_one_machine_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let certificates = CertificateFolder { folder: folder.path().join("certificates") };
        let machine = MachineIdentity::new("n1", &Environment { cpus: 2, ..Environment::default() }, "0.1.0");
        assert_eq!(certificates.get(&machine), None);
        certificates.put(&machine, json!({ "quick": true })).unwrap();
        assert_eq!(certificates.get(&machine), Some(json!({ "quick": true })));
        for other in [
            MachineIdentity { node: "n2".to_owned(), ..machine.clone() },
            MachineIdentity { kernel: "Linux 7".to_owned(), ..machine.clone() },
            MachineIdentity { cpus: 4, ..machine.clone() },
            MachineIdentity { tare: "0.2.0".to_owned(), ..machine.clone() },
        ] {
            assert_eq!(certificates.get(&other), None, "{other:?}");
        }
    }
}
