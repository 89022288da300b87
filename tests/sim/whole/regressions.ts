/** Seeds that once broke a promise, with what it was; run in CI. What the world draws may have changed since: each has a test of its kind as well. */
export const REGRESSIONS: readonly {
  readonly profile: string;
  readonly seed: string;
  readonly was: string;
}[] = [
  { profile: 'medium', seed: '1.1', was: 'a dead letter was answered all the same' },
  { profile: 'medium', seed: '1.9', was: 'an ask was renewed in the record that ended it' },
  {
    profile: 'medium',
    seed: '1.29',
    was: 'a subagent that had ended was started by the next term',
  },
  { profile: 'medium', seed: '1.32', was: 'a task stood still when its tree was ready too late' },
  { profile: 'medium', seed: '1.65', was: 'a subagent wrote to the tree of a task that was over' },
  {
    profile: 'medium',
    seed: 'mutant.142',
    was: 'a train of merges that landed was taken for a void intent',
  },
];
