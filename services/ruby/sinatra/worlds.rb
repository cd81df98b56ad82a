# frozen_string_literal: true

require_relative 'database'

# Rows of the table world are read, and written.
module Worlds
  IDS = (1..10_000).freeze

  def self.registered(app)
    app.helpers self

    app.get('/db') { with_database { |database| read_world(database, rand(IDS)) } }

    app.get '/queries' do
      with_database { |database| Array.new(query_count) { read_world(database, rand(IDS)) } }
    end

    app.get('/updates') { with_database { |database| update_worlds(database, query_count) } }
  end

  def with_database(&block)
    json Database::POOL.with(&block)
  end

  def read_world(database, id)
    row = database.run('read_world', [id]).first
    { 'id' => row['id'], 'randomNumber' => row['randomnumber'] }
  end

  def update_worlds(database, count)
    # In ascending order: two requests that write the same rows cannot deadlock.
    ids = IDS.to_a.sample(count).sort
    worlds = ids.map { |id| read_world(database, id).merge('randomNumber' => rand(IDS)) }
    database.transaction do
      worlds.each { |world| database.run('write_world', world.values_at('id', 'randomNumber')) }
    end
    worlds
  end

  def query_count
    Integer(params.fetch('queries', '1'), 10).clamp(1, 500)
  rescue ArgumentError, TypeError
    1
  end
end
