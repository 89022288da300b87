/** Broken invariants crash the actor or the decision that broke them; they are bugs, never input errors. */

export class InvariantError extends Error {
  constructor(message: string) {
    super(`invariant broken: ${message}`);
    this.name = 'InvariantError';
  }
}

/** Throws `InvariantError` unless `condition` holds; `message` starts with the label (`M2: …`). */
export function invariant(condition: unknown, message: string): asserts condition {
  if (condition === false || condition === null || condition === undefined) {
    throw new InvariantError(message);
  }
}
