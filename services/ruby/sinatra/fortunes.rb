# frozen_string_literal: true

require_relative 'database'

# A page of all fortunes.
module Fortunes
  ADDED = { 'id' => 0, 'message' => 'Additional fortune added at request time.' }.freeze

  def self.registered(app)
    app.helpers self

    app.get '/fortunes' do
      rows = Database::POOL.with { |database| database.run('fortunes').to_a }
      content_type :html
      erb :fortunes, locals: { fortunes: [*rows, ADDED].sort_by { |fortune| fortune['message'] } }
    end
  end

  def h(text)
    Rack::Utils.escape_html(text)
  end
end
