"""Does every line of a CSV file have as many fields as its header? Compiled.

Polars fills short lines with nulls, takes blank lines for records, and pairs up
quotes wherever they stand. A record that is read wrongly is a record that is
protected wrongly, so the shape is checked byte by byte before Polars reads it
(about a gigabyte a second).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cache import kept

# Slots of the state that is carried from one chunk to the next.
FIELDS, PLACE, LINE, RECORDS, BLANKS, BAD_LINE, FAULT, HIGH = range(8)
SLOTS = 8

# Where in a field the last byte stood.
START, PLAIN, QUOTED, CLOSED = range(4)

SHORT, LONG, STRAY_QUOTE, BLANK_INSIDE, NUL = range(1, 6)


def fresh_state() -> NDArray[np.int64]:
    """Return the state before the first byte."""
    state = np.zeros(SLOTS, dtype=np.int64)
    state[LINE] = 1
    return state


@kept(nogil=True, error_model="numpy")
def scan(chunk: NDArray[np.uint8], separator: int, fields: int, state: NDArray[np.int64]) -> bool:
    """Read a chunk of bytes; note the first fault in `state`. uint8[n] in.

    Lines are counted as an editor counts them; records as a reader does, the
    header among them. Blank lines are allowed at the end of the file only.
    """
    seen = state[FIELDS]
    place = state[PLACE]
    line = state[LINE]
    for i in range(chunk.size):
        byte = chunk[i]
        # Only then must the text be checked to be UTF-8.
        if byte >= 128:
            state[HIGH] = 1
        if place == QUOTED:
            if byte == 34:
                place = CLOSED
            elif byte == 10:
                line += 1
            elif byte == 0:
                return fail(state, NUL, line)
            continue
        if byte == separator:
            seen += 1
            place = START
            if seen >= fields:
                return fail(state, LONG, line)
            if state[BLANKS] > 0:
                return fail(state, BLANK_INSIDE, line - 1)
        elif byte == 10:
            if seen == 0 and place == START and fields > 1:
                state[BLANKS] += 1
            elif seen != fields - 1:
                return fail(state, SHORT, line)
            else:
                state[RECORDS] += 1
            seen = 0
            place = START
            line += 1
        elif byte == 34:
            if place == START:
                place = QUOTED
            elif place == CLOSED:
                place = QUOTED  # a doubled quote inside a quoted field
            else:
                return fail(state, STRAY_QUOTE, line)
            if state[BLANKS] > 0:
                return fail(state, BLANK_INSIDE, line - 1)
        elif byte == 13:
            pass  # the end of a line written elsewhere; Polars drops it too
        elif byte == 0:
            return fail(state, NUL, line)
        else:
            if place == CLOSED:
                return fail(state, STRAY_QUOTE, line)
            place = PLAIN
            if state[BLANKS] > 0:
                return fail(state, BLANK_INSIDE, line - 1)
    state[FIELDS] = seen
    state[PLACE] = place
    state[LINE] = line
    return True


@kept(nogil=True, error_model="numpy")
def fail(state: NDArray[np.int64], fault: int, line: int) -> bool:
    """Note the first fault and where it stands."""
    state[FAULT] = fault
    state[BAD_LINE] = line
    return False
