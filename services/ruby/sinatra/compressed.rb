# frozen_string_literal: true

require 'sinatra/base'

require_relative 'helpers'
require_relative 'products'

# The same answers as those of /json, by way of Rack's compression.
class Compressed < Sinatra::Base
  use Rack::Deflater
  helpers Helpers, Products

  disable :dump_errors

  get('/:count') { totals(params['count']) }
end
