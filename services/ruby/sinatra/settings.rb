# frozen_string_literal: true

require 'ipaddr'
require 'json'
require 'uri'

# What the program is told, by environment variables and by nothing else.
module Settings
  def self.integer(name, range, default)
    text = ENV.fetch(name, default)
    value = text.to_i
    return value if text.match?(/\A\d{1,9}\z/) && range.cover?(value)

    refuse "#{name} must be an integer from #{range.begin} to #{range.end}"
  end

  def self.ipv4(name, default)
    text = ENV.fetch(name, '')
    text = default if text.empty?
    address = IPAddr.new(text)
    # IPAddr takes networks too, such as 10.0.0.0/8.
    raise IPAddr::InvalidAddressError unless address.ipv4? && address.to_s == text

    address
  rescue IPAddr::Error
    refuse "#{name} must be an IPv4 address, such as 0.0.0.0, not \"#{text}\""
  end

  # A variable that is not set is nil.
  def self.url(name, *schemes)
    text = ENV.fetch(name, nil)
    return unless text

    url = URI(text)
    return text if schemes.include?(url.scheme) && url.host

    refuse "#{name} must be a URL that begins with #{schemes.first}://"
  rescue URI::InvalidURIError
    refuse "#{name} is no URL"
  end

  def self.folder(name)
    folder = ENV.fetch(name, nil)
    return folder if folder.nil? || File.directory?(folder)

    refuse "#{name} must be a folder"
  end

  def self.array(name)
    file = ENV.fetch(name, nil)
    return unless file

    value = JSON.parse(File.read(file, encoding: Encoding::UTF_8))
    return value if value.is_a?(Array)

    refuse "#{name} must be an array"
  rescue SystemCallError, JSON::ParserError
    refuse "#{name} cannot be read"
  end

  def self.refuse(why)
    warn why
    exit 2
  end
  private_class_method :integer, :ipv4, :url, :folder, :array, :refuse

  PORT = integer('PORT', 1..65_535, '')
  SERVE_ON = ipv4('SERVE_ON', '127.0.0.1')
  THREADS = integer('THREADS', 1..1024, '1')
  DELAY_MS = integer('DELAY_MS', 0..60_000, '0')
  DATABASE_URL = url('DATABASE_URL', 'postgres', 'postgresql')
  DATABASE_MAX_CONN = integer('DATABASE_MAX_CONN', 1..10_000, '8')
  PRODUCTS = array('DATA_PRODUCTS')
  FOLDER_STATIC = folder('FOLDER_STATIC')
  UPSTREAM_URL = url('UPSTREAM_URL', 'http')
end
