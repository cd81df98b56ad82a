# frozen_string_literal: true

# A body is read and counted.
module Upload
  CHUNK = 64 * 1024

  def self.registered(app)
    app.helpers self

    app.post '/upload' do
      offset = integer(request.get_header('HTTP_X_OFFSET'), 0..(2**31))
      size, byte = measure(request.body, offset)
      halt 400 unless byte
      json('bytes' => size, 'byte' => byte)
    end
  end

  # The length of a body, and its byte at an offset.
  def measure(body, offset)
    size = 0
    byte = nil
    while (chunk = body.read(CHUNK))
      byte = chunk.getbyte(offset - size) if offset >= size && offset < size + chunk.bytesize
      size += chunk.bytesize
    end
    [size, byte]
  end
end
