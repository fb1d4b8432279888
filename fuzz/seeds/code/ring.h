k#ifndef RING_H
#define RING_H

#ifdef __cplusplus
extern "C" {
#endif

struct ring;

/** Puts one byte in. */
int ring_put(struct ring *ring, char byte);
/** Takes one byte out. */
int ring_get(struct ring *ring, char *byte);

#ifdef __cplusplus
}
#endif

#endif
