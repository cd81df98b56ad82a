# frozen_string_literal: true

require 'sinatra/base'

require_relative 'delay'
require_relative 'helpers'
require_relative 'settings'
require_relative 'upload'

# What the service answers.
class App < Sinatra::Base
  set :default_content_type, 'text/plain'
  disable :dump_errors
  helpers Helpers

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

  register Upload

  # What the environment asks for; of the rest not even the files are loaded.
  if Settings::DATABASE_URL
    require_relative 'fortunes'
    require_relative 'items'
    require_relative 'worlds'

    register Worlds, Fortunes, Items
  end
  if Settings::PRODUCTS
    require_relative 'products'

    helpers Products
    get('/json/:count') { totals(params['count']) }
  end
  if Settings::UPSTREAM_URL
    require_relative 'gateway'

    register Gateway
  end

  private

  # What is no integer from 0 to 1000000 is nil.
  def parse_count(text)
    count = Integer(text, 10)
    count if count.between?(0, 1_000_000)
  rescue ArgumentError, TypeError
    nil
  end
end
