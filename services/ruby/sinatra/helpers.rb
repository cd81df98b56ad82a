# frozen_string_literal: true

require 'json'

# JSON and integers of requests and answers.
module Helpers
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

  # What is no integer of the range ends the request with 400.
  def integer(text, range)
    halt 400 unless text.is_a?(String) && text.match?(/\A\d{1,10}\z/) && range.cover?(text.to_i)
    text.to_i
  end
end
