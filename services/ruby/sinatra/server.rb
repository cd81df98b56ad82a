# frozen_string_literal: true

# The command `puma`, with a word instead of a backtrace where the port is taken, and with the version of Sinatra.

if ARGV == ['--version']
  require 'sinatra/version'
  puts Sinatra::VERSION
  exit
end

require 'puma/cli'

begin
  Puma::CLI.new(['--config', 'puma.rb']).run
rescue Errno::EADDRINUSE, Errno::EADDRNOTAVAIL, Errno::EACCES => e
  abort e.message
end
