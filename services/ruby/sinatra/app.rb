# frozen_string_literal: true

require 'json'
require 'sinatra/base'

require_relative 'delay'
require_relative 'settings'

# What the service answers.
class App < Sinatra::Base
  set :default_content_type, 'text/plain'
  disable :dump_errors

  set :delay, nil
  set :delay, Delay.new(Settings::THREADS, Settings::DELAY_MS / 1000.0) if Settings::DELAY_MS.positive?

  get('/') { 'Hello world!' }
  get('/api/test') { 'Hello, World!' }

  post '/test' do
    message = parse_object(request.body.read)
    halt 400 unless message
    settings.delay&.pass
    json message.merge('text' => 'received')
  end

  get('/test/status') { 'OK' }
  get('/test/labels/:label') { params['label'] }

  get('/framework') { json('Hello' => 'world') }

  get '/benchmark' do
    count = parse_count(params.fetch('count', '10000'))
    halt 400 unless count
    strings = Array.new(count) { |i| "Index #{i}" }
    json strings.first(10)
  end

  private

  def json(value)
    content_type :json
    JSON.generate(value)
  end

  # What is no JSON object is nil.
  def parse_object(text)
    utf8 = String.new(text, encoding: Encoding::UTF_8)
    return unless utf8.valid_encoding?

    value = JSON.parse(utf8)
    value if value.is_a?(Hash)
  rescue JSON::ParserError
    nil
  end

  # What is no integer from 0 to 1000000 is nil.
  def parse_count(text)
    count = Integer(text, 10)
    count if count.between?(0, 1_000_000)
  rescue ArgumentError, TypeError
    nil
  end
end
