# frozen_string_literal: true

# Simulated handling time: at most +slots+ threads are in it at once. Where Puma has no more threads than that, none
# waits for a slot.
class Delay
  def initialize(slots, seconds)
    @slots = SizedQueue.new(slots)
    @seconds = seconds
  end

  def pass
    @slots.push(true)
    begin
      sleep @seconds
    ensure
      @slots.pop
    end
  end
end
