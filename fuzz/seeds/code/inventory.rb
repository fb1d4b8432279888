m# frozen_string_literal: true

require "json"
require_relative "catalogue/version"

# Everything about what is on the shelves.
module Catalogue
  MAX_SHELVES = 12

  # Raised when a shelf has no room.
  class FullError < StandardError; end

  Item = Struct.new(:name, :price, keyword_init: true) do
    def free?
      price.zero?
    end
  end

  # Counts whatever can be listed.
  module Countable
    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def counted_by(name)
        define_method(:count) { public_send(name).size }
      end
    end

    def empty?
      count.zero?
    end
  end

  class Shelf
    include Countable
    include Comparable

    attr_reader :items, :label
    counted_by :items

    class << self
      # Builds a shelf from a line of JSON.
      def parse(line)
        data = JSON.parse(line, symbolize_names: true)
        new(data.fetch(:label), *data.fetch(:items, []))
      end

      private

      def default_label = "unnamed"
    end

    def self.[](*items)
      new("anonymous", *items)
    end

    def initialize(label, *items, capacity: 10, **options, &block)
      @label = label
      @items = items
      @capacity = capacity
      @options = options
      instance_eval(&block) if block
    end

    # Adds an item, or raises where there is no room for it.
    #
    # @param item [Item]
    # @return [self]
    def <<(item)
      raise FullError, "no room for #{item.name}" if items.size >= @capacity

      items << item
      self
    end

    def <=>(other) = items.size <=> other.items.size

    def label=(text)
      @label = text.strip
    end

    alias push <<

    define_method(:cheapest) { items.min_by(&:price) }

    def to_sql
      <<~SQL
        SELECT *
        FROM items
        def not_a_method
        WHERE shelf = '#{label}'
      SQL
    end

    def each
      return to_enum(:each) unless block_given?

      items.each do |item|
        yield item
      rescue StopIteration => error
        warn error.message
        break
      end
    end

    private def capacity_left
      @capacity - items.size
    end
  end

  class Shelf::Cursor
    def initialize(shelf) = @shelf = shelf

    def next
      case @shelf.items.shift
      in Item[name:, price:] if price.positive? then [name, price]
      in nil then nil
      end
    end
  end
end

def report(shelf, out: $stdout)
  out.puts format("%-10s %3d", shelf.label, shelf.count)
end

task :stock, [:file] => :environment do |_, args|
  report(Catalogue::Shelf.parse(File.read(args[:file])))
end

if __FILE__ == $PROGRAM_NAME
  report(Catalogue::Shelf[*ARGV])
end
