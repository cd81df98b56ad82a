package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// answerWithin bounds each call of the API.
const answerWithin = 5 * time.Second

// run runs what is no program of Kubernetes.
func run(name string, words []string) error {
	switch {
	case name == "make-keys" && len(words) == 2:
		return makeKeys(words[0], net.ParseIP(words[1]))
	case name == "forward" && len(words) == 1:
		return forward(words[0])
	case name == "wait" && len(words) == 3:
		return wait(words[0], words[1], words[2])
	case name == "list" && len(words) == 1:
		return list(words[0])
	case name == "grant" && len(words) == 2:
		return grant(words[0], words[1])
	case name == "secret" && len(words) == 4:
		return secret(words[0], words[1], words[2], words[3])
	}
	return fmt.Errorf("unknown program %q, or a wrong number of words", name)
}

// makeKeys writes the certificate of an API server, its authority, its key, and the key of service accounts.
func makeKeys(folder string, address net.IP) error {
	chain, key, err := cert.GenerateSelfSignedCertKey(address.String(), []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"kubernetes"})
	if err != nil {
		return err
	}
	accounts, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	authority := chain[bytes.LastIndex(chain, []byte("-----BEGIN CERTIFICATE-----")):]
	files := map[string][]byte{"server.crt": chain, "authority.crt": authority, "server.key": key, "accounts.key": accounts}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// forward accepts connections at the listener that is its standard input, which may belong to another network namespace, and connects
// each to an address of its own.
func forward(target string) error {
	listener, err := net.FileListener(os.Stdin)
	if err != nil {
		return err
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer client.Close()
			server, err := net.DialTimeout("tcp", target, answerWithin)
			if err != nil {
				return
			}
			defer server.Close()
			ended := make(chan struct{}, 2)
			relay := func(to, from net.Conn) {
				io.Copy(to, from)
				ended <- struct{}{}
			}
			go relay(client, server)
			go relay(server, client)
			<-ended
		}()
	}
}

func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.Timeout = answerWithin
	return kubernetes.NewForConfig(config)
}

// wait waits until the API answers and this number of nodes takes pods.
func wait(kubeconfig, nodes, seconds string) error {
	wanted, err := strconv.Atoi(nodes)
	if err != nil {
		return err
	}
	patience, err := strconv.Atoi(seconds)
	if err != nil {
		return err
	}
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(time.Duration(patience) * time.Second)
	for {
		err := isReady(client, wanted)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func isReady(client *kubernetes.Clientset, wanted int) error {
	ctx := context.Background()
	if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		return err
	}
	if wanted == 0 {
		return nil
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	ready := 0
	for _, node := range nodes.Items {
		// Those that are new have a taint for a moment.
		if readiness(&node) == "ready" && len(node.Spec.Taints) == 0 {
			ready++
		}
	}
	if ready < wanted {
		return fmt.Errorf("%d of %d nodes are ready", ready, wanted)
	}
	// Without it no pod is admitted.
	_, err = client.CoreV1().ServiceAccounts("default").Get(ctx, "default", meta.GetOptions{})
	return err
}

func readiness(node *core.Node) string {
	for _, condition := range node.Status.Conditions {
		if condition.Type == core.NodeReady && condition.Status == core.ConditionTrue {
			return "ready"
		}
	}
	return "not ready"
}

// list prints a line for each node, each Job and each pod.
func list(kubeconfig string) error {
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	ctx := context.Background()
	nodes, err := client.CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		fmt.Printf("node %s is %s\n", node.Name, readiness(&node))
	}
	jobs, err := client.BatchV1().Jobs("").List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	for _, job := range jobs.Items {
		fmt.Printf("job %s/%s\n", job.Namespace, job.Name)
	}
	pods, err := client.CoreV1().Pods("").List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		fmt.Printf("pod %s/%s on %q: %s %s\n", pod.Namespace, pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.Status.Reason)
	}
	return nil
}

// grant creates the Roles of a file and their bindings, as `kubectl apply` would.
func grant(kubeconfig, file string) error {
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		if err != nil {
			return err
		}
		ctx, api := context.Background(), client.RbacV1()
		switch object := object.(type) {
		case *rbac.Role:
			_, err = api.Roles("default").Create(ctx, object, meta.CreateOptions{})
		case *rbac.RoleBinding:
			_, err = api.RoleBindings("default").Create(ctx, object, meta.CreateOptions{})
		default:
			err = fmt.Errorf("%s: only roles and their bindings can be granted", file)
		}
		if err != nil {
			return err
		}
	}
}

// secret creates a Secret with the content of a file under a key, as `kubectl create secret generic` would.
func secret(kubeconfig, name, key, file string) error {
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	object := &core.Secret{ObjectMeta: meta.ObjectMeta{Name: name}, Data: map[string][]byte{key: content}}
	_, err = client.CoreV1().Secrets("default").Create(context.Background(), object, meta.CreateOptions{})
	return err
}
