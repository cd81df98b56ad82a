//! The restrictions of pods. No pod of Tare gains privileges after its start. The other rules of Kubernetes'
//! *restricted* profile apply to every pod that can work under them; the exceptions of each kind of pod are a
//! value. Pure.

use k8s_openapi::api::core::v1::{
    Capabilities, EmptyDirVolumeSource, PodSpec, SeccompProfile, SecurityContext, Volume, VolumeMount,
};

use super::pod;

/// An unprivileged user, by the number that distroless images commonly use.
const NO_OWNER: i64 = 65_532;
/// The only writable folder of a read-only container.
const SCRATCH: &str = "/tmp";

#[derive(Debug, Clone, Copy)]
pub(super) struct Confinement {
    /// Whether it runs as [`NO_OWNER`] instead of the user of its image.
    owns_nothing: bool,
    /// Whether it can write only to an empty folder at [`SCRATCH`], instead of its whole file system.
    is_read_only: bool,
    /// Whether it has no capabilities, instead of those that the runtime gives to its user.
    is_powerless: bool,
    /// Whether the runtime's filter of system calls applies, instead of that of the cluster, if there is one.
    is_filtered: bool,
}

/// A generator only connects and sends.
pub(super) const GENERATOR: Confinement =
    Confinement { owns_nothing: true, is_read_only: true, is_powerless: true, is_filtered: true };

/// The command and the image of the service are the user's. The service may store data beside its program,
/// belong to a user of the image, and begin as root to give that up (`nginx` and `postgres` do).
pub(super) const SERVICE: Confinement =
    Confinement { owns_nothing: false, is_read_only: false, is_powerless: false, is_filtered: true };

/// A job builds services in the repository of its image, and writes to a store of an unknown user. It hides
/// folders from services in namespaces of their own, and makes control groups if it may. The runtime's filter
/// would refuse `unshare`.
pub(super) const JOB: Confinement = Confinement { is_filtered: false, ..SERVICE };

impl Confinement {
    /// The pod with all of its containers confined.
    pub(super) fn of(self, mut pod: PodSpec) -> PodSpec {
        for container in &mut pod.containers {
            container.security_context = Some(self.context());
            if self.is_read_only {
                let mount = VolumeMount {
                    name: "scratch".to_owned(),
                    mount_path: SCRATCH.to_owned(),
                    ..VolumeMount::default()
                };
                container.volume_mounts.get_or_insert_default().push(mount);
                container.env.get_or_insert_default().push(pod::variable("HOME", SCRATCH.to_owned()));
            }
        }
        if self.is_read_only {
            let empty_dir = Some(EmptyDirVolumeSource::default());
            let scratch = Volume { name: "scratch".to_owned(), empty_dir, ..Volume::default() };
            pod.volumes.get_or_insert_default().push(scratch);
        }
        pod
    }

    fn context(self) -> SecurityContext {
        let none = || Capabilities { drop: Some(vec!["ALL".to_owned()]), ..Capabilities::default() };
        let of_runtime =
            || SeccompProfile { type_: "RuntimeDefault".to_owned(), ..SeccompProfile::default() };
        SecurityContext {
            allow_privilege_escalation: Some(false),
            run_as_non_root: self.owns_nothing.then_some(true),
            run_as_user: self.owns_nothing.then_some(NO_OWNER),
            run_as_group: self.owns_nothing.then_some(NO_OWNER),
            read_only_root_filesystem: self.is_read_only.then_some(true),
            capabilities: self.is_powerless.then(none),
            seccomp_profile: self.is_filtered.then(of_runtime),
            ..SecurityContext::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Container;
    use serde_json::{Value, json};

    use super::*;

    fn confined(confinement: Confinement) -> Value {
        let pod = PodSpec { containers: vec![Container::default()], ..PodSpec::default() };
        serde_json::to_value(confinement.of(pod)).unwrap()
    }

    #[test]
    fn a_pod_has_all_restrictions_but_those_that_its_kind_cannot_have() {
        let generator = confined(GENERATOR);
        assert_eq!(
            generator["containers"][0]["securityContext"],
            json!({
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
                "readOnlyRootFilesystem": true,
                "runAsGroup": 65_532,
                "runAsNonRoot": true,
                "runAsUser": 65_532,
                "seccompProfile": { "type": "RuntimeDefault" },
            })
        );
        assert_eq!(generator["volumes"], json!([{ "name": "scratch", "emptyDir": {} }]));
        assert_eq!(
            generator["containers"][0]["volumeMounts"],
            json!([{ "name": "scratch", "mountPath": "/tmp" }])
        );
        let service = confined(SERVICE);
        assert_eq!(
            service["containers"][0]["securityContext"],
            json!({ "allowPrivilegeEscalation": false, "seccompProfile": { "type": "RuntimeDefault" } })
        );
        assert_eq!(service["volumes"], Value::Null);
        let job = confined(JOB);
        assert_eq!(job["containers"][0]["securityContext"], json!({ "allowPrivilegeEscalation": false }));
    }
}
