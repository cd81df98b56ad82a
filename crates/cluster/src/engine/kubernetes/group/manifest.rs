//! The Jobs of a load group, as the API takes them. Pure.

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

/// Its value is the name of the group.
pub(super) const LOAD_LABEL: &str = "tare/load";
/// For people: `service` or `generator`.
const PART_LABEL: &str = "tare/part";
/// Time to stop the service after SIGTERM. An agent needs half of it.
const GRACE_S: i64 = 15;
/// What has ended is removed after that time, if its controller could not.
const REMOVED_AFTER_S: i32 = 300;
/// How much better a node is on which there is nothing of the group, for the scheduler: as much as can be said.
const WEIGHT_MAX: i32 = 100;

/// Pods that are alike.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) kind: &'static str,
    pub(super) confinement: Confinement,
    pub(super) job: String,
    pub(super) class: &'a MachineClass,
    pub(super) pods: usize,
    pub(super) command: &'a [String],
    pub(super) variables: &'a [(String, String)],
    /// It is open once a pod has started.
    pub(super) port: u16,
}

/// The service, if the group has one.
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
            // A pod that is moved has not sent its part of the load.
            pod_failure_policy: Some(pod::if_lost("FailJob")),
            pod_replacement_policy: Some("Failed".to_owned()),
            // Of the Job, for the control plane, and of each pod, for its node: each ends without the other.
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
        // It asks until the port is open, and never again: nothing else connects during the load.
        startup_probe: Some(Probe {
            tcp_socket: Some(TCPSocketAction { port: IntOrString::Int(part.port.into()), host: None }),
            period_seconds: Some(1),
            failure_threshold: Some(i32::try_from(plan.ready_within.as_secs()).unwrap_or(i32::MAX).max(1)),
            ..Probe::default()
        }),
        ..pod::container(part.class, part.command, variables)?
    })
}

/// Never beside what else of Tare measures; and each pod on a node of its own, where there are enough.
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
