//! The common properties of all pods of Tare: labels, the image, exclusive CPUs, and allowed nodes. Pure.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        batch::v1::{PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule},
        core::v1::{
            Container, EnvVar, EnvVarSource, ObjectFieldSelector, PodSpec, ResourceRequirements,
            SecretKeySelector, Toleration,
        },
    },
    apimachinery::pkg::api::resource::Quantity,
};

use crate::{
    engine::{EngineError, EngineName},
    machines::MachineClass,
};

/// The default memory of a pod.
const MEMORY: &str = "2Gi";
const SECRET_KEY: &str = "token";
/// A label of every object of Tare.
pub(super) const NAME_LABEL: (&str, &str) = ("app.kubernetes.io/name", "tare");
/// A label for people.
const CLASS_LABEL: &str = "tare/class";

pub(super) fn refusal(reason: String) -> EngineError {
    EngineError::Batch { engine: EngineName::Kubernetes, reason }
}

/// The labels of every object, and these.
pub(super) fn labels(class: &MachineClass, own: &[(&str, &str)]) -> BTreeMap<String, String> {
    let all = [NAME_LABEL, (CLASS_LABEL, class.name.trim_end_matches('-'))];
    let all = all.iter().chain(own);
    all.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Annotations that tell autoscalers not to move these pods: a moved run starts anew.
pub(super) fn undisturbed() -> BTreeMap<String, String> {
    let asked = [
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
        ("karpenter.sh/do-not-disrupt", "true"),
    ];
    asked.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

/// The rule for a pod that the cluster evicts, or whose node is lost: an action, as Kubernetes names it.
pub(super) fn if_lost(action: &str) -> PodFailurePolicy {
    let is_disrupted = PodFailurePolicyOnPodConditionsPattern {
        type_: "DisruptionTarget".to_owned(),
        status: Some("True".to_owned()),
    };
    let rule = PodFailurePolicyRule {
        action: action.to_owned(),
        on_pod_conditions: Some(vec![is_disrupted]),
        on_exit_codes: None,
    };
    PodFailurePolicy { rules: vec![rule] }
}

/// A pod on the nodes of a class, without access to the API and without a container yet.
pub(super) fn on_nodes(class: &MachineClass) -> PodSpec {
    let nodes = &class.kubernetes;
    let tolerate = |key: &String| Toleration {
        key: Some(key.clone()),
        operator: Some("Exists".to_owned()),
        ..Toleration::default()
    };
    let some = |tolerations: Vec<Toleration>| (!tolerations.is_empty()).then_some(tolerations);
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        // Processes left by services are reaped, as by the init process of a machine.
        share_process_namespace: Some(true),
        node_selector: (!nodes.node_labels.is_empty()).then(|| nodes.node_labels.clone()),
        tolerations: some(nodes.tolerate.iter().map(tolerate).collect()),
        ..PodSpec::default()
    }
}

/// A container of the image of a class, with CPUs of its own.
pub(super) fn container(
    class: &MachineClass,
    command: &[String],
    variables: Vec<EnvVar>,
) -> Result<Container, EngineError> {
    let image = class.kubernetes.image.clone();
    let image = image
        .ok_or_else(|| refusal(format!("class \"{}\": \"kubernetes\" needs an \"image\"", class.name)))?;
    if let Some(word) = command.iter().find(|word| word.contains('\0')) {
        return Err(refusal(format!("the word {word:?} of the command has a NUL byte")));
    }
    let memory = class.kubernetes.memory.clone().unwrap_or_else(|| MEMORY.to_owned());
    // Limits equal to requests in whole CPUs: the static CPU manager gives such a container CPUs of its own.
    let amounts = BTreeMap::from([
        ("cpu".to_owned(), Quantity(class.cpus.to_string())),
        ("memory".to_owned(), Quantity(memory)),
    ]);
    Ok(Container {
        name: "tare".to_owned(),
        image: Some(image),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        command: Some(command.iter().map(|word| verbatim(word)).collect()),
        env: Some(variables),
        resources: Some(ResourceRequirements {
            requests: Some(amounts.clone()),
            limits: Some(amounts),
            claims: None,
        }),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        ..Container::default()
    })
}

/// Escapes `$(NAME)`, which Kubernetes would expand in a command, by doubling the dollar sign.
pub(super) fn verbatim(word: &str) -> String {
    word.replace('$', "$$")
}

pub(super) fn variable(name: &str, value: String) -> EnvVar {
    EnvVar { name: name.to_owned(), value: Some(value), value_from: None }
}

/// A variable with the value of a field of the pod.
pub(super) fn field(name: &str, path: &str) -> EnvVar {
    let field = ObjectFieldSelector { field_path: path.to_owned(), api_version: None };
    from(name, EnvVarSource { field_ref: Some(field), ..EnvVarSource::default() })
}

/// A variable with the token in a Secret. The user makes the Secret, so that Tare needs no permission for it.
pub(super) fn token(name: &str, secret: &str) -> EnvVar {
    let key = SecretKeySelector { name: secret.to_owned(), key: SECRET_KEY.to_owned(), optional: None };
    from(name, EnvVarSource { secret_key_ref: Some(key), ..EnvVarSource::default() })
}

fn from(name: &str, source: EnvVarSource) -> EnvVar {
    EnvVar { name: name.to_owned(), value: None, value_from: Some(source) }
}
