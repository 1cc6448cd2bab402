"""The row nearest to a cluster, or furthest from it, found without looking at every row.

Branch and bound over the tree of `row_tree`: the least loss that a cluster can have with any row
of a node is known from the node's box alone, so most nodes are passed over; what is left is the
exact minimum, ties going to the first row of the table.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.clustering.row_tree import ABOVE, BEGIN, END, KEY, LIVE, STAMP
from shoal.kernels.helpers import lean

BEST, ROW, FOUND, FLOOR, NOW, LEFT, PIECES, LABEL, LAST = range(9)  # of a search
LOW, HIGH, WHOLE, SEED, TOTAL = range(5)  # of the cluster, for each column
K, PENALTY, TREES, TIMES, MAJOR = range(5)
ENDLESS = np.iinfo(np.int64).max
NEVER = np.iinfo(np.int32).max


@lean
def bound(boxes, node, table, mark, trees, far, limit):
    """Return the least key that anything in a box can have, or something above the limit.

    boxes: for each node the first cells, the last ones and the least row.
    The sum only grows, and stops above the limit: that also keeps the compiler from turning
    so short a loop into vectors, which made it eight times slower.
    """
    columns = mark.shape[1]
    total = mark[TOTAL, 0] if far else np.int64(0)
    for j in range(columns):
        first = np.int64(boxes[node, j])
        last = np.int64(boxes[node, columns + j])
        low = mark[LOW, j]
        if far:
            if j < trees:
                gap = np.int64(table[first])
                if table[last] > gap:
                    gap = np.int64(table[last])
            else:
                gap = last - low
                if low - first > gap:
                    gap = low - first
            if gap < mark[WHOLE, j]:
                total += mark[WHOLE, j] - gap
        else:
            if j < trees:  # the code of the box that is nearest to the cluster
                if low < first:
                    low = first
                elif low > last:
                    low = last
                total += table[low]
            else:
                high = mark[HIGH, j]
                if first > high:
                    high = first
                if last < low:
                    low = last
                total += high - low if high - low < mark[WHOLE, j] else mark[WHOLE, j]
        if total > limit:
            break
    return total


@lean
def look(cells, begin, end, table, mark, numbers, histogram, far, room, state, inside):
    """Look at the rows of a block: keep the best one, and list those inside the box.

    Returns: the least loss seen, a bound for the cluster's next steps.
    """
    columns = mark.shape[1]
    least = ENDLESS
    trees = numbers[TREES]
    for i in range(begin, end):
        limit = state[BEST]
        if histogram is not None:
            limit //= numbers[TIMES]
        value = mark[TOTAL, 0] if far else np.int64(0)
        for j in range(columns):
            place = np.int64(cells[i, j])
            whole = mark[WHOLE, j]
            if j < trees:
                gap = np.int64(table[place])
            else:
                gap = mark[HIGH, j] - mark[LOW, j]
                if place > mark[HIGH, j]:
                    gap = place - mark[LOW, j]
                elif place < mark[LOW, j]:
                    gap = mark[HIGH, j] - place
                if gap > whole:
                    gap = whole
            value += whole - gap if far else gap
            if value > limit:
                break
        if value < least:
            least = value
        if histogram is not None:
            is_odd = cells[i, columns + 1] != numbers[MAJOR] or value + mark[TOTAL, 0] == 0
            value *= numbers[TIMES]
            if not far and is_odd:
                value += numbers[PENALTY]
        row = np.int64(cells[i, columns])
        if value > state[BEST] or (value == state[BEST] and row > state[ROW]):
            continue
        state[ROW] = row
        if value == state[FLOOR]:
            # A row inside the box: the first `room` of them are kept in order, and the row
            # that a later one must come before is the last of these.
            at = state[FOUND]
            if at == room:
                at -= 1
            else:
                state[FOUND] += 1
            while at > 0 and inside[at - 1] > row:
                inside[at] = inside[at - 1]
                at -= 1
            inside[at] = row
            state[ROW] = inside[room - 1] if state[FOUND] == room else ENDLESS
        state[BEST] = value
    return least


@lean
def search(
    cells, boxes, nodes, blocks, table, mark, numbers, histogram, far, room, state, stack, inside
):
    """Find the row with the least key, ties to the first row of the table.

    The key is the loss of the cluster with the row in it (times its new size, with the
    penalty, where there is one); with `far` it is minus the distance from the seed. A key
    that equals the floor means a row inside the box: those are listed.
    """
    columns = mark.shape[1]
    now = state[NOW]
    root = np.int64(0)
    while nodes[ABOVE, root] >= 0:
        root = nodes[ABOVE, root]
    stack[0] = root
    nodes[KEY, root] = -ENDLESS
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        limit = state[BEST]
        if histogram is not None:
            limit //= numbers[TIMES]
        if beyond(nodes[KEY, node], boxes[node, 2 * columns], limit, numbers, histogram, state):
            continue
        begin = nodes[BEGIN, node]
        if node < blocks:
            end = begin + nodes[LIVE, node]
            nodes[KEY, node] = look(
                cells, begin, end, table, mark, numbers, histogram, far, room, state, inside
            )
            continue
        # Children are pushed with the most promising on top, which sets a good limit early.
        top = depth
        least = ENDLESS
        for c in range(begin, nodes[END, node]):
            if nodes[STAMP, c] == NEVER:
                continue
            key = nodes[KEY, c] if nodes[STAMP, c] == now else -ENDLESS
            # A bound of an earlier step of this cluster still holds: boxes only grow.
            if key <= limit:
                fresh = bound(boxes, c, table, mark, numbers[TREES], far, limit)
                if fresh > key:
                    key = fresh
                nodes[KEY, c] = key
                nodes[STAMP, c] = now
            if key < least:
                least = key
            if beyond(key, boxes[c, 2 * columns], limit, numbers, histogram, state):
                continue
            stack[depth] = c
            if depth > top and key > nodes[KEY, stack[depth - 1]]:
                stack[depth] = stack[depth - 1]  # the most promising one stays on top
                stack[depth - 1] = c
            depth += 1
        nodes[KEY, node] = least  # what its parts say together is the better bound


@lean
def beyond(key, row, limit, numbers, histogram, state):
    """Say whether nothing in a node can be the one; row: its first."""
    if key > limit:
        return True
    if histogram is not None:
        key *= numbers[TIMES]
    return key == state[BEST] and row > state[ROW]
