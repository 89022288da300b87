/** What landed on the integration branch since a commit, and which of it changed certain files: who met whom in a conflict. */
import { readGit } from './git-read.ts';
import { LIMITS } from './limits.ts';
import type { Repository } from './repository.ts';

export interface Landed {
  readonly commit: string;
  /** It changed one of the paths. */
  readonly touches: boolean;
}

/** The branch's own commits (first parents) after `from`, oldest first; the newest `LIMITS.landedCommits` of them. */
export async function landedSince(
  repo: Repository,
  range: { readonly from: string; readonly to: string; readonly paths: readonly string[] },
): Promise<Landed[]> {
  const args = ['rev-list', '--first-parent', '-n', String(LIMITS.landedCommits)];
  const between = [`${range.from}..${range.to}`];
  const list = async (more: readonly string[]): Promise<string[]> =>
    (await readGit(repo.git, [...args, ...between, ...more])).split('\n').filter(Boolean);
  const literal = range.paths.map((path) => `:(top,literal)${path}`);
  const touching = new Set(await list(['--', ...literal]));
  const all = await list([]);
  return all.toReversed().map((commit) => ({ commit, touches: touching.has(commit) }));
}
