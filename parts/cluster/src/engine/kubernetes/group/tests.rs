use std::path::Path;

use serde_json::{Value, json};

use super::{super::tests::server::Server, *};
use crate::machines::Machines;

fn class(name: &str) -> MachineClass {
    let text = "format = \"1.0\"\n[[class]]\nname = \"arm\"\ncpus = 4\n[class.kubernetes]\nnamespace = \"bench\"\n\
        node-labels = { \"kubernetes.io/arch\" = \"arm64\" }\ntolerate = [\"dedicated\"]\nimage = \"registry.example/tare:1\"\n\
        [[class]]\nname = \"x86\"\ncpus = 2\nkubernetes = { image = \"tare:dev\", memory = \"1Gi\" }\n";
    let machines = Machines::parse(Path::new("m.toml"), text).unwrap();
    machines.classes.into_iter().find(|class| class.name == name).unwrap()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn plan() -> GroupPlan {
    GroupPlan {
        name: "load-0a1b2c3d".to_owned(),
        secret: "tare-load".to_owned(),
        token_variable: "TARE_AGENT_TOKEN",
        service: Some(GroupService {
            variables: vec![("SERVE_ON".to_owned(), "0.0.0.0".to_owned())],
            class: class("arm"),
            command: words("tare agent -- ./server $(HOME)"),
            port: 8080,
        }),
        generators: vec![(class("x86"), 2), (class("arm"), 1)],
        agent_port: 7070,
        ready_within: Duration::from_secs(300),
        ends_within: Duration::from_secs(432),
    }
}

fn ready() -> Value {
    json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] })
}

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn remove(group: &LoadGroup, server: &Server) {
    block(async { group.remove_from(&server.cluster()).await }).unwrap();
}

/// The progress messages of a starting group, and the result.
fn start(
    group: &mut LoadGroup,
    server: &Server,
    interrupt: bool,
) -> (Vec<String>, Result<Vec<GroupPod>, GroupError>) {
    let (interrupt, told) = (AtomicBool::new(interrupt), std::cell::RefCell::new(Vec::new()));
    let tell = |line: &str| told.borrow_mut().push(line.to_owned());
    let waits = Waits { interrupt: &interrupt, tell: &tell };
    let plan = group.plan.clone();
    let command = words("tare agent --target 10.0.0.1:8080");
    let done = block(async {
        let cluster = server.cluster();
        let service = manifest::service(&plan).unwrap();
        let mut pods = group.start_on(&cluster, &[service], waits).await?;
        pods.extend(group.start_on(&cluster, &manifest::generators(&plan, &command), waits).await?);
        Ok(pods)
    });
    (told.into_inner(), done)
}

