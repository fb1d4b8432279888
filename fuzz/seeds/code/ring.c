i/* A ring buffer. */
#include <stdlib.h>
#include <string.h>

#define RING_SIZE 64
#define RING_MASK (RING_SIZE - 1)
#define NEXT(i) \
	(((i) + 1) & RING_MASK)

#ifdef RING_DEBUG
static int ring_trace = 1;
#endif

/* Where bytes wait. */
struct ring {
	unsigned head;
	unsigned tail;
	char bytes[RING_SIZE];
};

typedef struct ring ring_t;

typedef enum {
	RING_OK,
	RING_FULL,
} ring_status;

union word {
	int number;
	char bytes[4];
};

int ring_put(struct ring *ring, char byte);
int ring_get(struct ring *ring, char *byte);

static const char *names[] = { "ok", "full" };

/*
 * Puts one byte in.
 */
int
ring_put(struct ring *ring, char byte)
{
	unsigned next = NEXT(ring->head);

	if (next == ring->tail)
		return RING_FULL;
	ring->bytes[ring->head] = byte;
	ring->head = next;
	return RING_OK;
}

static struct ring **ring_all(void) { return NULL; }
