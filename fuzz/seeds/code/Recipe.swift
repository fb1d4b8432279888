pimport Foundation
#if canImport(SwiftUI)
import SwiftUI
#endif

/// The most steps that a recipe can have.
let maximumSteps = 40

public typealias Grams = Double

/// What goes into a recipe.
@frozen
public struct Ingredient: Codable, Hashable {
    public let name: String
    public var amount: Grams = 0

    public init(_ name: String, amount: Grams = 0) {
        self.name = name
        self.amount = amount
    }

    public static func + (left: Ingredient, right: Ingredient) -> Ingredient {
        Ingredient(left.name, amount: left.amount + right.amount)
    }
}

public protocol Cookable: AnyObject {
    associatedtype Tool: Hashable
    var minutes: Int { get }
    func cook(with tool: Tool) async throws -> Dish
}

extension Cookable {
    var isQuick: Bool { minutes < 20 }

    func cookTwice(with tool: Tool) async throws -> [Dish] {
        [try await cook(with: tool), try await cook(with: tool)]
    }
}

enum CookingError: Error, CustomStringConvertible {
    case burnt(minutes: Int)
    case missing(Ingredient)
    indirect case caused(by: CookingError)

    var description: String {
        switch self {
        case .burnt(let minutes): return "burnt after \(minutes)"
        case .missing(let ingredient): return "no \(ingredient.name)"
        case let .caused(by: error): return error.description
        }
    }
}

/// Steps in their order.
@available(iOS 16, macOS 13, *)
open class Recipe<Step>: Cookable where Step: Identifiable, Step.ID == Int {
    public typealias Tool = String

    private(set) var steps: [Step] = []
    @Published var title = ""
    static let shared = Recipe<Step>()

    lazy var formatter: NumberFormatter = {
        let formatter = NumberFormatter()
        formatter.maximumFractionDigits = 1
        return formatter
    }()

    public var minutes: Int {
        get { steps.count * 5 }
        set { title = "\(newValue) minutes" }
    }

    var rating: Int = 0 {
        didSet { print("rated \(rating)") }
    }

    public required init() {}

    convenience init?(named name: String) {
        guard !name.isEmpty else { return nil }
        self.init()
        title = name
    }

    deinit {
        NotificationCenter.default.removeObserver(self)
    }

    subscript(index: Int) -> Step {
        steps[index]
    }

    /// Cooks the recipe once.
    ///
    /// - Throws: `CookingError` where something burns.
    @discardableResult
    public func cook(with tool: Tool) async throws -> Dish {
        for step in steps {
            try await perform(step, with: tool)
        }
        return Dish(of: self)
    }

    func map<Other>(_ transform: (Step) throws -> Other) rethrows -> [Other] {
        return try steps.map(transform)
    }

    private func perform(_ step: Step, with tool: Tool) async throws {
        let text = """
            class NotAClass { func notAFunction() {} }
            """
        print(text, #"raw "text""#, step.id)
    }
}

extension Recipe: CustomDebugStringConvertible {
    public var debugDescription: String { title }
}

extension Array where Element == Ingredient {
    func total() -> Grams {
        reduce(into: 0) { $0 += $1.amount }
    }
}

actor Kitchen {
    private var busy = false

    func reserve<T>(_ work: @Sendable () async -> T) async -> T {
        busy = true
        defer { busy = false }
        return await work()
    }
}

#if canImport(SwiftUI)
struct RecipeView: View {
    @State private var isShown = false

    var body: some View {
        VStack(alignment: .leading) {
            Text("Recipe").font(.title)
            if isShown { Spacer() }
        }
    }
}
#endif

func fetch(_ url: URL, completion: @escaping (Result<Data, Error>) -> Void) {
    URLSession.shared.dataTask(with: url) { data, _, error in
        completion(error.map { .failure($0) } ?? .success(data!))
    }.resume()
}
