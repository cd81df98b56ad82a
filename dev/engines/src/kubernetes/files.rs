//! Files for the programs of a cluster: credentials, and configurations of nodes.

use std::{
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::machine;

/// A path among the files of the control plane.
pub(super) fn hub(folder: &Path, name: &str) -> String {
    folder.join(machine::HUB).join(name).display().to_string()
}

/// A user that has only granted rights.
pub(super) const GUEST: &str = "alice";
/// The same user, with the address of the API within the cluster's network.
pub(super) const INNER_GUEST: &str = "alice-within";

/// The credentials of a user: `admin`, [`GUEST`], [`INNER_GUEST`] or the name of a node.
pub(super) fn kubeconfig(folder: &Path, user: &str) -> PathBuf {
    folder.join(format!("{user}.kubeconfig"))
}

/// Writes a token and a kubeconfig for each user. The port is on this machine, for `admin`.
pub(super) fn write_credentials(folder: &Path, nodes: usize, port: u16) -> Result<()> {
    let authority = hub(folder, "authority.crt");
    let inner = format!("https://{}:6443", machine::HUB_ADDRESS);
    let outer = format!("https://127.0.0.1:{port}");
    // A node may only change its own objects.
    let mut users = vec![
        ("admin".to_owned(), "admin".to_owned(), "system:masters", outer.clone()),
        (GUEST.to_owned(), GUEST.to_owned(), "guests", outer),
        (INNER_GUEST.to_owned(), GUEST.to_owned(), "guests", inner.clone()),
        ("control".to_owned(), "control".to_owned(), "system:masters", inner.clone()),
    ];
    users.extend((1..=nodes).map(|number| {
        let name = machine::node(number);
        (name.clone(), format!("system:node:{name}"), "system:nodes", inner.clone())
    }));
    let mut tokens = String::new();
    for (name, user, group, server) in users {
        let token = token()?;
        tokens += &format!("{token},{user},{user},\"{group}\"\n");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: tare\n\
             clusters:\n- name: tare\n  cluster: {{server: {server:?}, certificate-authority: {authority:?}, \
             tls-server-name: kubernetes}}\n\
             users:\n- name: {name}\n  user: {{token: {token}}}\n\
             contexts:\n- name: tare\n  context: {{cluster: tare, user: {name}, namespace: default}}\n"
        );
        write_secret(&kubeconfig(folder, &name), &text)?;
    }
    write_secret(Path::new(&hub(folder, "tokens.csv")), &tokens)
}

fn token() -> Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn write_secret(path: &Path, text: &str) -> Result<()> {
    fs::write(path, "")?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(fs::write(path, text)?)
}

/// The image of each pod's sandbox.
pub(super) const PAUSE: &str = "localhost/pause:1";

/// Writes the configuration of a node: its container runtime, pod network, and kubelet.
pub(super) fn write_node(folder: &Path, number: usize, cgroup: &str) -> Result<()> {
    let name = machine::node(number);
    let own = folder.join(&name);
    fs::create_dir_all(own.join("cni"))?;
    let own_text = own.display();
    let pods = machine::pods(number);
    let network = format!(
        r#"{{"cniVersion": "0.4.0", "name": "pods", "plugins": [{{
  "type": "bridge", "bridge": "cni0", "isGateway": true, "ipam": {{
    "type": "host-local", "ranges": [[{{"subnet": "{pods}"}}]], "routes": [{{"dst": "0.0.0.0/0"}}]
  }}
}}]}}"#
    );
    fs::write(own.join("cni/10-pods.conflist"), network)?;
    // Other settings keep their defaults, whose folders are private to this machine. A process may not lower
    // its OOM score, and AppArmor profiles are shared by the whole computer: neither is changed.
    let runtime = format!(
        r#"version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd-opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{own_text}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
"#
    );
    fs::write(own.join("containerd.toml"), runtime)?;
    fs::write(own.join("resolv.conf"), "")?;
    // Short times, so that a lost node is noticed within seconds. All CPUs but one may be exclusive to pods.
    let agent = format!(
        "apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /{cgroup}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cpuManagerPolicy: static
reservedSystemCPUs: \"0\"
failSwapOn: false
address: {}
authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
authorization: {{mode: AlwaysAllow}}
nodeStatusUpdateFrequency: 2s
nodeLeaseDurationSeconds: 10
evictionHard: {{memory.available: 100Mi}}
imageGCHighThresholdPercent: 100
serializeImagePulls: false
resolvConf: \"{own_text}/resolv.conf\"
volumePluginDir: /var/lib/kubelet-plugins
",
        machine::address(number)
    );
    Ok(fs::write(own.join("kubelet.yaml"), agent)?)
}
