/** What a person should know about the trees of a team before it runs in this repository. */
import type { Team } from '../protocol/index.ts';
import { hasWorktreeConfig, missingFolders, type Repository } from '../worktree/index.ts';

/** Nothing of the repository is read for other teams. */
export function needsRepository(team: Team): boolean {
  const { sparse = [] } = team.worktree;
  return sparse.length > 0 || team.tasks.some((task) => task.touches.length > 0);
}

/** `base`: a commit, or null when the team's names none here. */
export async function treeNotes(
  repository: Repository,
  team: Team,
  base: string | null,
): Promise<string[]> {
  const { sparse = [] } = team.worktree;
  if (sparse.length === 0) return [];
  const missing = base === null ? [] : await missingFolders(repository, base, sparse);
  const notes = missing.map(
    (folder) => `warning: worktree.sparse: there is no folder ${folder} in ${team.base}`,
  );
  if (await hasWorktreeConfig(repository)) return notes;
  const told =
    'note: worktree.sparse: with the first such tree git writes `extensions.worktreeConfig = true` into the shared config of this repository; programs that are older than git 2.20 refuse it then';
  return [told, ...notes];
}
