/** `troupe check`: what a team file means, without a run. */

import type { Team } from '../protocol/team.ts';
import type { CheckAnswer } from '../protocol/views.ts';
import { planOf } from '../tasks/index.ts';
import { resolveBase } from '../worktree/index.ts';
import type { ControlDeps } from './deps.ts';
import { requirePolicy } from './doctor-policy.ts';
import type { SettingsPlaces } from './settings.ts';
import { loadTeam, type TeamFileQuery, warningTexts } from './team-file.ts';
import { needsRepository, treeNotes } from './tree-notes.ts';
import { openWorkspace } from './workspace.ts';

/** What the repository says to it, where there is one. */
async function repositoryNotes(
  deps: ControlDeps,
  { workspace }: SettingsPlaces,
  team: Team,
): Promise<string[]> {
  if (workspace === null || !needsRepository(team)) return [];
  const { repository } = await openWorkspace(deps, workspace);
  const base = await resolveBase(repository, team.base).catch(() => null);
  return treeNotes(repository, team, base);
}

export type { CheckAnswer } from '../protocol/views.ts';

/** Throws `control/team-file` with all problems. A key that is missing is none: a file can be written without. */
export async function checkTeam(
  deps: ControlDeps,
  places: SettingsPlaces,
  query: TeamFileQuery,
): Promise<CheckAnswer> {
  const loaded = await loadTeam(deps, places, { ...query, withoutKeys: true });
  const policy = await requirePolicy(deps, places);
  const { team } = loaded;
  const { order, levels, criticalPath } = planOf(team.tasks);
  const lead = team.lead === null ? [] : [team.lead];
  return {
    name: team.name,
    graph: team.tasks.map((task) => ({
      id: task.id,
      title: task.title,
      needs: task.needs,
      kind: task.run === null ? 'agent' : 'command',
      agent: task.agent,
    })),
    order,
    levels,
    criticalPath,
    members: [...lead, ...team.teammates].map((member) => member.name),
    problems: [],
    warnings: [
      ...warningTexts(loaded, query.name),
      ...policy.map((one) => `note: ${one}`),
      ...(await repositoryNotes(deps, places, team)),
    ],
  };
}
