# frozen_string_literal: true

# What the program is told, by environment variables and by nothing else.
module Settings
  def self.integer(name, range, default)
    text = ENV.fetch(name, default)
    value = text.to_i
    return value if text.match?(/\A\d{1,9}\z/) && range.cover?(value)

    warn "#{name} must be an integer from #{range.begin} to #{range.end}"
    exit 2
  end
  private_class_method :integer

  PORT = integer('PORT', 1..65_535, '')
  THREADS = integer('THREADS', 1..1024, '1')
  DELAY_MS = integer('DELAY_MS', 0..60_000, '0')
end
