# frozen_string_literal: true

require_relative 'app'

# Not even a map of paths is before the application unless one of these is asked for.
if Settings::PRODUCTS
  require_relative 'compressed'

  map('/compress') { run Compressed }
end
if Settings::FOLDER_STATIC
  require_relative 'static'

  map('/static') { run Static }
end

run App
