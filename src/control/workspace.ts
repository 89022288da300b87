/** The repository that commands work on, with its places. Opening reads only; nothing is made before it is needed. */
import type { Redactor } from '../events/index.ts';
import { openRepository, type Repository } from '../worktree/index.ts';
import type { ControlDeps } from './deps.ts';
import { errors } from './errors.ts';
import { type Places, placesOf } from './places.ts';
import { lazyRedactor } from './redaction.ts';

export interface Workspace {
  readonly deps: ControlDeps;
  readonly repository: Repository;
  readonly places: Places;
  /** Takes secrets out of what is shown. */
  readonly redactor: () => Promise<Redactor>;
}

/** Throws the errors of `openRepository`, and `control/bare-repository`. */
export async function openWorkspace(deps: ControlDeps, directory: string): Promise<Workspace> {
  const { files, exec, clock, env, sha256 } = deps;
  const repository = await openRepository({ files, exec, clock, env, sha256 }, directory);
  if (repository.bare) throw errors.bareRepository(repository.commonDir);
  const places = placesOf(repository, env);
  return { deps, repository, places, redactor: lazyRedactor(deps, places) };
}
