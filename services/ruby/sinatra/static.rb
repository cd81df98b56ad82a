# frozen_string_literal: true

require 'sinatra/base'

require_relative 'settings'

# The files of a folder, by Sinatra's own handler.
class Static < Sinatra::Base
  set :public_folder, Settings::FOLDER_STATIC
  mime_type :woff2, 'font/woff2'
  mime_type :webp, 'image/webp'
end
