h/*
 * Copyright nobody.
 */
package shop.accounts;

import java.util.ArrayList;
import java.util.List;

/**
 * A list of bookings.
 *
 * @since 1.0
 */
@Service
public final class Ledger<T extends Booking> implements Iterable<T> {
    private static final int LIMIT = 1_000;

    /** The bookings in order. */
    private final List<T> bookings = new ArrayList<>();

    public Ledger() {
        this(LIMIT);
    }

    /** With room for some. */
    public Ledger(int capacity) {
        super();
    }

    /**
     * Adds a booking.
     */
    @Override
    public void add(T booking) {
        bookings.add(booking);
    }

    private int hits = 0;

    enum State {
        OPEN,
        CLOSED;

        boolean isOpen() {
            return this == OPEN;
        }
    }

    interface Listener {
        void booked(Booking booking);

        default int priority() {
            return 0;
        }
    }

    record Page(int number, List<Booking> bookings) {
        Page {
            if (number < 0) {
                throw new IllegalArgumentException();
            }
        }
    }
}

@interface Audited {
    String value() default "";
}
