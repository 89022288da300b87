/** The policy of the repository as its files are now, for calls that a front end asks about. */
import { type Disk, hashesOf, policyOf, type Resolved } from '../permissions/index.ts';
import type { JudgeOf } from './desk.ts';
import { loadLayers, type PolicyPlaces } from './policy-layers.ts';
import { readTrust } from './trust-book.ts';
import type { Workspace } from './workspace.ts';

export interface JudgeDeps {
  readonly workspace: Workspace;
  readonly places: PolicyPlaces;
  readonly disk: Disk;
}

export function makeJudge({ workspace, places, disk }: JudgeDeps): JudgeOf {
  const { deps } = workspace;
  const root = workspace.places.workspace;
  return async (actor) => {
    const { isTrusted } = await readTrust(deps, workspace.places);
    const { snapshot } = await loadLayers(deps, {
      named: null,
      places,
      isTrusted,
      team: null,
      pinned: (files) => Promise.resolve(hashesOf(root, files, disk)),
    });
    const { pins } = snapshot;
    const seen = new Map<string, Resolved>();
    return {
      policy: policyOf(snapshot),
      context: {
        actor: actor ?? 'actor',
        root,
        home: deps.env['HOME'] ?? null,
        attended: true,
        resolve: (path) => {
          const found = seen.get(path) ?? disk.look(path);
          seen.set(path, found);
          return found;
        },
        // Of the files as they are now: what they were when a run began is for the run to know.
        pinsHold: (_rule, files) => files.every((file) => typeof pins[file] === 'string'),
      },
    };
  };
}
