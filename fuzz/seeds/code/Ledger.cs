l#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Books.Accounts;

/// <summary>What happened to an account.</summary>
public delegate void Booked<in T>(T booking, decimal balance) where T : IBooking;

/// <summary>One movement of money.</summary>
public interface IBooking
{
    decimal Amount { get; }
    DateOnly Day { get; }
    bool IsLate(DateOnly today) => Day < today;
}

/// <summary>Money of one currency.</summary>
public readonly record struct Money(decimal Amount, string Currency)
{
    public static Money operator +(Money left, Money right) => left with { Amount = left.Amount + right.Amount };
    public static Money operator -(Money left, Money right) => left with { Amount = left.Amount - right.Amount };
    public static implicit operator decimal(Money money) => money.Amount;
}

[Flags]
public enum State : byte
{
    Open = 1,
    Frozen = 2,
    Closed = 4,
}

/// <summary>
/// Bookings in the order of their days.
/// </summary>
[Serializable]
[System.Diagnostics.DebuggerDisplay("{Count} bookings")]
public sealed partial class Ledger<T> : IEnumerable<T>, IDisposable
    where T : class, IBooking, new()
{
    public const int Capacity = 4096;
    private readonly List<T> _bookings = new();
    private decimal _balance;

    public event Booked<T>? OnBooked;

    public Ledger(string name, int capacity = Capacity)
        : this(new List<T>(capacity))
    {
        Name = name ?? throw new ArgumentNullException(nameof(name));
    }

    internal Ledger(List<T> bookings) => _bookings = bookings;

    ~Ledger()
    {
        Dispose();
    }

    public string Name { get; init; } = "unnamed";

    public int Count => _bookings.Count;

    public decimal Balance
    {
        get { return _balance; }
        private set
        {
            _balance = value;
            OnBooked?.Invoke(_bookings[^1], value);
        }
    }

    public T this[int index] => _bookings[index];

    /// <summary>Adds a booking and says whether there was room.</summary>
    [Obsolete("Use AddAsync")]
    public bool Add(T booking)
    {
        if (_bookings.Count >= Capacity)
        {
            return false;
        }
        _bookings.Add(booking);
        Balance += booking.Amount;
        return true;
    }

    public bool Add(T booking, State state) => state switch
    {
        State.Closed or State.Frozen => false,
        _ when booking is { Amount: > 0 } => Add(booking),
        _ => throw new InvalidOperationException($"cannot book {booking} on {state}"),
    };

    public async Task<TResult[]> MapAsync<TResult>(
        Func<T, CancellationToken, Task<TResult>> map,
        CancellationToken token = default)
        where TResult : notnull
    {
        var tasks = new List<Task<TResult>>();
        foreach (var booking in _bookings)
        {
            tasks.Add(map(booking, token));
        }
        return await Task.WhenAll(tasks).ConfigureAwait(false);
    }

    public IEnumerator<T> GetEnumerator() => _bookings.GetEnumerator();

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();

    void IDisposable.Dispose()
    {
#if DEBUG
        Console.WriteLine("closed");
#endif
        GC.SuppressFinalize(this);
    }

    /// <summary>What a page of the ledger shows.</summary>
    private sealed class Page
    {
        public required IReadOnlyList<T> Rows { get; init; }

        public string Render()
        {
            return """
                {
                  class NotAClass { }
                }
                """;
        }
    }
}

public static class LedgerExtensions
{
    public static decimal Sum<T>(this Ledger<T> ledger, Func<T, bool> keep)
        where T : class, IBooking, new()
    {
        decimal sum = 0;
        foreach (var booking in ledger)
        {
            if (keep(booking)) sum += booking.Amount;
        }
        return sum;
    }
}
