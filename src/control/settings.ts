/** The settings files of the workspace and of the user, and what becomes of them with the environment and `.env`. */
import {
  type ConfigSource,
  type ConfigSources,
  type EnvFile,
  formatProblem,
  type Problem,
  parseConfig,
  type ResolvedConfig,
  readEnvFile,
  resolveConfig,
} from '../config/index.ts';
import { EXIT, isTroupeError, systemCode, TroupeError } from '../kernel/errors.ts';
import type { ControlDeps } from './deps.ts';
import { readSmall } from './folders.ts';

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
  const { sources, broken } = await readSources(deps, places);
  const [first] = broken;
  if (first !== undefined) throw first;
  const outcome = resolveConfig(sources);
  if (outcome.kind === 'ok') return outcome.config;
  const { file, variable, message } = outcome;
  throw new TroupeError({
    code: 'control/settings',
    message: `${file === null ? `${variable} (environment)` : `${file.path}:${file.line}:1: ${variable}`}: ${message}`,
    exit: EXIT.usage,
  });
}

export interface ReadSources {
  readonly sources: ConfigSources;
  /** What can't be used, one error for each file: it is not among the sources. */
  readonly broken: readonly TroupeError[];
  /** What became of `.env`: `read`, `missing`, or why it is not read. */
  readonly envFile: string;
}

/** Never throws for what files contain. */
export async function readSources(
  deps: ControlDeps,
  { workspace, userConfig }: SettingsPlaces,
): Promise<ReadSources> {
  const broken: TroupeError[] = [];
  async function read(path: string, inRepository: boolean): Promise<ConfigSource | undefined> {
    try {
      return await readOne(deps, path, inRepository);
    } catch (error) {
      if (!isTroupeError(error)) throw error;
      broken.push(error);
      return undefined;
    }
  }
  const workspaceFile =
    workspace === null ? undefined : await read(`${workspace}/.troupe/config.yaml`, true);
  const userFile = await read(`${userConfig}/config.yaml`, false);
  const found = workspace === null ? 'missing' : await readEnv(deps, `${workspace}/.env`);
  const envFile = typeof found === 'string' ? undefined : found;
  return {
    sources: { env: deps.env, envFile, workspaceFile, userFile },
    broken,
    envFile: typeof found === 'string' ? found : 'read',
  };
}

async function readOne(
  deps: ControlDeps,
  path: string,
  inRepository: boolean,
): Promise<ConfigSource | undefined> {
  // The repository's own may be a link to anything, and would be shown in what is said of it.
  const read = await readIf(deps, path, !inRepository);
  if (read === 'missing') return undefined;
  if (typeof read === 'string') {
    const problem = { path: '', line: 1, column: 1, message: read };
    throw problemsError('control/settings', path, [problem]);
  }
  const parsed = parseConfig(read, { inRepository });
  if (parsed.kind === 'ok') return { path, config: parsed.config, placeOf: parsed.placeOf };
  throw problemsError('control/settings', path, parsed.problems);
}

/** Belongs to other programs as well: what of it is none of Troupe's is nobody's mistake here. */
async function readEnv(deps: ControlDeps, path: string): Promise<EnvFile | string> {
  const { parseEnv } = deps;
  if (parseEnv === undefined) return 'missing';
  const read = await readIf(deps, path, false);
  return typeof read === 'string'
    ? read
    : readEnvFile(path, new TextDecoder().decode(read), parseEnv);
}

/** `missing`, or why it is not read. */
async function readIf(
  { files }: ControlDeps,
  path: string,
  links: boolean,
): Promise<Uint8Array | string> {
  try {
    if ((await files.stat(path)) === null) return 'missing';
    const read = await readSmall(files, path, { links });
    return typeof read === 'string' ? `${read}: it is not used` : read;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOTDIR') return 'missing';
    if (code === '') throw error;
    return code === 'EACCES' ? 'it may not be read' : `it can not be read (${code})`;
  }
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
