//! The Jobs of a load group, as objects of the API. Pure.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{
    api::{
        batch::v1::{Job, JobSpec},
        core::v1::{
            Affinity, Container, PodAffinityTerm, PodAntiAffinity, PodSpec, PodTemplateSpec, Probe,
            TCPSocketAction, WeightedPodAffinityTerm,
        },
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, LabelSelectorRequirement, ObjectMeta},
        util::intstr::IntOrString,
    },
};

use super::{
    super::{
        confinement::{self, Confinement},
        pod::{self, NAME_LABEL},
    },
    GroupPlan,
};
use crate::{engine::EngineError, machines::MachineClass};

/// A label with the name of the group.
pub(super) const LOAD_LABEL: &str = "tare/load";
/// A label for people: `service` or `generator`.
const PART_LABEL: &str = "tare/part";
/// The time to stop the service after SIGTERM. An agent needs half of it.
const GRACE_S: i64 = 15;
/// The time after which an ended Job is removed if its controller could not do it.
const REMOVED_AFTER_S: i32 = 300;
/// The weight of the preference for nodes without pods of the group: the largest that the scheduler allows.
const WEIGHT_MAX: i32 = 100;

/// Pods with the same specification.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) kind: &'static str,
    pub(super) confinement: Confinement,
    pub(super) job: String,
    pub(super) class: &'a MachineClass,
    pub(super) pods: usize,
    pub(super) command: &'a [String],
    pub(super) variables: &'a [(String, String)],
    /// The port that is open once a pod has started.
    pub(super) port: u16,
}

pub(super) fn service(plan: &GroupPlan) -> Option<Part<'_>> {
    plan.service.as_ref().map(|service| Part {
        kind: "service",
        confinement: confinement::SERVICE,
        job: format!("tare-{}-service", plan.name),
        class: &service.class,
        pods: 1,
        command: &service.command,
        variables: &service.variables,
        port: service.port,
    })
}

/// The generators, which all run this command.
pub(super) fn generators<'a>(plan: &'a GroupPlan, command: &'a [String]) -> Vec<Part<'a>> {
    let parts = (1..).zip(&plan.generators);
    let part = |(number, (class, pods)): (usize, &'a (MachineClass, usize))| Part {
        kind: "generator",
        confinement: confinement::GENERATOR,
        job: format!("tare-{}-generators-{number}", plan.name),
        class,
        pods: *pods,
        command,
        variables: &[],
        port: plan.agent_port,
    };
    parts.map(part).collect()
}

pub(super) fn job(plan: &GroupPlan, part: &Part<'_>) -> Result<Job, EngineError> {
    let labels = pod::labels(part.class, &[(LOAD_LABEL, &plan.name), (PART_LABEL, part.kind)]);
    let pods = i32::try_from(part.pods).unwrap_or(i32::MAX);
    let ends_within_s = seconds(plan.ends_within);
    Ok(Job {
        metadata: ObjectMeta {
            name: Some(part.job.clone()),
            namespace: part.class.kubernetes.namespace.clone(),
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(JobSpec {
            completion_mode: Some("Indexed".to_owned()),
            completions: Some(pods),
            parallelism: Some(pods),
            backoff_limit: Some(0),
            // A moved pod would not have sent its part of the load.
            pod_failure_policy: Some(pod::if_lost("FailJob")),
            pod_replacement_policy: Some("Failed".to_owned()),
            // Set for the Job, which the control plane enforces, and for each pod, which its node enforces:
            // each works without the other.
            active_deadline_seconds: Some(ends_within_s),
            ttl_seconds_after_finished: Some(REMOVED_AFTER_S),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    annotations: Some(pod::undisturbed()),
                    ..ObjectMeta::default()
                }),
                spec: Some(part.confinement.of(PodSpec {
                    active_deadline_seconds: Some(ends_within_s),
                    termination_grace_period_seconds: Some(GRACE_S),
                    affinity: Some(apart(&plan.name)),
                    containers: vec![container(plan, part)?],
                    ..pod::on_nodes(part.class)
                })),
            },
            ..JobSpec::default()
        }),
        status: None,
    })
}

fn container(plan: &GroupPlan, part: &Part<'_>) -> Result<Container, EngineError> {
    let own = part.variables.iter().map(|(name, value)| pod::variable(name, value.clone()));
    let variables = std::iter::once(pod::token(plan.token_variable, &plan.secret)).chain(own).collect();
    Ok(Container {
        // The probe stops once the port is open, so nothing else connects during the load.
        startup_probe: Some(Probe {
            tcp_socket: Some(TCPSocketAction { port: IntOrString::Int(part.port.into()), host: None }),
            period_seconds: Some(1),
            failure_threshold: Some(i32::try_from(plan.ready_within.as_secs()).unwrap_or(i32::MAX).max(1)),
            ..Probe::default()
        }),
        ..pod::container(part.class, part.command, variables)?
    })
}

/// Never on a node with other pods of Tare; and each pod on a node of its own, if there are enough.
fn apart(name: &str) -> Affinity {
    let term = |labels: LabelSelector| PodAffinityTerm {
        topology_key: "kubernetes.io/hostname".to_owned(),
        label_selector: Some(labels),
        ..PodAffinityTerm::default()
    };
    let others = LabelSelector {
        match_labels: Some(BTreeMap::from([(NAME_LABEL.0.to_owned(), NAME_LABEL.1.to_owned())])),
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: LOAD_LABEL.to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(vec![name.to_owned()]),
        }]),
    };
    let own = LabelSelector {
        match_labels: Some(BTreeMap::from([(LOAD_LABEL.to_owned(), name.to_owned())])),
        ..LabelSelector::default()
    };
    let apart = PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: Some(vec![term(others)]),
        preferred_during_scheduling_ignored_during_execution: Some(vec![WeightedPodAffinityTerm {
            pod_affinity_term: term(own),
            weight: WEIGHT_MAX,
        }]),
    };
    Affinity { pod_anti_affinity: Some(apart), ..Affinity::default() }
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX).max(1)
}
