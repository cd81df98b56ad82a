# frozen_string_literal: true

require_relative 'settings'

# The first products, each with a total.
module Products
  def totals(count)
    count = integer(count, 1..Settings::PRODUCTS.size)
    m = integer(params['m'], 1..1_000_000)
    items = Settings::PRODUCTS.first(count).map do |product|
      product.merge('total' => product['price'] * product['quantity'] * m)
    end
    json('items' => items, 'count' => items.size)
  end
end
