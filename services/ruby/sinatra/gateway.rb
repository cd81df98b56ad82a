# frozen_string_literal: true

require 'net/http'

require_relative 'settings'

# Another HTTP server is asked; each thread keeps a connection of its own.
module Gateway
  UPSTREAM = URI(Settings::UPSTREAM_URL)

  def self.registered(app)
    app.helpers self

    app.get(%r{/gateway/(\d+)}) do |id|
      answer = upstream.get("/items/#{id}")
      halt 404 if answer.is_a?(Net::HTTPNotFound)
      answer.value # raises unless it is 2xx
      json JSON.parse(answer.body).merge('via' => 'gateway')
    end
  end

  def upstream
    Thread.current[:upstream] ||= Net::HTTP.start(UPSTREAM.host, UPSTREAM.port)
  end
end
