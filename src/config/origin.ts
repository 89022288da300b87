/**
 * Where settings come from: the environment, then `.env` of the checkout, then the config of the repository, then the
 * user's, then what is built in.
 */
import type { EnvFile } from './env-file.ts';
import type { Path } from './problem.ts';

export interface Setting<T> {
  readonly value: T;
  /** `default`, the name of an environment variable, or the path of a file with the line. */
  readonly origin: string;
}

/** Finds the line of a part of a file. */
export type PlaceOf = (path: Path) => { readonly line: number; readonly column: number };

export interface Placed {
  readonly path: string;
  readonly placeOf?: PlaceOf | undefined;
}

export function originIn({ path, placeOf }: Placed, at: Path): string {
  return placeOf === undefined ? path : `${path}:${placeOf(at).line}`;
}

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly envFile?: EnvFile | undefined;
}

export interface Given {
  readonly value: string;
  /** Of the variable; empty of what a file says. */
  readonly name: string;
  readonly origin: string;
  /** `env-file`: `.env` of the checkout. */
  readonly from: 'env' | 'env-file' | 'workspace' | 'user';
}

/** The first of these variables that says something in the environment. */
export function inEnvironment({ env }: Variables, names: readonly string[]): Given | null {
  for (const name of names) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return { value, name, origin: name, from: 'env' };
  }
  return null;
}

/** The first of these variables that says something in `.env`. */
export function inEnvFile({ envFile }: Variables, names: readonly string[]): Given | null {
  if (envFile === undefined) return null;
  for (const name of names) {
    const entry = Object.hasOwn(envFile.entries, name) ? envFile.entries[name] : undefined;
    if (entry === undefined || entry.value === '') continue;
    const origin = `${name} in ${envFile.path}:${entry.line}`;
    return { value: entry.value, name, origin, from: 'env-file' };
  }
  return null;
}

export function inVariables(variables: Variables, names: readonly string[]): Given | null {
  return inEnvironment(variables, names) ?? inEnvFile(variables, names);
}

/** A variable that can't be used, with where it stands. */
export interface VariableProblem {
  readonly kind: 'problem';
  readonly variable: string;
  /** Of the `.env` that has it; null: it is in the environment. */
  readonly file: { readonly path: string; readonly line: number } | null;
  readonly message: string;
}

export function variableProblem(
  { envFile }: Variables,
  given: Given,
  message: string,
): VariableProblem {
  const variable = given.name;
  const isInFile = given.from === 'env-file' && envFile !== undefined;
  const file = isInFile ? { path: envFile.path, line: envFile.entries[variable]?.line ?? 1 } : null;
  return { kind: 'problem', variable, file, message };
}