#[test]
fn a_group_is_an_indexed_job_of_each_class_and_a_job_of_the_service() {
    let text = LoadGroup::new(plan()).preview(&words("tare agent --target service:8080")).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn what_was_created_is_found_by_its_address_and_removed() {
    let server = Server::default();
    server.give_pods(ready());
    let mut group = LoadGroup::new(plan());
    let (told, pods) = start(&mut group, &server, false);
    assert_eq!(told, Vec::<String>::new());
    let pods: Vec<String> =
        pods.unwrap().iter().map(|pod| format!("{} {} {}", pod.name, pod.node, pod.address)).collect();
    insta::assert_snapshot!(pods.join("\n"), @r"
    tare-load-0a1b2c3d-service-0-abcde n1 10.0.0.1
    tare-load-0a1b2c3d-generators-1-0-abcde n2 10.0.0.2
    tare-load-0a1b2c3d-generators-1-1-abcde n3 10.0.0.3
    tare-load-0a1b2c3d-generators-2-0-abcde n4 10.0.0.4
    ");
    remove(&group, &server);
    assert_eq!(server.jobs(), 0);
    insta::assert_snapshot!(server.log(), @r#"
    POST /apis/batch/v1/namespaces/bench/jobs? tare-load-0a1b2c3d-service
    GET /api/v1/namespaces/bench/pods?&labelSelector=tare%2Fload%3Dload-0a1b2c3d&limit=250
    POST /apis/batch/v1/namespaces/default/jobs? tare-load-0a1b2c3d-generators-1
    POST /apis/batch/v1/namespaces/bench/jobs? tare-load-0a1b2c3d-generators-2
    GET /api/v1/namespaces/default/pods?&labelSelector=tare%2Fload%3Dload-0a1b2c3d&limit=250
    GET /api/v1/namespaces/bench/pods?&labelSelector=tare%2Fload%3Dload-0a1b2c3d&limit=250
    DELETE /apis/batch/v1/namespaces/bench/jobs/tare-load-0a1b2c3d-service? "Background"
    DELETE /apis/batch/v1/namespaces/default/jobs/tare-load-0a1b2c3d-generators-1? "Background"
    DELETE /apis/batch/v1/namespaces/bench/jobs/tare-load-0a1b2c3d-generators-2? "Background"
    "#);
    // Removing a missing Job is no error.
    remove(&group, &server);
}

#[test]
fn a_group_that_does_not_start_says_why_and_can_be_removed() {
    let waiting = json!({ "phase": "Pending", "containerStatuses": [{ "name": "tare", "image": "", "imageID": "", "ready": false,
        "restartCount": 0, "state": { "waiting": { "reason": "CreateContainerConfigError", "message": "secret \"tare-load\" not found" } } }] });
    let server = Server::default();
    server.give_pods(waiting);
    let mut group = LoadGroup::new(GroupPlan { ready_within: Duration::ZERO, ..plan() });
    let (told, late) = start(&mut group, &server, false);
    insta::assert_snapshot!(told.join("\n"), @r#"waits for the service: tare-load-0a1b2c3d-service-0-abcde: CreateContainerConfigError: secret "tare-load" not found on n1"#);
    insta::assert_snapshot!(late.unwrap_err(), @r#"the service is not ready after 0ns: tare-load-0a1b2c3d-service-0-abcde: CreateContainerConfigError: secret "tare-load" not found on n1; `kubectl describe jobs,pods --selector tare/load=load-0a1b2c3d` says more"#);
    remove(&group, &server);
    assert_eq!(server.jobs(), 0);

    let server = Server::default();
    let failed = json!({ "phase": "Failed", "containerStatuses": [{ "name": "tare", "image": "", "imageID": "", "ready": false,
        "restartCount": 0, "state": { "terminated": { "exitCode": 2, "message": "a line\nthe service ended by itself: exit status 1\n" } } }] });
    server.give_pods(failed);
    let mut group = LoadGroup::new(plan());
    let (_, ended) = start(&mut group, &server, false);
    insta::assert_snapshot!(ended.unwrap_err(), @"the pod tare-load-0a1b2c3d-service-0-abcde ended before the load: it failed with status 2: the service ended by itself: exit status 1");

    let server = Server::default();
    let mut group = LoadGroup::new(plan());
    let (told, interrupted) = start(&mut group, &server, true);
    assert!(matches!(interrupted, Err(GroupError::Interrupted)), "{interrupted:?}");
    insta::assert_snapshot!(told.join("\n"), @"waits for the service: it has no pod yet");
    remove(&group, &server);
    assert_eq!(server.jobs(), 0);
}

#[test]
fn an_api_that_is_away_for_a_moment_ends_no_group_and_a_lost_answer_makes_no_second_one() {
    let server = Server::default();
    server.give_pods(ready());
    let away = || (503, json!({ "kind": "Status", "status": "Failure", "code": 503, "message": "away" }));
    server.answer_next(away());
    let mut group = LoadGroup::new(plan());
    let (_, pods) = start(&mut group, &server, false);
    assert_eq!(pods.unwrap().len(), 4);
    server.answer_next(away());
    remove(&group, &server);
    assert_eq!(server.jobs(), 0);
    // It was created, but the answer was lost.
    let server = Server::default();
    server.put(&manifest::job(&plan(), &manifest::service(&plan()).unwrap()).unwrap());
    let mut group = LoadGroup::new(GroupPlan { ready_within: Duration::ZERO, ..plan() });
    let (_, late) = start(&mut group, &server, false);
    assert!(matches!(late, Err(GroupError::Late { .. })) && server.jobs() == 1, "{late:?}");
}

#[test]
fn a_pod_that_was_lost_is_named_with_its_node() {
    let server = Server::default();
    server.give_pods(ready());
    let mut group = LoadGroup::new(plan());
    let pods = start(&mut group, &server, false).1.unwrap();
    let killed = json!({ "phase": "Failed", "containerStatuses": [{ "name": "tare", "image": "", "imageID": "", "ready": false,
        "restartCount": 0, "state": { "terminated": { "exitCode": 137, "reason": "Error" } } }] });
    server.set_pod_status("tare-load-0a1b2c3d-generators-1-1", &killed);
    let end = |pod| block(async { group.end_of_pod(&server.cluster(), pod).await }).unwrap();
    assert_eq!(end(&pods[1]), None);
    insta::assert_snapshot!(end(&pods[2]).unwrap(), @"pod tare-load-0a1b2c3d-generators-1-1-abcde on n3: it was killed");
}
