import signal

from settings import read_settings, refuse_busy_port

settings = read_settings()

bind = f"{settings.serve_on}:{settings.port}"
workers = 1
worker_class = "gthread"
threads = settings.threads
certfile = settings.tls_cert
keyfile = settings.tls_key

# Why each of these differs from gunicorn's default: see [[setting]] in service.toml.
keepalive = 120
worker_connections = 1000 + threads
timeout = 0
control_socket_disable = True
loglevel = "warning"


def on_starting(server):
    refuse_busy_port(settings.serve_on, settings.port)


def post_worker_init(worker):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
