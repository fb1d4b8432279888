j// Small matrices.
#include "matrix.hpp"
#include <vector>

namespace linear {

using Row = std::vector<double>;

/// A matrix of doubles.
template <typename T, int N>
class Matrix final : public Base<T> {
public:
    Matrix() = default;
    explicit Matrix(int size);
    ~Matrix() { release(); }

    /// One cell.
    T& at(int row, int column) {
        return cells_[row * N + column];
    }

    bool operator==(const Matrix& other) const {
        return cells_ == other.cells_;
    }

    int rows() const;

private:
    std::vector<T> cells_;
};

struct Point {
    double x;
    double y;
};

enum class Order { Rows, Columns };

template <typename T>
concept Number = requires(T a) { a + a; };

template <typename T, int N>
int Matrix<T, N>::rows() const {
    return N;
}

static Point origin{0, 0};

Point middle(const Point& a, const Point& b)
{
    return {(a.x + b.x) / 2, (a.y + b.y) / 2};
}

}  // namespace linear

double linear::Solver::solve(const Row& row) {
    return row[0];
}

int main(int argc, char** argv) {
    return 0;
}
