/** What a task changed that its `touches` do not name (`merge.touches`: warn, refuse or ignore). */
import type { RunFile } from '../../protocol/index.ts';
import { outsideOf } from '../../tasks/index.ts';
import { diffSummary, mergeBase, type Repository, readIntegration } from '../../worktree/index.ts';

/** Paths that the task itself changed since it left the integration branch; none for a task that declares nothing. */
export async function undeclaredIn(
  repo: Repository,
  file: RunFile,
  what: { readonly commit: string; readonly touches: readonly string[] },
): Promise<string[]> {
  if (what.touches.length === 0 || file.team.merge.touches === 'ignore') return [];
  const integration = await readIntegration(repo, file.id);
  const from = (await mergeBase(repo, what.commit, integration)) ?? integration;
  const files = await diffSummary(repo, { from, to: what.commit });
  const paths = files.flatMap(({ path, oldPath }) => (oldPath === null ? [path] : [path, oldPath]));
  return outsideOf(what.touches, paths);
}
