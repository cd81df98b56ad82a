# frozen_string_literal: true

require 'connection_pool'
require 'pg'

require_relative 'settings'

# The pool of connections.
module Database
  ITEM = 'id, name, category, price, quantity'

  STATEMENTS = {
    'read_world' => 'SELECT id, randomnumber FROM world WHERE id = $1',
    'write_world' => 'UPDATE world SET randomnumber = $2 WHERE id = $1',
    'fortunes' => 'SELECT id, message FROM fortune',
    'read_item' => "SELECT #{ITEM} FROM items WHERE id = $1",
    'list_items' => "SELECT #{ITEM} FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3",
    'create_item' => "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4) RETURNING #{ITEM}",
    'update_item' => 'UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 ' \
                     "WHERE id = $1 RETURNING #{ITEM}"
  }.freeze

  # Prepares each statement when it is first asked for.
  class Connection < PG::Connection
    def run(name, values = [])
      @prepared ||= {}
      @prepared[name] ||= prepare(name, STATEMENTS.fetch(name))
      exec_prepared(name, values)
    end
  end

  def self.connect
    connection = Connection.new(Settings::DATABASE_URL)
    connection.type_map_for_results = PG::BasicTypeMapForResults.new(connection)
    connection
  end
  private_class_method :connect

  # All are opened at the start, so that none is opened amid a load.
  opened = Array.new(Settings::DATABASE_MAX_CONN) { connect }

  POOL = ConnectionPool.new(size: Settings::DATABASE_MAX_CONN, timeout: 60) { opened.pop || connect }
end
