/** The policy of runs: its files, what is trusted, and the run's own team file, for the supervisor in this process. */
import type { Disk } from '../permissions/index.ts';
import { teamLayer } from '../permissions/index.ts';
import type { PolicySnapshot, RunFile } from '../protocol/index.ts';
import type { PolicySource } from '../supervisor/index.ts';
import { type LayerSources, loadLayers, type PolicyPlaces, reloadLayers } from './policy-layers.ts';
import { readTrust } from './trust-book.ts';
import type { Workspace } from './workspace.ts';

export interface PolicySourceDeps {
  readonly workspace: Workspace;
  readonly places: PolicyPlaces;
  readonly disk: Disk;
  /** Changes when a file or folder does; looks only. */
  readonly markOf: (path: string) => string;
}

export function makePolicySource(deps: PolicySourceDeps): PolicySource {
  const { workspace, places, disk, markOf } = deps;
  let touched = 0;
  let names: readonly string[] = [];
  const remember = ({ layers }: PolicySnapshot): void => {
    names = layers.filter((layer) => layer.name === 'admin').map((layer) => layer.origin);
  };
  const sourcesOf = (file: RunFile): Promise<LayerSources> => runSources(workspace, places, file);
  return {
    disk,
    mark() {
      const { admin, user, project } = places;
      const all = [admin, ...names, user, ...(project === null ? [] : [project])];
      return [touched, ...all.map(markOf)].join(' ');
    },
    touch() {
      touched += 1;
    },
    async load(file) {
      const { snapshot } = await loadLayers(workspace.deps, await sourcesOf(file));
      remember(snapshot);
      return snapshot;
    },
    async reload(file, last) {
      const { snapshot } = await reloadLayers(workspace.deps, await sourcesOf(file), last);
      remember(snapshot);
      return snapshot;
    },
  };
}

/** What a run is judged by: all files, and the team file that a person named for it. */
async function runSources(
  workspace: Workspace,
  places: PolicyPlaces,
  file: Pick<RunFile, 'baseCommit' | 'team' | 'teamFile'>,
): Promise<LayerSources> {
  const { isTrusted } = await readTrust(workspace.deps, workspace.places);
  return {
    named: null,
    places,
    isTrusted,
    team: teamLayer(file.team.permissions, file.teamFile),
    pinned: (files) => hashesAt(workspace, file.baseCommit, files),
  };
}

/** As text: a file that is none is never as it was, and its rule allows nothing. */
async function hashesAt(
  { repository, deps }: Workspace,
  commit: string,
  files: readonly string[],
): Promise<PolicySnapshot['pins']> {
  const pins: Record<string, string | null> = {};
  for (const file of files) {
    const args = ['cat-file', 'blob', `${commit}:${file}`];
    const shown = await repository.git.run({ args, codes: [0, 128] });
    pins[file] = shown.code === 0 ? deps.sha256(shown.stdout) : null;
  }
  return pins;
}
