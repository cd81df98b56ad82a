# frozen_string_literal: true

require_relative 'database'

# Items are created, read, updated and listed: one statement for each.
module Items
  INT4 = (2**31) - 1

  def self.registered(app)
    app.helpers self
    register_reads(app)
    register_writes(app)
  end

  def self.register_reads(app)
    app.get('/crud/items/:id') { json item('read_item', [item_id]) }

    app.get('/crud/items') { json list_items(params['category'], integer(params['page'], 1..INT4)) }
  end
  private_class_method :register_reads

  def self.register_writes(app)
    app.post '/crud/items' do
      status 201
      json item('create_item', item_fields)
    end

    app.put('/crud/items/:id') { json item('update_item', [item_id, *item_fields]) }
  end
  private_class_method :register_writes

  def list_items(category, page)
    halt 400 unless text?(category)
    limit = integer(params['limit'], 1..50)
    rows = Database::POOL.with do |database|
      database.run('list_items', [category, limit, (page - 1) * limit]).to_a
    end
    { 'items' => rows, 'page' => page, 'limit' => limit }
  end

  # The row that the statement gives, if any.
  def item(statement, values)
    row = Database::POOL.with { |database| database.run(statement, values).first }
    row || halt(404)
  end

  def item_id
    integer(params['id'], 0..INT4)
  end

  def item_fields
    body = parse_object(request.body.read)
    halt 400 unless body

    fields = body.values_at('name', 'category', 'price', 'quantity')
    halt 400 unless fields.first(2).all? { |value| text?(value) } && fields.last(2).all? { |value| int4?(value) }
    fields
  end

  # What PostgreSQL can store: UTF-8 without NUL.
  def text?(value)
    value.is_a?(String) && value.valid_encoding? && !value.include?("\0")
  end

  def int4?(value)
    value.is_a?(Integer) && value.between?(-INT4, INT4)
  end
end
