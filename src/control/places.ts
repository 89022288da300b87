/** Where things are kept (design §4), computed once from the repository and the environment. Pure. */

export interface Places {
  /** Root of the user's work tree. */
  readonly workspace: string;
  /** The common git directory. */
  readonly gitDir: string;
  /** `.git/troupe`. */
  readonly state: string;
  readonly runs: string;
  readonly spool: string;
  readonly supervisorFile: string;
  readonly token: string;
  /** Where trees of this repository lie unless a team file says otherwise. */
  readonly trees: string;
  /** The user's own settings. */
  readonly userConfig: string;
}

export function placesOf(
  repository: { readonly root: string; readonly commonDir: string; readonly hash: string },
  env: Readonly<Record<string, string>>,
): Places {
  const state = `${repository.commonDir}/troupe`;
  const home = env['HOME'] ?? '/';
  return {
    workspace: repository.root,
    gitDir: repository.commonDir,
    state,
    runs: `${state}/runs`,
    spool: `${state}/spool`,
    supervisorFile: `${state}/supervisor.json`,
    token: `${state}/token`,
    trees: `${absolute(env['XDG_STATE_HOME']) ?? `${home}/.local/state`}/troupe/trees/${repository.hash}`,
    userConfig: userConfigFolder(env),
  };
}

export function userConfigFolder(env: Readonly<Record<string, string>>): string {
  return `${absolute(env['XDG_CONFIG_HOME']) ?? `${env['HOME'] ?? '/'}/.config`}/troupe`;
}

/** The XDG rules: a value that is not absolute is as if it were not set. */
function absolute(path: string | undefined): string | null {
  return path?.startsWith('/') === true ? path.replace(/\/+$/, '') || '/' : null;
}

/** The trees of a run whose team file names another root. */
export function treesUnder(
  root: string,
  at: { readonly workspace: string; readonly hash: string; readonly home: string },
): string {
  const expanded = root.startsWith('~/') ? `${at.home}${root.slice(1)}` : root;
  const whole = expanded.startsWith('/') ? expanded : `${at.workspace}/${expanded}`;
  return `${plain(whole)}/${at.hash}`;
}

/** Without `.`, `..` and empty parts; as text, because it may not exist yet. */
function plain(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  return `/${kept.join('/')}`;
}

export const runFolder = (places: Places, run: string): string => `${places.runs}/${run}`;
export const runFilePath = (places: Places, run: string): string =>
  `${places.runs}/${run}/run.json`;
export const journalFolder = (places: Places, run: string): string =>
  `${places.runs}/${run}/journal`;

export function blobsFolder(places: Places, run: string): string {
  return `${runFolder(places, run)}/blobs`;
}
