/** The settings files of the workspace and of the user, and what becomes of them with the environment. */
import {
  formatProblem,
  type Problem,
  parseConfig,
  type ResolvedConfig,
  resolveConfig,
} from '../config/index.ts';
import { EXIT, TroupeError } from '../kernel/errors.ts';
import { readText } from './files.ts';
import type { ControlDeps } from './workspace.ts';

export interface SettingsPlaces {
  /** Null outside of a repository. */
  readonly workspace: string | null;
  readonly userConfig: string;
  /** `.git/troupe`: what a person has trusted is found there. */
  readonly state?: string;
}

/** Throws `control/settings` (exit 2) with file, line and column. */
export async function readSettings(
  deps: ControlDeps,
  places: SettingsPlaces,
): Promise<ResolvedConfig> {
  const outcome = resolveConfig({
    env: deps.env,
    workspaceFile:
      places.workspace === null
        ? undefined
        : await readOne(deps, `${places.workspace}/.troupe/config.yaml`, { inRepository: true }),
    userFile: await readOne(deps, `${places.userConfig}/config.yaml`),
  });
  if (outcome.kind === 'ok') return outcome.config;
  throw new TroupeError({
    code: 'control/settings',
    message: `${outcome.variable} (environment): ${outcome.message}`,
    exit: EXIT.usage,
  });
}

type One = NonNullable<Parameters<typeof resolveConfig>[0]['userFile']>;

async function readOne(
  deps: ControlDeps,
  path: string,
  options: { readonly inRepository?: boolean } = {},
): Promise<One | undefined> {
  const text = await readText(deps.files, path);
  if (text === null) return undefined;
  const parsed = parseConfig(text, options);
  if (parsed.kind === 'ok') return { path, config: parsed.config };
  throw problemsError('control/settings', path, parsed.problems);
}

/** All problems of one file, one a line, each with its place. */
export function problemsError(
  code: string,
  file: string,
  problems: readonly Problem[],
): TroupeError {
  return new TroupeError({
    code,
    message: problems.map((problem) => formatProblem(file, problem)).join('\n'),
    hint: problems.length === 1 ? undefined : `${problems.length} problems. Nothing was started.`,
    exit: EXIT.usage,
    data: { problems: problems.map((problem) => ({ file, ...problem })) },
  });
}
