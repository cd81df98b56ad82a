# frozen_string_literal: true

# Why each of these differs from Puma's default: see [[setting]] in service.toml.

require_relative 'settings'

bind "tcp://#{Settings::SERVE_ON}:#{Settings::PORT}"
if ENV['PUMA'] == 'threads'
  threads Settings::THREADS, 1024
else
  threads Settings::THREADS, Settings::THREADS
  max_fast_inline 0
end
persistent_timeout 120
raise_exception_on_sigterm false
force_shutdown_after 0.25
