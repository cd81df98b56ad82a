//! The Kubernetes settings of a class in `machines.toml`. Values that the API would reject are rejected here,
//! with the line of the class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The longest name of a claim.
const SUBDOMAIN_BYTES_MAX: usize = 253;
/// The longest name of a namespace, value of a label, and name in a label's key.
const LABEL_BYTES_MAX: usize = 63;
/// The longest reference to an image.
const IMAGE_BYTES_MAX: usize = 500;

/// How Kubernetes runs jobs of a class: the nodes, the image, and the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KubernetesNodes {
    /// The namespace. Default: that of the context in the kubeconfig.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Labels that a node must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_labels: BTreeMap<String, String>,
    /// Keys of taints that jobs of this class tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerate: Vec<String>,
    /// The image, which has the command `tare`, the repository, and the build tools of services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The PersistentVolumeClaim that is the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The folder of the nodes that is the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_path: Option<String>,
    /// The memory of a job, in the notation of Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The number of jobs that run at the same time. Default: as many as fit on the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<usize>,
}

impl KubernetesNodes {
    pub(super) fn is_default(&self) -> bool {
        *self == KubernetesNodes::default()
    }

    /// The error in its values, if there is one.
    pub(super) fn mistake(&self) -> Option<String> {
        let names = [
            ("namespace", &self.namespace, LABEL_BYTES_MAX, is_dns_label as fn(&str) -> bool),
            ("claim", &self.claim, SUBDOMAIN_BYTES_MAX, is_subdomain),
        ];
        for (key, value, bytes_max, is_right) in names {
            if let Some(value) = value.as_ref().filter(|value| value.len() > bytes_max || !is_right(value)) {
                return Some(format!(
                    "\"{key}\" is {value:?}: use at most {bytes_max} lowercase letters, digits and hyphens"
                ));
            }
        }
        let pairs = self.node_labels.iter().map(|(key, value)| (key, Some(value)));
        let taints = self.tolerate.iter().map(|key| (key, None));
        for (key, value) in pairs.chain(taints) {
            if !is_label_key(key) || value.is_some_and(|value| !is_label_value(value)) {
                let text = value.map_or_else(|| key.clone(), |value| format!("{key}={value}"));
                return Some(format!("{text:?} is no label or taint of a node"));
            }
        }
        let is_word = |text: &&String| text.chars().all(|c| c.is_ascii_graphic()) && !text.is_empty();
        if let Some(image) =
            self.image.as_ref().filter(|image| image.len() > IMAGE_BYTES_MAX || !is_word(image))
        {
            return Some(format!(
                "\"image\" is {image:?}: use a reference such as \"registry.example/tare:1\""
            ));
        }
        if let Some(path) = self.host_path.as_ref().filter(|path| !is_plain_path(path)) {
            return Some(format!("\"host-path\" is {path:?}: use an absolute path without \"..\""));
        }
        if self.claim.is_some() && self.host_path.is_some() {
            return Some("\"claim\" and \"host-path\" are both given: the store is one of them".to_owned());
        }
        if let Some(memory) = self.memory.as_ref().filter(|memory| !is_quantity(memory)) {
            return Some(format!(
                "\"memory\" is {memory:?}: use a whole number with a unit, such as \"4Gi\""
            ));
        }
        self.parallel.filter(|jobs| *jobs == 0).map(|_| "\"parallel\" is 0; it must be at least 1".to_owned())
    }
}

/// Whether the text begins and ends with a letter or digit, and has only allowed bytes between.
fn is_name(text: &str, is_inner: impl Fn(u8) -> bool) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || is_inner(*byte))
}

fn is_dns_label(text: &str) -> bool {
    is_name(text, |byte| byte == b'-') && !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

/// Whether the text is a valid label value of Kubernetes: empty, or a name.
pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || text.len() <= LABEL_BYTES_MAX && is_name(text, |byte| b"-_.".contains(&byte))
}

fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    let is_prefix = |prefix: &str| prefix.len() <= SUBDOMAIN_BYTES_MAX && is_subdomain(prefix);
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_prefix)
}

fn is_plain_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.contains(|c: char| c.is_control() || c == ':')
        && text.split('/').all(|part| part != "..")
}

fn is_quantity(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - unit.len()];
    (1..=15).contains(&digits.len())
        && !digits.starts_with('0')
        && ["", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"].contains(&unit)
}
