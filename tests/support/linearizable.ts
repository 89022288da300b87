/**
 * Is there an order of these operations, each somewhere between its call and its return, in which every one gave what the
 * model says? Search with memory of what was seen (Wing and Gong, Lowe), as Porcupine does it.
 */

export interface Operation<State> {
  /** Who did it, for the report. */
  readonly by: string;
  readonly what: string;
  readonly called: bigint;
  readonly returned: bigint;
  /** The state after it, or null when it could not have given what it gave. */
  readonly apply: (state: State) => State | null;
}

/** Null when there is such an order; else the operations that could not be placed after the longest one. */
export function notLinearizable<State extends string | number>(
  operations: readonly Operation<State>[],
  initial: State,
): string[] | null {
  const open = operations.toSorted((a, b) => (a.called < b.called ? -1 : 1));
  const seen = new Set<string>();
  let fewest: readonly Operation<State>[] = open;
  const stack: { left: readonly Operation<State>[]; state: State }[] = [
    { left: open, state: initial },
  ];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { left, state } = top;
    if (left.length === 0) return null;
    if (left.length < fewest.length) fewest = left;
    const key = `${state} ${left.map((one) => open.indexOf(one)).join()}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const firstReturn = left.reduce(
      (min, { returned }) => (returned < min ? returned : min),
      left[0]?.returned ?? 0n,
    );
    // What was called after another one had returned can't come before it.
    for (const operation of left) {
      if (operation.called > firstReturn) break;
      const next = operation.apply(state);
      if (next === null) continue;
      stack.push({ left: left.filter((one) => one !== operation), state: next });
    }
  }
  return fewest.slice(0, 10).map(({ by, what }) => `${by}: ${what}`);
}
